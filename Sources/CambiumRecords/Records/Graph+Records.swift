extension Graph {
    /// Returns the record of an object.
    ///
    /// Throws `.objectDeleted` if the graph does not contain the object, and `.unknownName` if the record does not fit the store's schema.
    /// Throws `.unexpectedValue` for a stored value that the record cannot hold. Complexity: O(properties and records inside of the
    /// record).
    public func load<Record: EntityRecord>(_ ref: Ref<Record>) throws -> Record {
        try ref.check(storeKey)
        return try load(Record.self, ref.id)
    }

    /// Returns the record of the object that has the given id. Throws the same errors as `load(_:)` with a ref.
    public func load<Record: EntityRecord>(_ type: Record.Type, _ id: ObjectID) throws -> Record { try load(type, id, nil) }

    /// - Parameter uncommitted: Supplies the refs, if the graph belongs to a transaction in progress; otherwise `nil`.
    func load<Record: EntityRecord>(_ type: Record.Type, _ id: ObjectID, _ uncommitted: UncommittedOrigins?) throws -> Record {
        var reader = RecordReader(self, try binding(type), uncommitted)
        return try reader.record(of: id)
    }

    /// Returns the records of objects, in the order of `ids`. Throws the same errors as `load(_:)` with a ref.
    public func load<Record: EntityRecord>(_ ids: [ObjectID]) throws -> [Record] { try load(ids, nil) }

    func load<Record: EntityRecord>(_ ids: [ObjectID], _ uncommitted: UncommittedOrigins?) throws -> [Record] {
        var records: [Record] = []
        records.reserveCapacity(ids.count)
        try forEachRecord(ids, uncommitted) { _, record in records.append(try record()) }
        return records
    }

    /// Returns the record with these identity values, or `nil` if there is no such record. The values are in the order of the identity.
    ///
    /// ```swift
    /// let note = try graph.find(Note.self, identity: 7)
    /// ```
    ///
    /// Throws as `load(_:)` does. Complexity: O(1) expected, plus that of `load(_:)`.
    public func find<Record: EntityRecord>(_ type: Record.Type, identity values: any AttributeValue...) throws -> Record? {
        try find(type, values, nil)
    }

    func find<Record: EntityRecord>(
        _ type: Record.Type, _ values: [any AttributeValue], _ uncommitted: UncommittedOrigins?
    ) throws -> Record? {
        let binding = try binding(type)
        // Most identities consist of one attribute, and a lookup by one value needs no array.
        let found =
            values.count == 1
            ? place(binding.entity, identity: values[0].attributeValue)
            : place(binding.entity, identity: values.map(\.attributeValue))
        guard let place = found else {
            try binding.entity.checkIdentity(values.map(\.attributeValue))
            return nil
        }
        var reader = RecordReader(self, binding, uncommitted)
        reader.move(to: place)
        return try Record(from: &reader)
    }

    /// Returns a finder, which finds many records by their identity.
    ///
    /// Throws `.invalidInput` if the identity of the record's entity is not exactly one attribute, and `.unknownName` if the record does
    /// not fit the store's schema. Complexity: O(objects of the hierarchy / 64).
    public func finder<Record: EntityRecord>(_ type: Record.Type) throws -> RecordFinder<Record> {
        let binding = try binding(type)
        guard let identities = finder(binding.entity) else {
            throw CambiumError(
                .invalidInput,
                "A finder needs an identity of one attribute, which '\(binding.entity.name)' does not have. Use find(_:identity:).")
        }
        return RecordFinder(self, binding, identities)
    }

    /// Calls `body` for each object. `body` receives a function that reads the object's record; the function throws if the record cannot be
    /// read.
    func forEachRecord<Record: EntityRecord>(
        _ ids: [ObjectID], _ uncommitted: UncommittedOrigins? = nil, _ body: (ObjectID, () throws -> Record) throws -> Void
    ) throws {
        var reader = RecordReader(self, try binding(Record.self), uncommitted)
        for id in ids { try body(id) { try reader.record(of: id) } }
    }
}

extension RecordBinding {
    /// The error for an object that the graph, the edit or the transaction does not have.
    func missing(_ id: ObjectID) -> CambiumError {
        let reason =
            id.isProvisional
            ? "It exists only in the edit that inserted it. Read it through that edit."
            : "It was deleted, or it was not inserted yet. Read a version of the graph that contains it."
        return CambiumError(.objectDeleted, "\(entity.name)/\(id.serialText) does not exist in this version of the graph. \(reason)")
    }
}

extension Ref {
    /// Throws `.misuse` if the object belongs to another store, and `.objectDeleted` if the transaction that inserted it was rolled back.
    ///
    /// - Parameter outcome: The outcome object of the transaction in which the ref is used; `nil` outside of transactions.
    func check(_ storeKey: UInt64, _ outcome: TransactionOutcome? = nil) throws(CambiumError) {
        let entity = Record.recordSchema.entity
        guard origin.storeKey == storeKey else {
            throw CambiumError(
                .misuse, "A ref to '\(entity)' belongs to another store. Pass the ref to a graph of the store that the ref comes from.")
        }
        if origin.isRolledBack(except: outcome) {
            throw CambiumError(
                .objectDeleted,
                "A ref to '\(entity)' comes from a transaction that was rolled back. Save the record, then use its new ref.")
        }
    }
}
