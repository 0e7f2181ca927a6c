/// Checks the sides of comparisons, and the constants on these sides.
extension ConditionCheck {
    /// One side of a comparison: its operand, with the facts that are known before the parameters have values.
    struct Side {
        let operand: Operand
        /// The kind of the values; `nil` for a literal, and for a parameter about which nothing is known.
        var kind: ValueKind?
        var isToMany = false
        var isConstant = true
        /// Whether the operand is `$source`, or a path that begins with `$source`.
        var isSource = false
        /// Whether the values are names of entities.
        var isEntityName = false
        var literal: QueryLiteral?
        /// The path of the operand, if the path begins at the object that the condition tests.
        var path: SchemaPath?

        init(_ operand: Operand) { self.operand = operand }

        var offset: TextOffset { operand.offset }
    }

    func side(_ operand: Operand, _ entity: Entity) throws(QueryMistake) -> Side {
        var side = Side(operand)
        switch operand.form {
        case .path(let path):
            let found = try SchemaPath(path, from: entity, schema, at: side.offset)
            (side.kind, side.isToMany, side.isConstant, side.path) = (found.kind, found.isToMany, false, found)
            if case .entityName = found.end { side.isEntityName = true }
        case .aggregate(let aggregate):
            (side.kind, side.isConstant) = (try kind(aggregate, entity, at: side.offset), false)
            // For names of entities, `min` and `max` return one of the names. The other functions return numbers.
            side.isEntityName = side.kind == .text && aggregate.value?.names.last == "_entity"
        case .literal(let literal): side.literal = literal == .value(.null) ? .null : literal
        case .parameter(let name):
            if let path = QueryDefinition.sourcePath(name) {
                let found = try SchemaPath(path, from: source, schema, at: side.offset)
                (side.kind, side.isToMany, side.isSource) = (found.kind, found.isToMany, true)
            } else if name.utf8.contains(UInt8(ascii: ".")) {
                throw QueryMistake(
                    "'$\(name.excerpt)' has a path, but only $source represents an object. Write a parameter with one name.",
                    at: side.offset)
            }
        case .list: throw QueryMistake("A list can follow only 'in' or 'between'. Move the list there.", at: side.offset)
        }
        return side
    }

    private func kind(_ aggregate: RelatedAggregate, _ entity: Entity, at offset: TextOffset) throws(QueryMistake) -> ValueKind {
        let name = "@\(aggregate.function.rawValue)"
        let path = try SchemaPath(aggregate.path, from: entity, schema, at: offset)
        guard case .object(let target) = path.end, !path.relationships.isEmpty else {
            throw QueryMistake("'\(aggregate.path)' does not lead to objects. Name a relationship before '\(name)'.", at: offset)
        }
        guard let valuePath = aggregate.value else { return .number }
        let value = try SchemaPath(valuePath, from: target, schema, at: offset)
        switch (aggregate.function, value.kind) {
        case (.sum, .number), (.avg, .number), (.countDistinct, _): return .number
        case (.sum, let kind), (.avg, let kind):
            throw QueryMistake("'\(valuePath)' is \(kind.text), but \(name) needs numbers. Name another attribute.", at: offset)
        case (_, .object):
            throw QueryMistake("'\(valuePath)' leads to objects, but \(name) needs values. Name an attribute.", at: offset)
        case (_, let kind): return kind
        }
    }

    // MARK: Literals

    /// Checks that a literal is a value of the kind that the left side of a comparison has.
    func check(
        _ literal: QueryLiteral, _ kind: ValueKind, _ left: Side, _ relation: Comparison.Relation, _ folding: Folding, at offset: TextOffset
    ) throws(QueryMistake) {
        if literal == .null { return }
        if !literal.isValue(of: kind, isObject: { left.path != nil && isObject($0) }) {
            throw QueryMistake("Expected \(kind.text), but found \(literal.excerpt). Write a value of that kind.", at: offset)
        }
        if relation == .matches, let pattern = literal.stringText { try check(pattern, at: offset) }
        let isName = left.isEntityName && folding.isEmpty && [.equal, .notEqual, .isIn].contains(relation)
        if isName, let name = literal.stringText, schema.entity(name) == nil {
            let remedy = schema.newName(ofEntity: name) ?? "Write the name of an entity of the schema."
            throw QueryMistake("The schema has no entity '\(name.excerpt)'. \(remedy)", at: offset)
        }
    }

    private func isObject(_ literal: QueryLiteral) -> Bool {
        switch literal {
        case .id: true
        case .object(let entity, _): schema.entity(entity) != nil
        case .string(let text), .text(let text), .value(.string(let text)): schema.id(text) != nil
        default: false
        }
    }

    private func check(_ pattern: String, at offset: TextOffset) throws(QueryMistake) {
        do throws(LinearRegex.PatternError) {
            _ = try LinearRegex(pattern)
        } catch {
            throw QueryMistake("The regular expression is malformed: \(error.message). Use the syntax of RE2.", at: offset)
        }
    }
}
