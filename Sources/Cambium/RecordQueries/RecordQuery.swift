/// A question for the records of an entity: a condition, an order, and a part of the answer. Each part is checked by the compiler.
///
///     let adults = RecordQuery<Person> { $0.age >= 18 && $0.city.name == "Paris" }.sorted(by: \.name).limited(to: 20)
///     for person in try store.graph.fetch(adults) { print(person.name) }
///
/// A query without sort keys returns records by ascending id, and so do equal keys.
public struct RecordQuery<Record: EntityRecord>: Sendable {
    /// The query in names, for the parts of the API that are not typed.
    public var query: Query

    /// All objects of the entity and its sub-entities.
    public init() {
        query = Query(Record.recordSchema.entity, where: .constant(true))
        query.condition = nil
    }

    /// The objects that satisfy a condition.
    public init(where condition: (RecordFields<Record>) -> Condition) {
        query = Query(Record.recordSchema.entity, where: condition(RecordFields()))
    }

    /// The objects that satisfy a condition in the query language (Docs/QUERIES.md), with a value for each parameter.
    ///
    /// Throws `.invalidInput` with the position if the text is malformed.
    public init(_ condition: String, _ arguments: [String: Operand] = [:]) throws(CambiumError) {
        query = try Query(Record.recordSchema.entity, where: condition, arguments)
    }

    /// Returns the same query with another sort key after the present ones.
    public func sorted<V: PropertyValue>(
        by keyPath: KeyPath<Record, V>, _ direction: SortKey.Direction = .ascending, nulls: SortKey.Nulls? = nil, folding: Folding = []
    ) -> Self {
        sorted(by: RecordFields<Record>()[dynamicMember: keyPath], direction, nulls: nulls, folding: folding)
    }

    /// Returns the same query with a sort key at the end of a path, such as `sorted { $0.city.name }`.
    public func sorted<V: PropertyValue>(
        _ direction: SortKey.Direction = .ascending, nulls: SortKey.Nulls? = nil, folding: Folding = [],
        by field: (RecordFields<Record>) -> RecordField<V>
    ) -> Self {
        sorted(by: field(RecordFields()), direction, nulls: nulls, folding: folding)
    }

    private func sorted<V>(by field: RecordField<V>, _ direction: SortKey.Direction, nulls: SortKey.Nulls?, folding: Folding) -> Self {
        var sorted = self
        sorted.query.sort.append(SortKey(field.operand, direction, nulls: nulls, folding: folding))
        return sorted
    }

    /// Returns the same query with a maximum number of records, after a number of skipped ones.
    public func limited(to limit: Int, offset: Int = 0) -> Self {
        var limited = self
        limited.query.limit = limit
        limited.query.offset = offset
        return limited
    }

    /// Returns the same query for the records that also satisfy another condition.
    public func filtered(_ condition: (RecordFields<Record>) -> Condition) -> Self {
        var filtered = self
        let added = condition(RecordFields())
        filtered.query.condition = query.condition.map { $0 && added } ?? added
        return filtered
    }
}
