/// The object to which a record is written, during `EntityRecord.write(to:)`.
///
/// ```swift
/// mutating func write(to row: inout RecordWriter) throws {
///     try row.write("id", &id)
///     try row.write("title", &title)
/// }
/// ```
///
/// A save calls `write(to:)` once for the values of attributes, and again for relationships, if the record has any. Each property is
/// written by its name or, as the macro does, by its index in the record's schema.
public struct RecordWriter: ~Copyable {
    var target: ChangeTarget
    /// The values of attributes that the current record has written.
    var values: [(Attribute, Value)] = []
    /// The values that the current record has for derived attributes.
    var derivedValues: [(Attribute, Value)] = []
    /// The attributes in `values` for which different stored texts represent the same value, such as JSON with its keys in any order.
    /// `form` converts a stored text into the text that the Swift type itself would store.
    var forms: [(attribute: Attribute, form: (Value) throws -> Value)] = []
    /// The record that is being written.
    var current: Frame
    /// The objects of the records that contain the current record, followed by the current object.
    private(set) var path: [ObjectID] = []
    /// The values and members that properties had before the writer changed them. A change by another record of the same save is not a
    /// conflict.
    var formerValues: [EditPlace: Value] = [:]
    var formerMembers: [EditPlace: [ObjectID]] = [:]
    /// The members that the writer added to a relationship, or removed from it, by changing the inverse relationship.
    var addedMembers: Set<LinkEnd> = []
    var lostMembers: [EditPlace: Set<ObjectID>] = [:]
    /// The number of objects that the writer has inserted.
    var insertedCount = 0
    private var bindings: [(type: ObjectIdentifier, binding: RecordBinding)] = []
    /// The way in which conflicts with other writers are resolved.
    let policy: EditPolicy
    /// The origin (the store, and the transaction) that refs get if their objects existed before the transaction or edit.
    private let read: RefOrigin
    /// The origin (the store, and the outcome of the transaction) that refs get if the transaction inserted their objects; `nil` until
    /// there is such a ref.
    private var inserted: RefOrigin?
    /// Whether the writer only clears the refs of records whose objects were deleted, and changes no object.
    private(set) var isClearing = false

    /// The state of writing one record. A record inside of another record has a separate frame.
    struct Frame {
        let binding: RecordBinding
        /// The object of the record; `nil` until the values of its attributes are written.
        var id: ObjectID?
        /// The property that leads back to the containing record: the inverse of the relationship through which the save reached this
        /// record. This record does not write the property, because the containing record writes the link.
        let arrival: PropertyNumber?
        /// Whether the record has the ref of an object.
        var isKnown = false
        /// The object as it was when the record was read or last saved; `nil` if this is not known.
        var before: SavedRecord?
        /// The values and members that the record keeps although the store has other ones.
        var kept = KeptProperties()
        /// Whether the save must not change an existing object.
        var mustBeNew = false
        /// Whether the save has inserted the object.
        var isNew = false
        /// The objects of the records that contained the record when it was read or saved.
        var containers: [ObjectID] = []
        /// The objects in `containers` that a property of the record lists, because the program has put their records there.
        var listed: Set<ObjectID> = []
        /// The objects in `containers` that a property of the record omits, although the relationship in the store leads to them.
        var omitted: Set<ObjectID> = []
        /// The objects to which the relationships of the identity lead, if they exist already.
        var owners: [PropertyNumber: ObjectID] = [:]
        /// The id that the object had in the edit that inserted it; `nil` if the record's ref does not state it.
        var provisionalID: ObjectID?
        /// The index at which the search for the next name begins: the property after the one that was last written by name.
        var next = 0
    }

    init(_ target: consuming ChangeTarget, _ binding: RecordBinding, _ policy: EditPolicy = .error) {
        var target = target
        read = target.origin()
        self.policy = policy
        self.target = target
        current = Frame(binding: binding, arrival: nil)
    }

    consuming func takeTarget() -> ChangeTarget { target }

    // MARK: Records

    /// Saves a record: updates the object that its ref names. If the record has no ref, or its ref comes from a rolled-back transaction,
    /// updates the object with the record's identity, or inserts an object.
    mutating func save<Record: EntityRecord>(
        _ record: inout Record, arrival: PropertyNumber? = nil, mustBeNew: Bool = false
    ) throws -> ObjectID {
        guard path.count < RecordReader.depthMax else {
            throw CambiumError(
                .limitExceeded,
                "More than \(RecordReader.depthMax) records contain each other. Declare one of the properties as Ref or ToMany.")
        }
        let outer = current
        current = Frame(binding: try bound(Record.self), arrival: arrival)
        current.containers = record.ref?.origin.containers ?? []
        current.provisionalID = record.ref?.origin.provisionalID
        current.mustBeNew = mustBeNew
        defer { current = outer }
        if isClearing { return try clear(&record) }
        values.removeAll(keepingCapacity: true)
        derivedValues.removeAll(keepingCapacity: true)
        forms.removeAll(keepingCapacity: true)
        try record.write(to: &self)
        let (id, isNew) = try saveAttributes(of: record.ref, Record.self)
        if current.binding.hasRelationships {
            (current.id, current.isNew, current.next) = (id, isNew, 0)
            path.append(id)
            defer { path.removeLast() }
            try record.write(to: &self)
        }
        let ref = savedReference(to: id, record.ref, isNew: isNew)
        record.ref = current.binding.omittedRoots.isEmpty ? ref : ref.inside(containers())
        return id
    }

    /// Returns the objects that the current record may omit: those that its ref already lists, and the objects of outer records that its
    /// properties could contain. Adds no other objects, because the list would grow with each outer record.
    ///
    /// If the record lists an object and omits it nowhere, the ref no longer contains the object. Otherwise, a later save could not unlink
    /// the object. A save that reaches the record through an inverse does not write this inverse, so it removes no object from the ref.
    private borrowing func containers() -> [ObjectID] {
        let (roots, listed, omitted) = (current.binding.omittedRoots, current.listed, current.omitted)
        var known = current.containers
        if current.arrival == nil, !listed.isEmpty { known.removeAll { listed.contains($0) && !omitted.contains($0) } }
        return known + path.filter { roots.contains($0.root) && !known.contains($0) }
    }

    /// Saves a record that must not have an object yet.
    mutating func insert<Record: EntityRecord>(_ record: inout Record) throws {
        if let ref = record.ref, let id = try objectID(of: ref) { throw existing(id, Record.recordSchema.entity) }
        _ = try save(&record, mustBeNew: true)
    }

    private borrowing func existing(_ id: ObjectID, _ entity: String) -> CambiumError {
        CambiumError(
            .conflict,
            "The record of '\(entity)' cannot be inserted: it is \(entity)/\(id.serialText), which exists already. Save the record to "
                + "change the object, or give the record another identity and no ref.")
    }

    /// Saves several records.
    mutating func save<Record: EntityRecord>(_ records: inout [Record]) throws {
        for index in records.indices { _ = try save(&records[index]) }
    }

    /// Deletes the object of a record, and clears the refs to deleted objects in the record and in the records inside of it.
    mutating func delete<Record: EntityRecord>(_ record: inout Record) throws {
        guard let ref = record.ref else {
            throw CambiumError(
                .objectDeleted, "The record of '\(Record.recordSchema.entity)' was never saved, so there is nothing to delete.")
        }
        try target.delete([try existing(ref)])
        try clearRefs(in: &record)
    }

    private mutating func clearRefs<Record: EntityRecord>(in record: inout Record) throws {
        isClearing = true
        defer { isClearing = false }
        _ = try save(&record)
    }

    private mutating func clear<Record: EntityRecord>(_ record: inout Record) throws -> ObjectID {
        let id = record.ref?.id ?? ObjectID(root: current.binding.entity.root, serial: 0)
        current.id = id
        path.append(id)
        defer { path.removeLast() }
        try record.write(to: &self)
        if record.ref != nil, !target.contains(id) { record.ref = nil }
        return id
    }

    private mutating func saveAttributes<Record: EntityRecord>(
        of ref: Ref<Record>?, _ type: Record.Type
    ) throws -> (id: ObjectID, isNew: Bool) {
        let binding = current.binding
        let known: ObjectID? = if let ref { try objectID(of: ref) } else { nil }
        current.isKnown = known != nil
        if let known {
            let state = ref?.origin.stateOfRecord(except: target.outcome, in: target.lineage)
            current.before = SavedRecord(known, state, ref?.origin.kept, current: current.binding.entity)
        }
        try keepDerivedValues(of: known)
        if let id = known ?? identified(binding) {
            if current.mustBeNew { throw existing(id, Record.recordSchema.entity) }
            // A record that was not read writes all values, and the transaction ignores those that are stored already. But the values are
            // compared if a value has several stored forms, or if relationships may lead to another copy of the record. An edit would
            // record each value that it is given as a statement of the caller.
            if current.before != nil || target.isEdit || !forms.isEmpty || binding.hasRelationships || !path.isEmpty {
                try omitValues(of: id)
            }
            try target.set(id, values)
            target.watch(id)
            return (id, false)
        }
        insertedCount += 1
        values.removeAll { $0.1.isNull && $0.0.defaultValue.isNull }
        let id = try target.insert(binding.entity, values)
        target.watch(id)
        return (id, true)
    }

    /// Returns the object that a ref names, or `nil` if a rolled-back transaction inserted the object.
    ///
    /// Throws `.objectDeleted` if the object does not exist, and `.misuse` if the ref belongs to another store.
    borrowing func objectID<Record: EntityRecord>(of ref: Ref<Record>) throws -> ObjectID? {
        let entity = Record.recordSchema.entity
        guard ref.origin.storeKey == read.storeKey else {
            throw CambiumError(
                .misuse, "The record of '\(entity)' belongs to another store. Set its ref to nil, then save it here as a new object.")
        }
        if ref.origin.isRolledBack(except: target.outcome) { return nil }
        guard target.contains(ref.id) else { throw missing(ref.id, entity) }
        return ref.id
    }

    private borrowing func missing(_ id: ObjectID, _ entity: String) -> CambiumError {
        let name = "\(entity)/\(id.serialText)"
        if target.lacksInBase(id) {
            return CambiumError(
                .objectDeleted,
                "\(name) is not in the graph on which the edit is based: the object was deleted before that graph, or inserted after it. "
                    + "Rebase the edit onto a graph that has the object.")
        }
        let reason = id.isProvisional && !target.hasInserted(id) ? "exists only in the edit that inserted it" : "was deleted"
        return CambiumError(
            .objectDeleted,
            "\(name) \(reason), so a ref to it cannot be used here. Set the ref to nil. If the ref is a record's own ref, the next save "
                + "then inserts the record again.")
    }

    /// Returns the object named by a ref that a property contains.
    borrowing func existing<Record: EntityRecord>(_ ref: Ref<Record>) throws -> ObjectID {
        if isClearing { return ref.id }
        if let id = try objectID(of: ref) { return id }
        throw CambiumError(
            .objectDeleted,
            "A ref to '\(Record.recordSchema.entity)' comes from a transaction that was rolled back. Save the record, and use its new ref.")
    }

    /// Returns the ref of a record that a save has written. Its next save is compared with this one.
    private mutating func savedReference<Record: EntityRecord>(to id: ObjectID, _ former: Ref<Record>?, isNew: Bool) -> Ref<Record> {
        let kept = current.kept.isEmpty ? nil : current.kept
        guard let former, former.id == id, !former.origin.isRolledBack(except: target.outcome) else {
            let ref: Ref<Record> = reference(to: id, isNew: isNew)
            return kept.map { Ref(id, ref.origin.with(ref.origin.read, $0, [])) } ?? ref
        }
        let origin = former.origin
        if kept == nil, origin.outcome == nil, origin.containers.isEmpty, origin.provisionalID == nil { return Ref(id, read) }
        return Ref(id, origin.with(read.read, kept, origin.containers))
    }

    /// The moment that the refs of the saved records have; `nil` in a transaction.
    var moment: EditMoment? { if case .edit(let moment, _) = read.read { moment } else { nil } }

    /// Returns the ref of an object.
    mutating func reference<Record: EntityRecord>(to id: ObjectID, _ former: Ref<Record>? = nil, isNew: Bool = false) -> Ref<Record> {
        if let former, former.id == id, !former.origin.isRolledBack(except: target.outcome) { return former }
        return Ref(id, origin(of: id, isNew: isNew))
    }

    mutating func origin(of id: ObjectID, isNew: Bool) -> RefOrigin {
        guard let outcome = target.outcome(of: id, isNew: isNew) else { return read }
        let origin = inserted ?? RefOrigin(storeKey: read.storeKey, outcome, read: read.read)
        inserted = origin
        return origin
    }

    mutating func bound<Record: EntityRecord>(_ type: Record.Type) throws -> RecordBinding {
        let key = ObjectIdentifier(type)
        for known in bindings where known.type == key { return known.binding }
        let binding = try target.binding(type)
        bindings.append((key, binding))
        return binding
    }
}
