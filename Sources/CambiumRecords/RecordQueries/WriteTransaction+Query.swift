/// Queries inside a transaction, which include its changes so far.
///
/// If the schema has ordered indexes, each query updates the indexes for the changes so far, on temporary pages. So a loop should not query
/// after each of its changes.
extension WriteTransaction {
    /// Returns the records of an entity that satisfy a condition, by ascending id. Without a condition, returns all records.
    ///
    /// ```swift
    /// let adults = try transaction.fetch(Person.self) { $0.age >= 18 }
    /// ```
    ///
    /// Throws the same errors as `fetch(_:)` with a query.
    public mutating func fetch<Record: EntityRecord>(
        _ type: Record.Type, where condition: (RecordFields<Record>) -> Condition = RecordQuery<Record>.all
    ) throws -> [Record] { try fetch(RecordQuery(where: condition)) }

    /// Returns the records of a query's answer, in the order of the query. Throws as `Graph.fetch(_:)` and as `load(_:)` of the transaction
    /// do.
    ///
    /// Complexity: that of `Graph.fetch(_:)`, and O(changed objects x log objects) if the schema has ordered indexes.
    public mutating func fetch<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> [Record] {
        try withGraph(Record.self, for: .queries) { try $0.load(try $0.find(query.query), $1) }
    }

    /// Reads all records of a query's answer. Returns the records that can be read, and an error for each record that cannot hold a value
    /// of its object. Throws as `Graph.collect(_:)` and as `fetch(_:)` do. Complexity: that of `fetch(_:)`.
    public mutating func collect<Record: EntityRecord>(
        _ query: RecordQuery<Record>
    ) throws -> (records: [Record], errors: [any Error]) {
        try withGraph(Record.self, for: .queries) { try $0.collect(query, $1) }
    }

    /// Returns the first record of a query's answer, or `nil` if the answer is empty. Throws as `fetch(_:)` does. Complexity: that of
    /// `fetch(_:)`.
    public mutating func first<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Record? {
        try withGraph(Record.self, for: .queries) { try $0.first(query, $1) }
    }

    /// Returns the only record of a query's answer, or `nil` if the answer is empty. Throws `.ruleViolated` if the answer has several
    /// records. Also throws as `fetch(_:)` does. Complexity: that of `fetch(_:)`.
    public mutating func only<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Record? {
        try withGraph(Record.self, for: .queries) { try $0.only(query, $1) }
    }

    /// Returns the number of records in a query's answer. The errors and the complexity are those of `find(_:)`.
    public func count<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Int { try count(query.query) }

    /// Returns whether a query's answer contains at least one record. The errors and the complexity are those of `find(_:)`.
    public func contains<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> Bool { try contains(query.query) }

    // MARK: Objects

    /// Returns the objects of a query's answer, in the order of the query. Throws as `Graph.find(_:)` does. Also throws if a change in the
    /// transaction failed halfway. Complexity: that of `fetch(_:)`.
    public func find(_ query: Query) throws -> [ObjectID] { try withAnswers { try $0.find(query) } }

    /// Returns the first object of the answer to a query, or `nil` if the answer is empty. Throws as `find(_:)` does. Complexity: that of
    /// `fetch(_:)`.
    public func first(_ query: Query) throws -> ObjectID? { try withAnswers { try $0.first(query) } }

    /// Returns the only object of the answer to a query, or `nil` if the answer is empty. Throws `.ruleViolated` if the answer has several
    /// objects. Also throws as `find(_:)` does. Complexity: that of `fetch(_:)`.
    public func only(_ query: Query) throws -> ObjectID? { try withAnswers { try $0.only(query) } }

    /// Returns whether at least one object satisfies the condition of a query. Throws as `find(_:)` does. Complexity: that of `fetch(_:)`.
    public func contains(_ query: Query) throws -> Bool { try withAnswers { try $0.contains(query) } }

    /// Returns the number of objects in the answer to a query. Throws as `Graph.count(_:)` and as `find(_:)` do. Complexity: that of
    /// `fetch(_:)`.
    public func count(_ query: Query) throws -> Int { try withAnswers { try $0.count(query) } }

    private func withAnswers<Result>(_ body: (Graph) throws -> Result) throws -> Result {
        try checkUsable()
        return try draft.withPreview(for: .queries, body)
    }
}
