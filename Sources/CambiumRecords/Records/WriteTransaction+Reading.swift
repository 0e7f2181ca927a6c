/// Reading records inside of a transaction, with its changes so far.
///
/// ```swift
/// try store.write { transaction in
///     guard var note = try transaction.find(Note.self, identity: 7) else { return }
///     note.title = "Rome"
///     try transaction.save(&note)
/// }
/// ```
///
/// The records are values, so later changes of the transaction do not change them. Refs and `ToMany` of these records hold no graph: pass a
/// ref to `load(_:)` of the transaction or of a later graph. If the transaction is rolled back, refs to the objects that it inserted are no
/// longer valid.
extension WriteTransaction {
    /// Returns the record of an object.
    ///
    /// Throws as `Graph.load(_:)` does. Also throws `.misuse` if the transaction has changed the schema, and `.notWritable` if a change in
    /// the transaction failed halfway. Complexity: that of `Graph.load(_:)`, and O(objects whose derived attributes the transaction has
    /// affected).
    public mutating func load<Record: EntityRecord>(_ ref: Ref<Record>) throws -> Record {
        try ref.check(draft.original.storeKey, outcome)
        return try load(Record.self, ref.id)
    }

    /// Returns the record of the object that has the given id. Throws the same errors as `load(_:)` with a ref.
    public mutating func load<Record: EntityRecord>(_ type: Record.Type, _ id: ObjectID) throws -> Record {
        try withGraph(Record.self, for: .objects) { try $0.load(type, id, $1) }
    }

    /// Returns the records of objects, in the order of `ids`. Throws the same errors as `load(_:)` with a ref.
    public mutating func load<Record: EntityRecord>(_ ids: [ObjectID]) throws -> [Record] {
        try withGraph(Record.self, for: .objects) { try $0.load(ids, $1) }
    }

    /// Returns the record with these identity values, or `nil` if there is no such record. The values are in the order of the identity.
    ///
    /// If several objects have the values, returns one of them; the commit would refuse such duplicates. Throws as `load(_:)` does.
    public mutating func find<Record: EntityRecord>(_ type: Record.Type, identity values: any AttributeValue...) throws -> Record? {
        try withGraph(Record.self, for: .objects) { try $0.find(type, values, $1) }
    }

    /// Passes the graph of the changes so far to `body`. The graph must not outlive `body`.
    mutating func withGraph<Record: EntityRecord, Result>(
        _ type: Record.Type, for use: Draft.PreviewUse, _ body: (Graph, UncommittedOrigins) throws -> Result
    ) throws -> Result {
        try checkUsable()
        _ = try binding(type)
        let origins = UncommittedOrigins(draft.original, sharedOutcome())
        return try draft.withPreview(for: use) { try body($0, origins) }
    }
}
