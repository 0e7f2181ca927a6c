/// Reads records with the changes of an edit, and saves records to the edit.
///
/// ```swift
/// var edit = store.edit()
/// var note = try edit.load(ref)
/// note.title = "Rome"
/// try edit.save(&note)
/// let committed = try store.commit(&edit)
/// ```
///
/// An object that the edit inserted has a provisional `Ref` (a typed reference), which only this edit and its copies know.
/// `EditCommit.ref(of:)` returns the permanent ref. The refs and `ToMany` of a record hold a copy of the edit as it was when the record was
/// read.
extension Edit {
    /// Returns the record of an object. If the edit tracks reads, the properties of the record count as read.
    ///
    /// Throws `.objectDeleted` if the edit does not have the object, and `.misuse` for a ref of another store. Throws `.unknownName` if the
    /// record does not fit the schema of the base, and `.unexpectedValue` for a value that the record cannot hold. For example, a mandatory
    /// property of an inserted object may still be null. Complexity: O(properties and records inside of the record).
    public func load<Record: EntityRecord>(_ ref: Ref<Record>) throws -> Record {
        try ref.check(base.storeKey)
        return try load(Record.self, ref.id)
    }

    /// Returns the record of the object that has the given id. Throws the same errors as `load(_:)` with a ref.
    public func load<Record: EntityRecord>(_ type: Record.Type, _ id: ObjectID) throws -> Record {
        var reader = RecordReader(EditedRows(self), try binding(type))
        return try reader.record(of: id)
    }

    /// Returns the records of objects, in the order of `ids`. Throws the same errors as `load(_:)` with a ref.
    public func load<Record: EntityRecord>(_ ids: [ObjectID]) throws -> [Record] {
        var reader = RecordReader(EditedRows(self), try binding(Record.self))
        var records: [Record] = []
        for id in ids { records.append(try reader.record(of: id)) }
        return records
    }

    /// Returns the record with these identity values, or `nil` if there is no such record. The values are in the order of the identity.
    ///
    /// Throws as `load(_:)` does. Complexity: O(1) expected, plus that of `load(_:)`.
    public func find<Record: EntityRecord>(_ type: Record.Type, identity values: any AttributeValue...) throws -> Record? {
        let (entity, values) = (try binding(type).entity, values.map(\.attributeValue))
        guard let found = find(entity, identity: values) else {
            try entity.checkIdentity(values)
            return nil
        }
        return try load(type, found)
    }

    // MARK: Saving

    /// Changes the object of a record, or inserts an object if no object has the record's identity. Saves the records inside of it, too,
    /// by the rules of `WriteTransaction.save(_:policy:)`. The save is one step of undo.
    ///
    /// The save writes only the properties that differ from the record as it was read or last saved: from a graph, from the edit, or in the
    /// edit. If the edit or its base has another value of such a property since then, this is a conflict. It is also a conflict if the last
    /// save of the record was undone, and the record still has the undone value.
    ///
    /// Throws as `WriteTransaction.save(_:policy:)` does, except for the rules that an edit checks at its commit. After an error, the edit
    /// and the record are unchanged.
    public mutating func save<Record: EntityRecord>(_ record: inout Record, policy: EditPolicy = .error) throws {
        try withWriter(Record.self, policy, &record) { writer, record in _ = try writer.save(&record) }
    }

    /// Saves several records in one step of undo. Throws the same errors as `save(_:policy:)` with one record.
    public mutating func save<Record: EntityRecord>(_ records: inout [Record], policy: EditPolicy = .error) throws {
        try withWriter(Record.self, policy, &records) { writer, records in try writer.save(&records) }
    }

    /// Inserts an object for a record, and refuses a record whose object exists in the edit. Otherwise does the same as
    /// `save(_:policy:)`.
    ///
    /// Throws `.conflict` if the record has a ref to an object, or if the edit has an object with the record's identity. If another writer
    /// inserts such an object, the commit throws `.ruleViolated`. Also throws as `save(_:policy:)` does. After an error, the edit and the
    /// record are unchanged.
    public mutating func insert<Record: EntityRecord>(_ record: inout Record) throws {
        try withWriter(Record.self, .error, &record) { writer, record in try writer.insert(&record) }
    }

    /// Deletes the object of a record, and the objects that its cascade rules reach in this edit. Afterwards, `ref` is `nil`. In the
    /// records inside of the record, each `ref` whose object was deleted is `nil`, too.
    ///
    /// Throws `.objectDeleted` if the record was never saved or the edit does not have the object, and `.misuse` if the record belongs to
    /// another store. After an error, the edit and the record are unchanged.
    public mutating func delete<Record: EntityRecord>(_ record: inout Record) throws {
        try withWriter(Record.self, .error, &record) { writer, record in try writer.delete(&record) }
    }

    /// Calls `body` with a `RecordWriter` for this edit, and a copy of the records. If `body` throws, the edit and the records are
    /// unchanged.
    private mutating func withWriter<Record: EntityRecord, Records>(
        _ type: Record.Type, _ policy: EditPolicy, _ records: inout Records, _ body: (inout RecordWriter, inout Records) throws -> Void
    ) throws {
        let binding = try binding(type)
        var changed = records
        var (moment, formerValues, formerMembers): (EditMoment?, [EditPlace: Value], [EditPlace: [ObjectID]]) = (nil, [:], [:])
        try batch { edit in
            // Moves the edit into the writer. If the writer got a copy of the edit, its first write would copy all changes of the edit.
            var writer = RecordWriter(ChangeTarget(consume edit), binding, policy)
            let outcome = Swift.Result { try body(&writer, &changed) }
            (moment, formerValues, formerMembers) = (writer.moment, writer.formerValues, writer.formerMembers)
            edit = writer.takeTarget().takeEdit()
            try outcome.get()
        }
        moment?.end(EditMoment.State(edit: snapshot, formerValues: formerValues, formerMembers: formerMembers))
        records = changed
    }
}

extension EditCommit {
    /// Returns the permanent ref of an object: the new ref for a provisional ref, otherwise the ref itself.
    ///
    /// After the commit, replace the ref of each record that was saved in the edit, even if the object already existed. If the record is
    /// inside of a new record, its ref also contains the provisional id of the new record's object.
    public func ref<Record: EntityRecord>(of ref: Ref<Record>) -> Ref<Record> {
        let read: RefOrigin.Read =
            switch ref.origin.read {
            case .edit(let moment, nil) where moment.lineage === edit.lineage: .edit(moment, permanentIDs)
            case nil: .graph(edit.base)
            case let other?: other
            }
        let origin = RefOrigin(
            storeKey: ref.origin.storeKey, read: read, kept: ref.origin.kept,
            containers: ref.origin.containers.map { id(of: $0) },
            provisionalID: ids[ref.id] == nil ? ref.origin.provisionalID : ref.id)
        return Ref<Record>(id(of: ref.id), origin)
    }
}
