extension Store {
    /// Saves a record in a separate transaction. The ref of `record` is set only if the commit succeeds. Throws as `write` and as
    /// `WriteTransaction.save(_:)` do.
    @discardableResult
    public func save<Record: EntityRecord>(_ record: inout Record, _ author: Author = Author()) throws -> Receipt {
        var saved = record
        let receipt = try write(author) { try $0.save(&saved) }.receipt
        record = saved
        return receipt
    }

    /// Saves several records in one transaction. Throws the same errors as `save(_:_:)` with one record.
    @discardableResult
    public func save<Record: EntityRecord>(_ records: inout [Record], _ author: Author = Author()) throws -> Receipt {
        var saved = records
        let receipt = try write(author) { try $0.save(&saved) }.receipt
        records = saved
        return receipt
    }

    /// Does the same as the blocking `save`, for tasks: returns the record with its ref. Throws as the asynchronous `write` and as
    /// `WriteTransaction.save(_:)` do.
    public func save<Record: EntityRecord>(_ record: Record, _ author: Author = Author()) async throws -> Record {
        try await write(author) { transaction in
            var saved = record
            try transaction.save(&saved)
            return saved
        }.result
    }

    /// Does the same as the blocking `save`, for tasks: returns the records with their refs. Throws as the asynchronous `write` and as
    /// `WriteTransaction.save(_:)` do.
    public func save<Record: EntityRecord>(_ records: [Record], _ author: Author = Author()) async throws -> [Record] {
        try await write(author) { transaction in
            var saved = records
            try transaction.save(&saved)
            return saved
        }.result
    }

    /// Deletes the object of a record in a separate transaction. The ref of `record` is `nil` afterwards. Throws as `write` and as
    /// `WriteTransaction.delete(_:)` do.
    @discardableResult
    public func delete<Record: EntityRecord>(_ record: inout Record, _ author: Author = Author()) throws -> Receipt {
        var deleted = record
        let receipt = try write(author) { try $0.delete(&deleted) }.receipt
        record = deleted
        return receipt
    }
}
