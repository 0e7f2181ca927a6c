public import CambiumExchange

extension WriteTransaction {
    /// Copies the object of a record with everything that it owns, and returns the copy.
    ///
    /// ```swift
    /// let copy = try transaction.clone(note, CloneRequest(rootValues: ["id": 7]))
    /// ```
    ///
    /// Throws `.objectDeleted` if the record was never saved or its object does not exist, and `.misuse` if the record belongs to another
    /// store. Otherwise throws the same errors as the `clone(_:_:)` that takes an id. `load(_:)` reads the copy.
    @discardableResult
    public mutating func clone<Record: EntityRecord>(_ record: Record, _ request: CloneRequest = CloneRequest()) throws -> Ref<Record> {
        guard let ref = record.ref else {
            throw CambiumError(
                .objectDeleted, "The record of '\(Record.recordSchema.entity)' was never saved, so there is nothing to clone.")
        }
        let id = try withWriter(Record.self) { try $0.existing(ref) }
        let copy = try clone(id, request)
        return try withWriter(Record.self) { $0.reference(to: copy.root, isNew: true) }
    }
}

extension Store {
    /// Copies the object of a record in a separate transaction, and returns the record of the copy.
    ///
    /// Throws as `write` and as `WriteTransaction.clone(_:_:)` do. Throws `.unexpectedValue` if the record cannot hold a value of the copy,
    /// such as the null of an excluded attribute. In that case, the copy was committed.
    @discardableResult
    public func clone<Record: EntityRecord>(
        _ record: Record, _ request: CloneRequest = CloneRequest(), _ author: Author = Author()
    ) throws -> Record {
        let (ref, receipt) = try write(author) { try $0.clone(record, request) }
        return try receipt.graph.load(ref)
    }

    /// Imports rows as objects of the entity of a record type. Throws as `importRows(_:from:_:hooks:author:reached:)` does. Also throws
    /// `.unknownName` if the record does not fit the store's schema.
    @discardableResult
    public func importRows<Record: EntityRecord>(
        _ type: Record.Type, from sources: ImportSource..., options: ImportOptions = ImportOptions(), author: Author = Author()
    ) throws -> ImportReport {
        try importRows(try graph.binding(type).entity, from: sources, options, author: author)
    }
}
