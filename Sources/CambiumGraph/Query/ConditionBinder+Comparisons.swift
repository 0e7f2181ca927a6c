import CambiumModel

extension ConditionBinder {
    func bind(_ comparison: Comparison, _ entity: Entity) throws(QueryMistake) -> ConditionNode {
        if case .path(let path) = comparison.left.form, case .list(let elements) = comparison.right.form,
            let literals = elements.literals(arguments)
        {
            return try bind(comparison, path, literals, entity)
        }
        var comparison = try comparison.substituted(arguments)
        if comparison.left.isLiteral { comparison = try flipped(comparison) }
        switch (comparison.left.form, comparison.right.form) {
        case (.path(let path), .literal(let literal)): return try bind(comparison, path, [literal], entity)
        case (.path(let path), .list(let elements)):
            // The right side may be a parameter whose value is a list.
            if let literals = elements.literals(arguments) { return try bind(comparison, path, literals, entity) }
            return try bindElements(comparison, elements, entity)
        case (.aggregate(let aggregate), .literal(let literal)):
            if let counted = try bind(comparison, aggregate, literal, entity) { return counted }
            return try general(comparison, entity)
        case (_, .list(let elements)): return try bindElements(comparison, elements, entity)
        default: return try general(comparison, entity)
        }
    }

    /// Exchanges the two sides of a comparison if the left side is a constant. The methods that bind a comparison expect a path on the left
    /// side.
    private func flipped(_ comparison: Comparison) throws(QueryMistake) -> Comparison {
        let relation: Comparison.Relation
        switch comparison.relation {
        case .equal, .notEqual: relation = comparison.relation
        case .less: relation = .greater
        case .lessOrEqual: relation = .greaterOrEqual
        case .greater: relation = .less
        case .greaterOrEqual: relation = .lessOrEqual
        default:
            throw QueryMistake(
                "The left side of '\(comparison.relation.text)' is a constant. Write a path there.", at: comparison.left.offset)
        }
        guard !comparison.right.isLiteral else {
            throw QueryMistake("Both sides of the comparison are constants. Write a path on one side.", at: comparison.left.offset)
        }
        return Comparison(
            comparison.right, relation, comparison.left, quantifier: comparison.quantifier, folding: comparison.folding)
    }

    /// Returns the node for a comparison of a path with constants: a single constant, the elements of `in`, or the two limits of `between`.
    private func bind(
        _ comparison: Comparison, _ path: QueryPath, _ literals: [QueryLiteral], _ entity: Entity
    ) throws(QueryMistake) -> ConditionNode {
        var (relation, quantifier) = (comparison.relation, comparison.quantifier)
        if relation == .contains, quantifier == nil, try resolve(path, entity, at: comparison.left.offset).links.contains(where: \.isToMany)
        {
            // `contains` means that any value at the end of the path is `in` the constants. `==` would be wrong: a null equals null, but no
            // list contains null.
            (relation, quantifier) = (.isIn, .any)
        }
        let test = ConstantTest(relation, literals, comparison.folding, at: comparison.right.offset)
        return try quantified(quantifier, path, entity, at: comparison.left.offset) { end throws(QueryMistake) in
            let node =
                switch end {
                case .attribute(let attribute): try bind(attribute, test)
                case .object(let entity): try bind(entity, test)
                case .entityName(let entity): try bindName(entity, test)
                }
            return Part(node: node, isTrueIfMissing: test.holdsForNull)
        }
    }

    /// Returns the node for a comparison of a member count with a constant. Returns `nil` if no column contains the member count.
    private func bind(
        _ comparison: Comparison, _ aggregate: RelatedAggregate, _ literal: QueryLiteral, _ entity: Entity
    ) throws(QueryMistake) -> ConditionNode? {
        guard aggregate.function == .count, comparison.quantifier == nil, case .number(let text) = literal else { return nil }
        let path = try resolve(aggregate.path, entity, at: comparison.left.offset)
        // If the path ends at a value, the caller refuses the aggregate.
        guard case .object = path.end, path.links.count == 1, let slot = path.links[0].countSlot else { return nil }
        let test = ConstantTest(comparison.relation, [literal], [], at: comparison.right.offset)
        guard let limits = test.limits(.text(text), .text(text)) else { return nil }
        do throws(NumberMistake) {
            let node = try limits.whole(UInt32.self).map { CountNode(slot, $0.0...$0.1) } ?? ConstantNode(false)
            return comparison.relation == .notEqual ? NotNode(node) : node
        } catch {
            throw QueryMistake(error.message, at: comparison.right.offset)
        }
    }

    /// Returns the node for a comparison with a list in which some elements are not constants, or for a comparison of an aggregate with any
    /// list. Each element that is not a constant is compared separately.
    private func bindElements(_ comparison: Comparison, _ elements: [Operand], _ entity: Entity) throws(QueryMistake) -> ConditionNode {
        func single(_ relation: Comparison.Relation, _ element: Operand) throws(QueryMistake) -> ConditionNode {
            var single = comparison
            (single.relation, single.right) = (relation, element)
            if comparison.quantifier != nil {
                let mistake = "'any', 'all' and 'none' need a list of constants. Write values instead of paths."
                throw QueryMistake(mistake, at: comparison.right.offset)
            }
            return try bind(single, entity)
        }
        if comparison.relation == .isBetween, elements.count == 2 {
            return AndNode([try single(.greaterOrEqual, elements[0]), try single(.lessOrEqual, elements[1])])
        }
        guard comparison.relation == .isIn else {
            throw QueryMistake("'\(comparison.relation.text)' does not take a list. Write one value.", at: comparison.right.offset)
        }
        let constants = elements.filter(\.isLiteral)
        // A few constants are compared with a count one by one: if a column contains the count, each comparison tests many rows at once.
        let isListed =
            if case .aggregate(let aggregate) = comparison.left.form, aggregate.function == .count {
                constants.count > Self.comparedCountMax
            } else {
                !constants.isEmpty
            }
        let others = isListed ? elements.filter { !$0.isLiteral } : elements
        var nodes: [ConditionNode] = isListed ? [try listed(comparison, constants, entity)] : []
        if isListed, others.isEmpty { return nodes[0] }
        for element in others { nodes.append(try single(.equal, element)) }
        // If the left side is null, it would equal an element that is null. But `in` is false for null, so null is excluded.
        return AndNode([try single(.notEqual, Operand(.literal(.null))), OrNode(nodes)])
    }

    /// Returns the node that finds the left side of a comparison in a list of constants.
    private func listed(_ comparison: Comparison, _ constants: [Operand], _ entity: Entity) throws(QueryMistake) -> ConditionNode {
        let literals = constants.literals(arguments) ?? []
        if case .path(let path) = comparison.left.form { return try bind(comparison, path, literals, entity) }
        let left = try reader(comparison.left, entity)
        if left.isEntityName { try checkNames(literals, comparison.relation, comparison.folding, at: comparison.right.offset) }
        var values: [QueryValue] = []
        values.reserveCapacity(literals.count)
        for (element, literal) in zip(constants, literals) { values.append(try constant(literal, like: left, at: element.offset)) }
        return ListedNode(left, values, comparison.folding)
    }
}

extension Operand {
    /// Whether the operand is a literal, after parameters have been replaced.
    fileprivate var isLiteral: Bool { if case .literal = form { true } else { false } }
}
