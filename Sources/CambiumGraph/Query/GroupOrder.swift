import CambiumModel

/// Selects the groups of an aggregate query by a condition, and sorts them.
struct GroupOrder {
    private let grouping: Grouping
    private let binder: ConditionBinder
    private let places: [String: Int]
    private let patterns = KnownPatterns()

    private var schema: Schema { binder.schema }

    /// - Parameter binder: Supplies the schema and the values of the parameters for the condition on the groups.
    init(_ grouping: Grouping, _ binder: ConditionBinder) {
        self.grouping = grouping
        self.binder = binder
        var places: [String: Int] = [:]
        for (index, key) in grouping.keys.enumerated() { places[key.description] = index }
        for (index, aggregate) in grouping.aggregates.enumerated() { places[aggregate.name] = grouping.keys.count + index }
        self.places = places
    }

    /// Returns the groups that satisfy the condition, in the order of the sort keys. Groups with equal sort keys are ordered by their key
    /// values.
    func sorted(_ rows: [AggregateRow], by sort: [SortKey]) throws(QueryMistake) -> [AggregateRow] {
        var kept: [AggregateRow] = []
        if let having = grouping.having {
            try check(having)
            for row in rows where try holds(having, row) { kept.append(row) }
        } else {
            kept = rows
        }
        var keys: [Key] = []
        for key in sort {
            let place = try self.place(key.operand)
            if !key.folding.isEmpty, let kind = kept.lazy.compactMap({ value(place, $0).kind }).first, kind != .text {
                throw .noCase(key.operand, kind, at: key.operand.offset)
            }
            let isDescending = key.direction == .descending
            keys.append(Key(place: place, isDescending: isDescending, nullsFirst: key.nulls == .first, folding: key.folding))
        }
        for place in grouping.keys.indices { keys.append(Key(place: place, isDescending: false, nullsFirst: true, folding: [])) }
        return order(kept, keys).map { kept[$0] }
    }

    /// Returns the indexes of the rows in the order of the keys. Looks up each key value of a row only once, before it sorts.
    private func order(_ rows: [AggregateRow], _ keys: [Key]) -> [Int] {
        let values = rows.flatMap { row in keys.map { value($0.place, row).folded($0.folding) } }
        return rows.indices.sorted { left, right in
            for (index, key) in keys.enumerated() {
                let order = Self.order(values[left * keys.count + index], values[right * keys.count + index], key)
                if order != 0 { return order < 0 }
            }
            return false
        }
    }

    private func place(_ operand: Operand) throws(QueryMistake) -> Int {
        if let place = places[operand.description] { return place }
        let names = places.keys.sorted().joined(separator: ", ")
        throw QueryMistake(
            "'\(operand)' is neither a key of the groups nor a function of the query. Use one of: \(names).", at: operand.offset)
    }

    private func value(_ place: Int, _ row: AggregateRow) -> QueryValue {
        place < row.group.count ? row.group[place] : row.values[place - row.group.count]
    }

    /// A sort key without references, so that comparing two groups changes no reference count.
    private struct Key {
        let place: Int
        let isDescending: Bool
        let nullsFirst: Bool
        let folding: Folding
    }

    private static func order(_ left: QueryValue, _ right: QueryValue, _ key: Key) -> Int {
        if left.isNull || right.isNull {
            if left.isNull == right.isNull { return 0 }
            return left.isNull == key.nullsFirst ? -1 : 1
        }
        var order = 0
        switch (left, right) {
        case (.value(let left), .value(let right)): order = left.order(right) ?? 0
        case (.object(let left), .object(let right)): order = left < right ? -1 : left == right ? 0 : 1
        default: break
        }
        return key.isDescending ? -order : order
    }

    // MARK: Conditions

    /// Checks the names, the parameters and the patterns of a condition. Without this check, a mistake would be reported only if a group
    /// needs the part of the condition that contains it.
    private func check(_ condition: Condition) throws(QueryMistake) {
        switch condition {
        case .constant: break
        case .not(let part): try check(part)
        case .and(let parts), .or(let parts): for part in parts { try check(part) }
        case .related(_, let path, _):
            throw QueryMistake("A group has no relationship '\(path)'. Move the condition to the query itself.", at: TextOffset(nil))
        case .comparison(let comparison): try check(comparison)
        }
    }

    private func check(_ comparison: Comparison) throws(QueryMistake) {
        if comparison.quantifier != nil {
            throw QueryMistake(
                "'\(comparison.left)' has one value in each group. Remove any, all or none before it.", at: comparison.left.offset)
        }
        let comparison = try comparison.substituted(binder.arguments)
        for operand in [comparison.left] + comparison.rightElements {
            if case .literal = operand.form { continue }
            _ = try place(operand)
        }
        guard comparison.relation == .like || comparison.relation == .matches else { return }
        guard case .literal(let literal) = comparison.right.form else { throw .noPattern(comparison) }
        if let text = literal.stringText { _ = try patternTest(comparison, literal, text) }
    }

    /// Returns whether a group satisfies a condition. The recursion is limited, because `Condition.check()` has limited the depth of the
    /// condition.
    private func holds(_ condition: Condition, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        switch condition {
        case .constant(let isTrue): return isTrue
        case .not(let part): return try !holds(part, row)
        case .and(let parts):
            for part in parts where try !holds(part, row) { return false }
            return true
        case .or(let parts):
            for part in parts where try holds(part, row) { return true }
            return false
        case .related: return false  // `check` has refused the condition.
        case .comparison(let comparison): return try holds(comparison, row)
        }
    }

    private func holds(_ comparison: Comparison, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        let comparison = try comparison.substituted(binder.arguments)
        let elements = comparison.rightElements
        var first: (operand: Operand, kind: ValueKind)?
        for operand in [comparison.left] + elements {
            guard let kind = try stored(operand, row)?.kind else { continue }
            if !kind.allows(comparison.relation) {
                throw QueryMistake("'\(comparison.relation.text)' cannot compare \(kind.text). Use == or !=.", at: operand.offset)
            }
            if let first, first.kind != kind {
                throw QueryMistake(
                    "'\(first.operand)' and '\(operand)' have values of different kinds. Compare values of the same kind.",
                    at: operand.offset)
            }
            first = (operand, kind)
        }
        if comparison.relation == .like || comparison.relation == .matches { return try matches(comparison, row) }
        // A literal is converted to the type of the value on the other side of the comparison. A literal on the left side gets the type of
        // the first element on the right side.
        let left = try operandValue(comparison.left, row, like: try elements.first.flatMap { operand throws(QueryMistake) in
            try stored(operand, row)
        })
        var right: [QueryValue] = []
        for element in elements { right.append(try operandValue(element, row, like: left)) }
        return ValueTest(comparison.relation, comparison.folding).holds(left, right)
    }

    /// Returns whether a text of a group matches the pattern on the right side of a comparison.
    private func matches(_ comparison: Comparison, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        guard case .literal(let literal) = comparison.right.form else { throw .noPattern(comparison) }
        let left = try operandValue(comparison.left, row, like: nil)
        guard case .value(let pattern) = try constant(literal, like: left, at: comparison.right.offset), case .value(let value) = left,
            let wanted = pattern.comparedText, let text = value.comparedText
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
    private final class KnownPatterns {
        /// A pattern by its bytes, because two strings with different bytes can be equal in Swift.
        struct Pattern: Hashable {
            let relation: Comparison.Relation
            let folding: Folding
            let bytes: [UInt8]
        }

        var tests: [Pattern: TextTest] = [:]
    }

    private func operandValue(_ operand: Operand, _ row: AggregateRow, like other: QueryValue?) throws(QueryMistake) -> QueryValue {
        if case .literal(let literal) = operand.form { return try constant(literal, like: other, at: operand.offset) }
        return try stored(operand, row) ?? .null
    }

    /// Returns the value that an operand has in a group: a key value or the result of a function. Returns `nil` for a literal.
    private func stored(_ operand: Operand, _ row: AggregateRow) throws(QueryMistake) -> QueryValue? {
        if case .literal = operand.form { return nil }
        return value(try place(operand), row)
    }

    /// Converts a literal to a value of the same kind as `other`.
    private func constant(_ literal: QueryLiteral, like other: QueryValue?, at offset: TextOffset) throws(QueryMistake) -> QueryValue {
        if case .object? = other, let id = id(literal) { return .object(id) }
        let constant = ValueTest.value(literal, like: other)
        let kinds = [constant, other ?? .null].compactMap(\.kind)
        guard Set(kinds).count == 2 else { return constant }
        throw QueryMistake(
            "\(literal) is \(kinds[0].text), but the group has \(kinds[1].text). Compare values of the same kind.", at: offset)
    }

    /// Returns the id that a literal states, or `nil` if the literal is not an id.
    private func id(_ literal: QueryLiteral) -> ObjectID? {
        switch literal {
        case .object(let entity, let serial): schema.id("\(entity)/\(serial)")?.id
        case .string(let text), .text(let text): schema.id(text)?.id
        default: nil
        }
    }
}

extension Comparison {
    /// The elements of the list on the right side, or the right side itself.
    fileprivate var rightElements: [Operand] { if case .list(let elements) = right.form { elements } else { [right] } }
}

extension QueryValue {
    /// The kind of the value; `nil` for null and for a list.
    fileprivate var kind: ValueKind? {
        switch self {
        case .value(let value): value.attributeType.map { ValueKind($0) }
        case .object(let id): .object(id.root)
        case .list: nil
        }
    }
}
