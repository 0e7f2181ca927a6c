extension Graph {
    /// Returns the records of an entity that satisfy a condition, by ascending id. Without a condition, returns all records.
    ///
    /// ```swift
    /// let adults = try graph.fetch(Person.self) { $0.age >= 18 && $0.city.name == "Paris" }
    /// ```
    ///
    /// Throws as `find(_:)` does. Also throws as `load(_:)` does for the first record that cannot be read.
    public func fetch<Record: EntityRecord>(
        _ type: Record.Type, where condition: (RecordFields<Record>) -> Condition = RecordQuery<Record>.all
    ) throws -> [Record] { try fetch(RecordQuery(where: condition)) }

    /// Returns the records of a query's answer, in the order of the query. Throws as `fetch(_:where:)` does.
    public func fetch<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> [Record] { try load(find(query.query)) }

    /// Reads all records of a query's answer. Returns the records that can be read, and an error for each record that cannot hold a value
    /// of its object.
    ///
    /// Throws as `find(_:)` does. Also throws `.unknownName` if the record does not fit the store's schema. Complexity: that of
    /// `fetch(_:where:)`.
    public func collect<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> (records: [Record], errors: [any Error]) {
        try collect(query, nil)
    }

    /// - Parameter uncommitted: Supplies the refs of the records, if the graph belongs to a transaction in progress; otherwise `nil`.
    func collect<Record: EntityRecord>(
        _ query: RecordQuery<Record>, _ uncommitted: UncommittedOrigins?
    ) throws -> (records: [Record], errors: [any Error]) {
        var records: [Record] = []
        var errors: [any Error] = []
        try forEachRecord(find(query.query), uncommitted) { _, record in
            do { records.append(try record()) } catch { errors.append(error) }
        }
        return (records, errors)
    }

    /// Returns the first record of a query's answer, or `nil` if the answer is empty. Throws as `fetch(_:where:)` does.
    public func first<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Record? { try first(query, nil) }

    func first<Record: EntityRecord>(_ query: RecordQuery<Record>, _ uncommitted: UncommittedOrigins?) throws -> Record? {
        try first(query.query).map { try load(Record.self, $0, uncommitted) }
    }

    /// Returns the only record of a query's answer, or `nil` if the answer is empty. Throws `.ruleViolated` if the answer has several
    /// records. Also throws as `fetch(_:where:)` does.
    public func only<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Record? { try only(query, nil) }

    func only<Record: EntityRecord>(_ query: RecordQuery<Record>, _ uncommitted: UncommittedOrigins?) throws -> Record? {
        try only(query.query).map { try load(Record.self, $0, uncommitted) }
    }

    /// Returns the number of records in a query's answer. Throws as `find(_:)` does.
    public func count<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Int { try count(query.query) }

    /// Returns whether a query's answer contains at least one record. Throws as `find(_:)` does.
    public func contains<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Bool { try contains(query.query) }

    // MARK: Aggregates

    /// Returns the sum of a property of the records in a query's answer; 0 if there are no values. Throws as `aggregate(_:_:)` does. Also
    /// throws `.limitExceeded` if a query with a limit or an offset has more than 65,536 records in its answer. Complexity: that of
    /// `aggregate(_:_:)`.
    public func sum<Record: EntityRecord, V: _PropertyValue>(
        _ keyPath: KeyPath<Record, V>, of query: RecordQuery<Record> = RecordQuery()
    ) throws -> Value { try aggregate(.sum, keyPath, query) }

    /// Returns the least value of a property; null if there are no values. Throws as `sum(_:of:)` does.
    public func min<Record: EntityRecord, V: _PropertyValue>(
        _ keyPath: KeyPath<Record, V>, of query: RecordQuery<Record> = RecordQuery()
    ) throws -> Value { try aggregate(.min, keyPath, query) }

    /// Returns the greatest value of a property; null if there are no values. Throws as `sum(_:of:)` does.
    public func max<Record: EntityRecord, V: _PropertyValue>(
        _ keyPath: KeyPath<Record, V>, of query: RecordQuery<Record> = RecordQuery()
    ) throws -> Value { try aggregate(.max, keyPath, query) }

    /// Returns the mean of a property; `nil` if there are no values. Throws as `sum(_:of:)` does.
    public func average<Record: EntityRecord, V: _PropertyValue>(
        _ keyPath: KeyPath<Record, V>, of query: RecordQuery<Record> = RecordQuery()
    ) throws -> Double? {
        guard case .double(let mean) = try aggregate(.avg, keyPath, query) else { return nil }
        return mean
    }

    private func aggregate<Record: EntityRecord>(
        _ function: AggregateFunction, _ keyPath: PartialKeyPath<Record>, _ query: RecordQuery<Record>
    ) throws -> Value {
        let operand = Operand(.path(QueryPath([Record.fieldName(of: keyPath)])))
        let rows = try aggregate(query.query.withoutOrder(in: self), Grouping([Aggregate(function, of: operand)]))
        guard case .value(let value)? = rows.first?.values.first else { return .null }
        return value
    }

    /// Returns the number of records in a query's answer for each value of a property, such as `{ $0.city.name }`, by ascending value.
    ///
    /// Throws as `sum(_:of:)` does. For other functions, pass `query.query` to `aggregate(_:_:)`, which applies sort keys and limits to the
    /// groups.
    public func counts<Record: EntityRecord, V: _PropertyValue>(
        _ query: RecordQuery<Record> = RecordQuery(), by field: (RecordFields<Record>) -> RecordField<V>
    ) throws -> [(value: QueryValue, count: Int)] {
        let grouping = Grouping(by: [field(RecordFields()).operand], [.count])
        return try aggregate(query.query.withoutOrder(in: self), grouping).compactMap { row in
            guard let key = row.group.first, case .value(.int(let count))? = row.values.first else { return nil }
            return (key, Int(count))
        }
    }
}
