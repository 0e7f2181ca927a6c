extension Store {
    /// Changes the object of a record, or inserts an object if no object has the record's identity, in a separate transaction.
    /// `insert(_:_:)` never changes an object. The ref of `record` is set only if the commit succeeds.
    ///
    /// A record that was read before writes only the properties that differ from the ones read. Throws `.conflict`, with `EditConflicts`,
    /// if another writer has changed such a property since then, unless `policy` resolves the conflict. Also throws as `write` and as
    /// `WriteTransaction.save(_:policy:)` do.
    @discardableResult
    public func save<Record: EntityRecord>(
        _ record: inout Record, _ author: Author = Author(), policy: EditPolicy = .error
    ) throws -> Receipt {
        try change(&record, author) { try $0.save(&$1, policy: policy) }
    }

    /// Saves several records in one transaction. Throws the same errors as `save(_:_:policy:)` with one record.
    @discardableResult
    public func save<Record: EntityRecord>(
        _ records: inout [Record], _ author: Author = Author(), policy: EditPolicy = .error
    ) throws -> Receipt {
        try change(&records, author) { try $0.save(&$1, policy: policy) }
    }

    /// Does the same as the blocking `save`, for tasks: returns the record with its ref. Throws as the asynchronous `write` and as
    /// `WriteTransaction.save(_:policy:)` do.
    public func save<Record: EntityRecord>(
        _ record: Record, _ author: Author = Author(), policy: EditPolicy = .error
    ) async throws -> Record {
        try await changed(record, author) { try $0.save(&$1, policy: policy) }
    }

    /// Does the same as the blocking `save`, for tasks: returns the records with their refs. Throws as the asynchronous `write` and as
    /// `WriteTransaction.save(_:policy:)` do.
    public func save<Record: EntityRecord>(
        _ records: [Record], _ author: Author = Author(), policy: EditPolicy = .error
    ) async throws -> [Record] {
        try await changed(records, author) { try $0.save(&$1, policy: policy) }
    }

    /// Inserts an object for a record in a separate transaction, and refuses a record whose object exists already. The ref of `record` is
    /// set only if the commit succeeds.
    ///
    /// Throws `.conflict` if the record has a ref to an object, or if an object has the record's identity. Also throws as `write` and as
    /// `WriteTransaction.insert(_:)` do.
    @discardableResult
    public func insert<Record: EntityRecord>(_ record: inout Record, _ author: Author = Author()) throws -> Receipt {
        try change(&record, author) { try $0.insert(&$1) }
    }

    /// Does the same as the blocking `insert`, for tasks: returns the record with its ref. Throws as the asynchronous `write` and as
    /// `WriteTransaction.insert(_:)` do.
    public func insert<Record: EntityRecord>(_ record: Record, _ author: Author = Author()) async throws -> Record {
        try await changed(record, author) { try $0.insert(&$1) }
    }

    /// Deletes the object of a record in a separate transaction. The ref of `record` is `nil` afterwards. Throws as `write` and as
    /// `WriteTransaction.delete(_:)` do.
    @discardableResult
    public func delete<Record: EntityRecord>(_ record: inout Record, _ author: Author = Author()) throws -> Receipt {
        try change(&record, author) { try $0.delete(&$1) }
    }

    /// Passes a copy of records to a transaction. The records become the copy if the commit succeeds.
    private func change<Records>(
        _ records: inout Records, _ author: Author, _ body: (inout WriteTransaction, inout Records) throws -> Void
    ) throws -> Receipt {
        var changed = records
        let receipt = try write(author) { try body(&$0, &changed) }.receipt
        records = changed
        return receipt
    }

    private func changed<Records: Sendable>(
        _ records: Records, _ author: Author, _ body: @escaping @Sendable (inout WriteTransaction, inout Records) throws -> Void
    ) async throws -> Records {
        try await write(author) { transaction in
            var changed = records
            try body(&transaction, &changed)
            return changed
        }.result
    }
}
