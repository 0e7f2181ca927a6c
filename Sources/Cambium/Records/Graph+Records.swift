extension Graph {
    /// Returns the record of an object.
    ///
    /// Throws `.objectDeleted` if the graph does not contain the object; `.unknownName` if the record does not fit the store's schema;
    /// `.unexpectedValue` for a stored value that the record cannot hold. Complexity: O(properties and records inside of the record).
    public func load<Record: EntityRecord>(_ ref: Ref<Record>) throws -> Record {
        guard ref.origin.storeKey == storeKey else {
            throw CambiumError(.misuse, "A ref to '\(Record.recordSchema.entity)' belongs to another store. Load it from its own store.")
        }
        return try load(Record.self, ref.id)
    }

    /// Returns the record of the object with an id. Throws as `load(_:)` with a ref does.
    public func load<Record: EntityRecord>(_ type: Record.Type, _ id: ObjectID) throws -> Record {
        let binding = try binding(type)
        guard let place = place(of: id) else { throw deleted(id, binding) }
        var reader = RecordReader(self, binding, at: place)
        try reader.checkEntity()
        return try Record(from: &reader)
    }

    /// Returns the records of objects, in the order of their ids. Throws as `load(_:)` with a ref does.
    public func load<Record: EntityRecord>(_ ids: [ObjectID]) throws -> [Record] {
        var records: [Record] = []
        records.reserveCapacity(ids.count)
        try forEachRecord(ids) { _, record in records.append(try record()) }
        return records
    }

    /// Returns the record with these identity values, in the order of the identity, or `nil` if there is no such record.
    ///
    ///     let note = try graph.find(Note.self, identity: 7)
    ///
    /// Throws as `load(_:)` does. Complexity: O(1) expected, and as `load(_:)`.
    public func find<Record: EntityRecord>(_ type: Record.Type, identity values: any AttributeValue...) throws -> Record? {
        let binding = try binding(type)
        guard let place = place(binding.entity, identity: values.map(\.attributeValue)) else { return nil }
        var reader = RecordReader(self, binding, at: place)
        return try Record(from: &reader)
    }

    /// Resolves the identity of a record type for finding many records.
    ///
    /// Throws `.invalidInput` if the identity of the record's entity is not exactly one attribute, and `.unknownName` if the record does
    /// not fit the store's schema. Complexity: O(objects of the hierarchy / 64).
    public func finder<Record: EntityRecord>(_ type: Record.Type) throws -> RecordFinder<Record> {
        let binding = try binding(type)
        guard let identities = finder(binding.entity) else {
            throw CambiumError(
                .invalidInput, "The identity of '\(binding.entity.name)' is not exactly one attribute. Use find(_:identity:).")
        }
        return RecordFinder(self, binding, identities)
    }

    /// Calls `body` for each object, with a function that reads the record, or throws if it cannot be read.
    func forEachRecord<Record: EntityRecord>(_ ids: [ObjectID], _ body: (ObjectID, () throws -> Record) throws -> Void) throws {
        let binding = try binding(Record.self)
        var known: RecordReader?
        for id in ids {
            guard let place = place(of: id) else {
                try body(id) { throw deleted(id, binding) }
                continue
            }
            var reader = known ?? RecordReader(self, binding, at: place)
            known = nil
            reader.move(to: place)
            try body(id) {
                try reader.checkEntity()
                return try Record(from: &reader)
            }
            known = reader
        }
    }

    private func deleted(_ id: ObjectID, _ binding: RecordBinding) -> CambiumError {
        CambiumError(
            .objectDeleted, "\(binding.entity.name)/\(id.serial) does not exist in this graph. It was deleted, or not yet inserted.")
    }
}
