import CambiumModel

/// Conditions on groups.
extension GroupOrder {
    // MARK: Resolving

    /// Resolves each name in a condition to the index of a key or of a function (see `places`), and each parameter to its value.
    ///
    /// Throws for a wrong name, parameter, pattern or kind of value, even in a part of the condition that no test would reach.
    func resolved(_ condition: Condition) throws(QueryMistake) -> GroupCondition {
        switch condition.form {
        case .constant(let isTrue): return .constant(isTrue)
        case .not(let part): return .not(try resolved(part))
        case .and(let parts): return .and(try resolved(parts))
        case .or(let parts): return .or(try resolved(parts))
        case .related(_, let path, _):
            let found = path.description.excerpt
            throw QueryMistake("A group has no relationship '\(found)'. Move the condition to the query itself.", at: path.offset)
        case .comparison(let comparison): return try resolved(comparison)
        }
    }

    private func resolved(_ parts: [Condition]) throws(QueryMistake) -> [GroupCondition] {
        var conditions: [GroupCondition] = []
        for part in parts { conditions.append(try resolved(part)) }
        return conditions
    }

    private func resolved(_ comparison: Comparison) throws(QueryMistake) -> GroupCondition {
        if comparison.quantifier != nil {
            throw QueryMistake(
                "'\(comparison.left)' has one value in each group. Remove any, all or none before it.", at: comparison.left.offset)
        }
        let binder = binder.narrowed(to: comparison)
        let comparison = try comparison.substituted(binder.arguments)
        var elements: [GroupOperand] = []
        let left = try resolved(comparison.left)
        for element in comparison.rightElements { elements.append(try resolved(element)) }
        try checkKinds(comparison, [left] + elements, binder)
        if comparison.relation == .like || comparison.relation == .matches {
            guard case .literal(let literal) = comparison.right.form else { throw .noPattern(comparison) }
            if let text = literal.stringText { _ = try patternTest(comparison, literal, text) }
        }
        let part = GroupComparison(comparison, left, elements)
        // A comparison of constants is tested here, so that its mistakes are reported even if there is no group.
        let isConstant = left.place == nil && part.elementPlaces.isEmpty
        return try isConstant ? .constant(holds(part, AggregateRow(group: [], values: []))) : .comparison(part)
    }

    private func resolved(_ operand: Operand) throws(QueryMistake) -> GroupOperand {
        if case .literal = operand.form { return GroupOperand(operand: operand, place: nil) }
        return GroupOperand(operand: operand, place: try place(operand))
    }

    /// Throws if the operands of a comparison have different kinds, or if the relation cannot compare values of their kind.
    ///
    /// - Parameter binder: The binder with the values of the comparison's parameters, for messages.
    private func checkKinds(_ comparison: Comparison, _ operands: [GroupOperand], _ binder: ConditionBinder) throws(QueryMistake) {
        guard let first = operands.first(where: { $0.place != nil }), let kind = first.place.map({ kinds[$0] }) else { return }
        let relation = comparison.relation
        if !kind.allows(relation) {
            throw QueryMistake("'\(relation.text)' cannot compare \(kind.text). Use == or !=.", at: first.operand.offset)
        }
        for part in operands {
            if let place = part.place, kinds[place] != kind {
                throw QueryMistake(
                    "'\(first.operand)' and '\(part.operand)' have values of different kinds. Compare values of the same kind.",
                    at: part.operand.offset)
            }
            if case .literal(let literal) = part.operand.form, !literal.isValue(of: kind, isObject: isObject) {
                let found = binder.text(of: literal)
                throw QueryMistake("Expected \(kind.text), but found \(found). Write a value of that kind.", at: part.operand.offset)
            }
            if case .literal(let literal) = part.operand.form, let place = first.place, entityNamePlaces.contains(place) {
                try binder.checkNames([literal], relation, comparison.folding, at: part.operand.offset)
            }
        }
    }

    private func isObject(_ literal: QueryLiteral) -> Bool { if case .id = literal { true } else { object(literal) != nil } }

    // MARK: Testing

    /// Returns whether a group satisfies a condition. The recursion is limited, because `Condition.check()` has limited the depth of the
    /// condition.
    func holds(_ condition: GroupCondition, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        switch condition {
        case .constant(let isTrue): return isTrue
        case .not(let part): return try !holds(part, row)
        case .and(let parts):
            for part in parts where try !holds(part, row) { return false }
            return true
        case .or(let parts):
            for part in parts where try holds(part, row) { return true }
            return false
        case .comparison(let comparison): return try holds(comparison, row)
        }
    }

    private func holds(_ part: GroupComparison, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        let comparison = part.comparison
        if comparison.relation == .like || comparison.relation == .matches { return try matches(part, row) }
        if let list = part.list { return try holds(part, list, row) }
        // A literal is converted to the type of the value on the other side of the comparison.
        let left = try leftValue(part, row)
        var right: [QueryValue] = []
        for element in part.elements { right.append(try operandValue(element, of: part, row, like: left)) }
        return ValueTest(comparison.relation, comparison.folding).holds(left, right)
    }

    /// Returns whether the value on the left side equals an element of a list.
    private func holds(_ part: GroupComparison, _ list: ConstantList, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        let left = try leftValue(part, row)
        if left.isNull { return false }
        let folding = part.comparison.folding
        let isConstant = try list.contains(left, folding) { () throws(QueryMistake) in
            var constants: [QueryValue] = []
            constants.reserveCapacity(part.constants.count)
            for element in part.constants { constants.append(try operandValue(element, of: part, row, like: left)) }
            return constants
        }
        if isConstant || part.paths.isEmpty { return isConstant }
        return ValueTest(.isIn, folding).holds(left, part.paths.compactMap { $0.place.map { value($0, row) } })
    }

    /// Returns the value on the left side. A literal on the left side gets the type of the first element on the right side that is neither
    /// a literal nor null.
    private func leftValue(_ part: GroupComparison, _ row: AggregateRow) throws(QueryMistake) -> QueryValue {
        if let place = part.left.place { return value(place, row) }
        let values = part.elementPlaces.lazy.map { value($0, row) }
        return try operandValue(part.left, of: part, row, like: values.first { !$0.isNull })
    }

    /// Returns whether a text of a group matches the pattern on the right side of a comparison.
    private func matches(_ part: GroupComparison, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        let comparison = part.comparison
        guard case .literal(let literal) = comparison.right.form else { throw .noPattern(comparison) }
        let left = try operandValue(part.left, of: part, row, like: nil)
        guard case .value(let pattern) = try constant(literal, like: left, kind(part), at: comparison.right.offset),
            case .value(let value) = left, let wanted = pattern.comparedText, let text = value.comparedText
        else { return false }
        let test = try patternTest(comparison, literal, wanted)
        return text.utf8Span.span.bytes.withUnsafeBytes { test.holds($0) }
    }

    private func patternTest(_ comparison: Comparison, _ literal: QueryLiteral, _ text: String) throws(QueryMistake) -> TextTest {
        let pattern = KnownPatterns.Pattern(relation: comparison.relation, folding: comparison.folding, bytes: Array(text.utf8))
        if let known = patterns.tests[pattern] { return known }
        let constants = ConstantTest(comparison.relation, [literal], comparison.folding, at: comparison.right.offset)
        let test = try binder.textTest(constants, [text])
        patterns.tests[pattern] = test
        return test
    }

    /// The patterns of a condition. They are parsed once, and kept for all groups.
    final class KnownPatterns {
        /// A pattern, identified by its bytes, because two strings with different bytes can be equal in Swift.
        struct Pattern: Hashable {
            let relation: Comparison.Relation
            let folding: Folding
            let bytes: [UInt8]
        }

        var tests: [Pattern: TextTest] = [:]
    }

    // MARK: Values

    private func operandValue(
        _ operand: GroupOperand, of part: GroupComparison, _ row: AggregateRow, like other: QueryValue?
    ) throws(QueryMistake) -> QueryValue {
        if let place = operand.place { return value(place, row) }
        guard case .literal(let literal) = operand.operand.form else { return .null }  // Any other operand has a place.
        return try constant(literal, like: other, kind(part), at: operand.operand.offset)
    }

    /// Returns the kind of the values that a comparison reads from a group; `nil` if the comparison has only literals.
    private func kind(_ part: GroupComparison) -> ValueKind? { (part.left.place ?? part.elementPlaces.first).map { kinds[$0] } }

    /// Converts a literal to a value of the same type as `other`. If `other` is null, converts it to a value of the kind of the comparison.
    private func constant(
        _ literal: QueryLiteral, like other: QueryValue?, _ kind: ValueKind?, at offset: TextOffset
    ) throws(QueryMistake) -> QueryValue {
        if case .object? = kind ?? other?.kind, let (id, entity) = object(literal) {
            // An id with the name of another entity refers to no object, as in conditions on objects. Such an id becomes an empty list,
            // which equals neither an object nor null.
            return binder.contains(id, of: entity) ? .object(id) : .list([])
        }
        let constant = ValueTest.value(literal, like: other, kind)
        let kinds = [constant, other ?? .null].compactMap(\.kind)
        guard Set(kinds).count == 2 else { return constant }
        throw QueryMistake(
            "\(literal.excerpt) is \(kinds[0].text), but the group has \(kinds[1].text). Compare values of the same kind.",
            at: offset)
    }

    /// Returns the id and the entity that a literal names, or `nil` if the literal is not an id with the name of an entity.
    private func object(_ literal: QueryLiteral) -> (id: ObjectID, entity: Entity)? {
        switch literal {
        case .object(let entity, let serial): binder.schema.id("\(entity)/\(serial)")
        case .string(let text), .text(let text), .value(.string(let text)): binder.schema.id(text)
        default: nil
        }
    }
}
