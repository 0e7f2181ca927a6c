import CambiumExchange
public import CambiumJSON

extension ImportHooks {
    /// Creates hooks for the rows of a record's entity. `finish` gets the object as a ref to the record. If a hook throws, the row cannot
    /// be imported.
    ///
    /// ```swift
    /// let hooks = ImportHooks(Note.self) { transaction, note, row in
    ///     try transaction.set(note.id, "source", to: "feed")
    /// }
    /// ```
    ///
    /// `finish` gets a ref and not the record, because many hooks need only the id. `transaction.load(_:)` reads the record of a ref.
    ///
    /// `prepare` gets the row as it is in the input. It gets no object, because the import finds the object only after it has applied the
    /// mapping. `prepare` is called only in imports of the record's entity or a sub-entity. An import of a parent entity does not call
    /// `prepare`, because in such an import, the row itself determines the entity.
    ///
    /// - Parameters:
    ///   - type: The type of the record. `finish` is called only for objects of its entity and sub-entities.
    ///   - prepare: Changes a row before the import reads it.
    ///   - finish: Receives an applied row and its object, and may change the transaction, but cannot delete objects.
    public init<Record: EntityRecord>(
        _ type: Record.Type, prepare: (@Sendable (inout JSONValue) throws -> Void)? = nil,
        finish: @escaping @Sendable (inout WriteTransaction, Ref<Record>, JSONValue) throws -> Void
    ) {
        self.init(prepare: prepare) { transaction, id, row in
            guard let ref: Ref<Record> = try transaction.reference(to: id) else { return }
            try finish(&transaction, ref, row)
        }
        preparedEntity = Record.recordSchema.entity
    }

    /// Creates a hook that prepares the rows of a record's entity, as `init(_:prepare:finish:)` does.
    public init<Record: EntityRecord>(_ type: Record.Type, prepare: @escaping @Sendable (inout JSONValue) throws -> Void) {
        self.init(prepare: prepare)
        preparedEntity = Record.recordSchema.entity
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
