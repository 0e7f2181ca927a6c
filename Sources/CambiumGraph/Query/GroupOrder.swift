import CambiumModel

/// The condition on groups, and their order.
struct GroupOrder {
    private let grouping: Grouping
    private let arguments: [String: Operand]
    private let places: [String: Int]

    init(_ grouping: Grouping, _ query: Query) {
        self.grouping = grouping
        arguments = query.arguments
        var places: [String: Int] = [:]
        for (index, key) in grouping.keys.enumerated() { places[key.description] = index }
        for (index, aggregate) in grouping.aggregates.enumerated() { places[aggregate.name] = grouping.keys.count + index }
        self.places = places
    }

    /// Returns the groups that satisfy the condition, in the order of the sort keys. Groups with equal sort keys are in the order of their
    /// values.
    func sorted(_ rows: [AggregateRow], by sort: [SortKey]) throws(QueryMistake) -> [AggregateRow] {
        var kept: [AggregateRow] = []
        if let having = grouping.having {
            for row in rows where try holds(having, row) { kept.append(row) }
        } else {
            kept = rows
        }
        var keys: [Key] = []
        for key in sort {
            let isDescending = key.direction == .descending
            keys.append(Key(place: try place(key.operand), isDescending: isDescending, nullsFirst: key.nulls == .first))
        }
        for place in grouping.keys.indices { keys.append(Key(place: place, isDescending: false, nullsFirst: true)) }
        return kept.sorted { left, right in
            for key in keys {
                let order = Self.order(value(key.place, left), value(key.place, right), key)
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

    /// A sort key that contains no references, because each comparison of two groups reads the keys.
    private struct Key {
        let place: Int
        let isDescending: Bool
        let nullsFirst: Bool
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

    /// `Condition.check()` has limited the depth.
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
        case .related(_, let path, _):
            throw QueryMistake("A group has no relationship '\(path)'. Move the condition to the query itself.", at: TextOffset(nil))
        case .comparison(let comparison): return try holds(comparison, row)
        }
    }

    private func holds(_ comparison: Comparison, _ row: AggregateRow) throws(QueryMistake) -> Bool {
        if comparison.quantifier != nil {
            throw QueryMistake(
                "A group has one value of each kind. Remove the word before '\(comparison.left)'.", at: comparison.left.offset)
        }
        let left = try operandValue(comparison.left, row, like: nil)
        var right: [QueryValue] = []
        if case .list(let elements) = comparison.right.form {
            for element in elements { right.append(try operandValue(element, row, like: left)) }
        } else {
            right = [try operandValue(comparison.right, row, like: left)]
        }
        return ValueTest(comparison.relation, comparison.folding).holds(left, right)
    }

    private func operandValue(_ operand: Operand, _ row: AggregateRow, like other: QueryValue?) throws(QueryMistake) -> QueryValue {
        switch operand.form {
        case .literal(let literal): return ValueTest.value(literal, like: other)
        case .parameter(let name):
            guard case .literal(let literal)? = arguments[name]?.form else {
                throw QueryMistake("The parameter $\(name) has no value. Set a value for it.", at: operand.offset)
            }
            return ValueTest.value(literal, like: other)
        case .path, .aggregate: return value(try place(operand), row)
        case .list: throw QueryMistake("A list stands only on the right side of 'in' and 'between'.", at: operand.offset)
        }
    }
}
