public import CambiumJSON

extension ImportHooks {
    /// Creates hooks whose `finish` receives the object as a ref to a record.
    ///
    ///     let hooks = ImportHooks(Note.self) { transaction, note, row in
    ///         try transaction.set(note.id, "source", to: "feed")
    ///     }
    ///
    /// No record can be read inside of a transaction, so `finish` receives a ref. After the import, the record can be loaded from a graph.
    ///
    /// - Parameters:
    ///   - type: The type of the record. `finish` is called only for objects of its entity and sub-entities.
    ///   - prepare: Changes a row before the import reads it.
    ///   - finish: Receives an applied row and its object, and may change the transaction, but cannot delete objects.
    public init<Record: EntityRecord>(
        _ type: Record.Type, prepare: Prepare? = nil,
        finish: @escaping @Sendable (inout WriteTransaction, Ref<Record>, JSONValue) throws -> Void
    ) {
        self.init(prepare: prepare) { transaction, id, row in
            guard let ref: Ref<Record> = try transaction.reference(to: id) else { return }
            try finish(&transaction, ref, row)
        }
    }
}

extension WriteTransaction {
    /// Returns a ref to an object, or `nil` if the object is not of the record's entity.
    fileprivate mutating func reference<Record: EntityRecord>(to id: ObjectID) throws -> Ref<Record>? {
        let binding = try binding(Record.self)
        guard binding.entity.family.contains(try entity(of: id).number) else { return nil }
        return UncommittedOrigins(draft.original, sharedOutcome()).ref(to: id)
    }
}
