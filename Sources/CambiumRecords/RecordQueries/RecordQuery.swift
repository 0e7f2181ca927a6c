/// A query for the records of an entity: a condition, an order, and the part of the answer to return. The compiler checks each part.
///
/// ```swift
/// let adults = RecordQuery<Person> { $0.age >= 18 && $0.city.name == "Paris" }.sorted(by: \.name).limited(to: 20)
/// for person in try store.graph.fetch(adults) { print(person.name) }
/// ```
///
/// A query without sort keys returns records by ascending id. Records with equal sort keys are also returned by ascending id.
public struct RecordQuery<Record: EntityRecord>: Sendable {
    /// The untyped form of this query, with names instead of key paths.
    public var query: Query

    /// Creates a query for the objects that satisfy a condition. Without a condition, the query is for all objects of the entity and its
    /// sub-entities.
    public init(where condition: (RecordFields<Record>) -> Condition = Self.all) {
        let condition = condition(RecordFields())
        query = Query(Record.recordSchema.entity, where: condition)
        if condition == .constant(true) { query.condition = nil }
    }

    /// The condition that all objects satisfy.
    @usableFromInline static func all(_ fields: RecordFields<Record>) -> Condition { .constant(true) }

    /// Creates a query for the objects that satisfy a condition in the query language (Docs/Use/QUERIES.md), with a value for each
    /// parameter.
    ///
    /// Throws `.invalidInput` with the position if the text is malformed.
    public init(_ condition: String, _ arguments: [String: Operand] = [:]) throws(CambiumError) {
        query = try Query(Record.recordSchema.entity, where: condition, arguments)
    }

    /// Returns this query with another sort key after the existing ones.
    public func sorted<V: _PropertyValue>(
        by keyPath: KeyPath<Record, V>, _ direction: SortKey.Direction = .ascending, nulls: SortKey.Nulls? = nil, folding: Folding = []
    ) -> Self {
        sorted(by: RecordFields<Record>()[dynamicMember: keyPath], direction, nulls: nulls, folding: folding)
    }

    /// Returns this query with another sort key after the existing ones: a property at the end of a path, as in `sorted { $0.city.name }`.
    public func sorted<V: _PropertyValue>(
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

    /// Returns this query with a maximum number of records, and with a number of records to skip first.
    public func limited(to limit: Int, offset: Int = 0) -> Self {
        var limited = self
        limited.query.limit = limit
        limited.query.offset = offset
        return limited
    }

    /// Returns this query with another condition that the records must also satisfy.
    public func filtered(_ condition: (RecordFields<Record>) -> Condition) -> Self {
        var filtered = self
        let added = condition(RecordFields())
        filtered.query.condition = query.condition.map { $0 && added } ?? added
        return filtered
    }
}
