import CambiumModel

/// Selects the groups of an aggregate query by a condition, and sorts them.
struct GroupOrder {
    private let grouping: Grouping
    let binder: ConditionBinder
    /// For each name in conditions and sort keys: the index of a key, or the number of keys plus the index of a function. The names are
    /// compared by their bytes, because two strings with different bytes can be equal in Swift.
    private let places: [[UInt8]: Int]
    /// The kind of the values at each place.
    let kinds: [ValueKind]
    /// The places with names of entities.
    let entityNamePlaces: Set<Int>
    let patterns = KnownPatterns()

    /// - Parameters:
    ///   - binder: Supplies the schema and the values of the parameters for the condition on the groups.
    ///   - entity: The entity of the objects that are grouped.
    init(_ grouping: Grouping, _ binder: ConditionBinder, _ entity: Entity) throws(QueryMistake) {
        self.grouping = grouping
        self.binder = binder
        var places: [[UInt8]: Int] = [:]
        for (index, key) in grouping.keys.enumerated() { places[Array(key.description.utf8)] = index }
        for (index, aggregate) in grouping.aggregates.enumerated() { places[Array(aggregate.name.utf8)] = grouping.keys.count + index }
        // A function such as `count` hides a key with the same name. The hidden key gets the name `group.count`, as in the rows in JSON.
        for (index, key) in grouping.keys.enumerated() {
            guard let place = places[Array(key.description.utf8)], place >= grouping.keys.count, let name = key.following("group") else {
                continue
            }
            let bytes = Array(name.description.utf8)
            if places[bytes] == nil { places[bytes] = index }
        }
        self.places = places
        var kinds: [ValueKind] = []
        var entityNamePlaces: Set<Int> = []
        var operands: [Operand?] = grouping.keys
        // Only these functions return one of the values. The results of all other functions are numbers.
        operands += grouping.aggregates.map { $0.function == .min || $0.function == .max ? $0.operand : nil }
        for (place, operand) in operands.enumerated() {
            guard let operand else {
                kinds.append(.number)
                continue
            }
            let reader = try binder.reader(operand, entity)
            kinds.append(reader.kind)
            if reader.isEntityName { entityNamePlaces.insert(place) }
        }
        (self.kinds, self.entityNamePlaces) = (kinds, entityNamePlaces)
    }

    /// Returns the condition that groups must satisfy, or `nil` if the query does not restrict its groups. Replaces each name in the
    /// condition with the index of a key or a function (see `places`), and each parameter with its value.
    func condition() throws(QueryMistake) -> GroupCondition? {
        guard let having = grouping.having else { return nil }
        return try resolved(having)
    }

    /// Returns the groups that satisfy a condition.
    func kept(_ rows: [AggregateRow], _ condition: GroupCondition?) throws(QueryMistake) -> [AggregateRow] {
        guard let condition else { return rows }
        var kept: [AggregateRow] = []
        for row in rows where try holds(condition, row) { kept.append(row) }
        return kept
    }

    /// Returns groups in the order of the sort keys. Groups with equal sort keys are ordered by their key values.
    func sorted(_ rows: [AggregateRow], by sort: [SortKey]) throws(QueryMistake) -> [AggregateRow] {
        var keys: [Key] = []
        for key in sort {
            let isDescending = key.direction == .descending
            keys.append(Key(place: try place(key), isDescending: isDescending, nullsFirst: key.nulls == .first, folding: key.folding))
        }
        for place in grouping.keys.indices { keys.append(Key(place: place, isDescending: false, nullsFirst: true, folding: [])) }
        return order(rows, keys).map { rows[$0] }
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

    func place(_ operand: Operand) throws(QueryMistake) -> Int {
        if let place = places[Array(operand.description.utf8)] { return place }
        let names = places.keys.map { String(decoding: $0, as: UTF8.self) }.sorted().joined(separator: ", ")
        throw QueryMistake(
            "'\(operand.description.excerpt)' is neither a key of the groups nor a function of the query. Use one of: \(names).",
            at: operand.offset)
    }

    /// Returns the place of a sort key. Throws if there is no such place, or if the key ignores the case of values that have no case.
    func place(_ key: SortKey) throws(QueryMistake) -> Int {
        let place = try self.place(key.operand)
        if !key.folding.isEmpty, kinds[place] != .text { throw .noCase(key.operand, kinds[place], at: key.operand.offset) }
        return place
    }

    func value(_ place: Int, _ row: AggregateRow) -> QueryValue {
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
}
