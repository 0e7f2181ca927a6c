extension WriteTransaction {
    /// Changes the object of a record, or inserts an object if no object has the record's identity. `insert(_:)` never changes an object.
    /// Saves the records inside of the record, too.
    ///
    /// A record with a `ref` changes the object that the ref names. The save writes only the properties that differ from the record as it
    /// was read or last saved. If another writer has changed such a property since then, this is a conflict. A record without a `ref`
    /// changes the object with the same identity, in all of its properties; if there is no such object, the save inserts an object.
    /// Afterwards, `ref` refers to the object. Properties that the record does not have stay unchanged. If a record is inside of an outer
    /// record, the save does not write the inner record's relationship that leads back. A property of type `Ref` that leads back gets the
    /// ref of the outer record.
    ///
    /// Throws `.conflict`, with `EditConflicts`, for the conflicts that the policy does not resolve. Throws `.objectDeleted` if the object
    /// of `ref` does not exist, and `.misuse` if `ref` belongs to another store. Throws
    /// `.unknownName` if the record does not fit the store's schema. Also throws as `insert`, `set` and `link` do. If an error occurs after
    /// some records were saved, the transaction fails: each later call throws the error, and so does the commit.
    ///
    /// - Parameters:
    ///   - record: The record to save. Its `ref` then leads to the object.
    ///   - policy: The way in which conflicts are resolved. The record is the edit's side of each conflict.
    public mutating func save<Record: EntityRecord>(_ record: inout Record, policy: EditPolicy = .error) throws {
        try withWriter(Record.self, policy) { writer in _ = try writer.save(&record) }
    }

    /// Saves several records. Throws the same errors as `save(_:policy:)` with one record.
    public mutating func save<Record: EntityRecord>(_ records: inout [Record], policy: EditPolicy = .error) throws {
        try withWriter(Record.self, policy) { writer in try writer.save(&records) }
    }

    /// Inserts an object for a record, and refuses a record whose object exists already. Otherwise does the same as `save(_:policy:)`. The
    /// records inside of the record are saved.
    ///
    /// Throws `.conflict` if the record has a ref to an object, or if an object has the record's identity. Also throws as
    /// `save(_:policy:)` does.
    public mutating func insert<Record: EntityRecord>(_ record: inout Record) throws {
        try withWriter(Record.self) { writer in try writer.insert(&record) }
    }

    /// Deletes the object of a record, and the objects that its delete rules reach. Afterwards, `ref` is `nil`. In the records inside of
    /// the record, each `ref` whose object was deleted is `nil`, too. The refs stay `nil` if the transaction is rolled back. After that, a
    /// save of a record without an identity inserts a second object. If the transaction may fail, delete a copy of the record, and keep the
    /// original.
    ///
    /// Throws `.objectDeleted` if the record was never saved or the object does not exist, and `.misuse` if the record belongs to another
    /// store.
    public mutating func delete<Record: EntityRecord>(_ record: inout Record) throws {
        try withWriter(Record.self) { writer in try writer.delete(&record) }
    }

    /// Calls `body` with a `RecordWriter` for this transaction. If `body` throws after it has changed something, the transaction fails.
    mutating func withWriter<Record: EntityRecord, Result>(
        _ type: Record.Type, _ policy: EditPolicy = .error, _ body: (inout RecordWriter) throws -> Result
    ) throws -> Result {
        try checkUsable()
        let binding = try binding(type)
        let (opCount, isHook) = (ops.opCount, recording == .comparison)
        var writer = RecordWriter(ChangeTarget(self), binding, policy)
        let result: Swift.Result<Result, any Error> = Swift.Result { try body(&writer) }
        // While a hook of an import runs, changes do not become ops, so the number of ops does not show them.
        let mayHaveChanged = isHook && writer.target.hasChanged
        self = writer.takeTarget().takeTransaction()
        outcome?.withJournal { $0.endSave() }
        if case .failure(let error) = result, mayHaveChanged || ops.opCount != opCount {
            partialChange =
                (error as? CambiumError)
                ?? CambiumError(
                    .invalidInput, "A record was changed only in part: \(error). Correct the cause, and repeat the transaction.",
                    underlying: error)
        }
        return try result.get()
    }

    func binding<Record: EntityRecord>(_ type: Record.Type) throws -> RecordBinding {
        let original = draft.original
        guard draft.schema === original.schema else {
            throw CambiumError(
                .misuse, "A transaction that changes the schema cannot read and save records. Do this in a later transaction.")
        }
        return try original.binding(type)
    }
}
