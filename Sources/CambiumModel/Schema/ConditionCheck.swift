/// A check of the names and the types in a condition, before the parameters of the condition have values.
///
/// A condition that passes the check can be used with any graph of this schema, if the values of its parameters have the right types.
package struct ConditionCheck {
    let schema: Schema
    /// The entity of the object to which `$source` refers.
    let source: Entity

    package init(_ schema: Schema, source: Entity) {
        self.schema = schema
        self.source = source
    }

    /// Checks a condition, and throws the first mistake. The caller must have called `Condition.check()`. That method limits the depth of
    /// the condition, so the depth of this recursion is limited, too.
    package func check(_ condition: Condition, _ entity: Entity) throws(QueryMistake) {
        switch condition.form {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { try check(part, entity) }
        case .not(let part): try check(part, entity)
        case .comparison(let comparison):
            do throws(QueryMistake) {
                try check(comparison, entity)
            } catch {
                throw error.advisingQuotes(in: comparison)
            }
        case .related(let quantifier, let path, let inner):
            let resolved = try SchemaPath(path, from: entity, schema, at: path.offset)
            try resolved.check(quantifier, at: path.offset)
            guard case .object(let end) = resolved.end else {
                throw QueryMistake("'\(path)' does not lead to objects. Name a relationship before 'where'.", at: path.offset)
            }
            try check(inner, end)
        }
    }

    /// Checks that objects of an entity can be sorted by a key.
    package func check(_ key: SortKey, _ entity: Entity) throws(QueryMistake) {
        let side = try side(Operand(key.operand.form), entity)
        if side.isToMany {
            throw QueryMistake("'\(key.operand)' leads to several values. Sort by a number such as @count.", at: TextOffset(nil))
        }
        if !key.folding.isEmpty, let kind = side.kind, kind != .text {
            throw .noCase(key.operand, kind, at: TextOffset(nil))
        }
    }

    // MARK: Comparisons

    private func check(_ comparison: Comparison, _ entity: Entity) throws(QueryMistake) {
        let left = try side(comparison.left, entity)
        if left.isConstant { return try checkFlipped(comparison, left, entity) }
        guard case .list(let elements) = comparison.right.form else {
            let right = try side(comparison.right, entity)
            if right.isSource, comparison.relation == .isBetween {
                throw QueryMistake("'between' needs two bounds. Write two values in braces, such as {1, 9}.", at: right.offset)
            }
            return try check(left, comparison.relation, right, comparison)
        }
        var sides: [Side] = []
        for element in elements { sides.append(try side(element, entity)) }
        let isConstant = sides.allSatisfy(\.isConstant)
        if !isConstant, comparison.quantifier != nil {
            let mistake = "'any', 'all' and 'none' need a list of constants. Write values instead of paths."
            throw QueryMistake(mistake, at: comparison.right.offset)
        }
        // A list of constants is checked as one comparison. In any other list, each element is checked as a separate comparison.
        let each: Comparison.Relation = comparison.relation == .isIn ? .equal : .lessOrEqual
        let relation = isConstant ? comparison.relation : each
        if elements.isEmpty { try check(left, relation, Side(comparison.right), comparison) }
        for side in sides {
            if side.isToMany {
                throw QueryMistake("An element of the list leads to several values. Name a path to one value.", at: side.offset)
            }
            try check(left, relation, side, comparison)
        }
    }

    /// Checks a comparison with a constant on its left side.
    private func checkFlipped(_ comparison: Comparison, _ left: Side, _ entity: Entity) throws(QueryMistake) {
        guard [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(comparison.relation) else {
            throw QueryMistake("The left side of '\(comparison.relation.text)' is a constant. Write a path there.", at: left.offset)
        }
        let right = try side(comparison.right, entity)
        if right.isConstant {
            throw QueryMistake("Both sides of the comparison are constants. Write a path on one side.", at: left.offset)
        }
        try check(right, comparison.relation, left, comparison)
    }

    /// Checks a comparison of a path or an aggregate with another operand.
    private func check(_ left: Side, _ relation: Comparison.Relation, _ right: Side, _ comparison: Comparison) throws(QueryMistake) {
        guard let kind = left.kind else { return }
        var (relation, quantifier) = (relation, comparison.quantifier)
        if left.isToMany, quantifier == nil, relation == .contains { (relation, quantifier) = (.equal, .any) }
        try left.path?.check(quantifier, at: left.offset)
        if right.isToMany, !(right.isConstant && relation == .isIn) {
            let remedy = right.isConstant ? "Write it after 'in'." : "Write that path on the left side."
            throw QueryMistake("The right side leads to several values. \(remedy)", at: right.offset)
        }
        if relation == .like || relation == .matches, !right.isConstant || left.path == nil {
            throw QueryMistake(
                "'\(relation.text)' needs a path on its left side, and a constant pattern on its right side.", at: right.offset)
        }
        guard kind.allows(relation) else {
            throw QueryMistake(
                "'\(left.operand)' is \(kind.text), which '\(relation.text)' cannot compare. Use another relation.", at: left.offset)
        }
        if let other = right.kind, other != kind {
            throw QueryMistake(
                "'\(left.operand)' is \(schema.text(of: kind)), but '\(right.operand)' is \(schema.text(of: other)). "
                    + "Compare values of the same kind.", at: right.offset)
        }
        if let literal = right.literal { try check(literal, kind, left, relation, comparison.folding, at: right.offset) }
    }
}
