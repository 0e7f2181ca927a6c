/// The destination to which records are written: a transaction or an edit.
struct RecordTarget: ~Copyable {
    // Exactly one of `transaction` and `edit` is not `nil`, so each method changes one of them.
    private(set) var transaction: WriteTransaction?
    private(set) var edit: Edit?
    let storeKey: UInt64
    private let schema: Schema
    /// Whether a call may have changed the transaction.
    private(set) var hasChanged = false

    init(_ transaction: consuming WriteTransaction) {
        storeKey = transaction.draft.original.storeKey
        schema = transaction.draft.original.schema
        self.transaction = consume transaction
    }

    init(_ edit: consuming Edit) {
        storeKey = edit.base.storeKey
        schema = edit.base.schema
        self.edit = consume edit
    }

    consuming func takeTransaction() -> WriteTransaction {
        guard let transaction else { preconditionFailure("Only the target of a transaction can return a transaction.") }
        return transaction
    }

    consuming func takeEdit() -> Edit {
        guard let edit else { preconditionFailure("Only the target of an edit can return an edit.") }
        return edit
    }

    func binding<Record: EntityRecord>(_ type: Record.Type) throws -> RecordBinding {
        if let binding = try transaction?.binding(type) { return binding }
        if let binding = try edit?.binding(type) { return binding }
        preconditionFailure("A target has a transaction or an edit.")
    }

    var isEdit: Bool { edit != nil }

    /// The lineage of the edit; `nil` for a transaction.
    var lineage: EditLineage? { edit?.lineage }

    /// The graph without the changes of the transaction or the edit, which other writers have made.
    var original: Graph {
        if let graph = transaction?.originalGraph() ?? edit?.base { return graph }
        preconditionFailure("A target has a transaction or an edit.")
    }

    /// Returns the origin of the refs of records that a save writes: with a new moment of the transaction or of the edit.
    mutating func origin() -> RefOrigin {
        if let outcome = transaction?.sharedOutcome() {
            let moment = outcome.withJournal { $0.beginSave() }
            return RefOrigin(storeKey: storeKey, read: .transaction(outcome, at: moment))
        }
        return RefOrigin(storeKey: storeKey, read: lineage.map { .edit(EditMoment(savingIn: $0), nil) })
    }

    // MARK: Objects

    func contains(_ id: ObjectID) -> Bool { transaction?.contains(id) ?? edit?.contains(id) ?? false }

    /// Whether the target is the edit that inserted an object. The edit may have deleted the object.
    func hasInserted(_ id: ObjectID) -> Bool { id.isProvisional && edit?.knownEntity(of: id) != nil }

    /// Whether the target is an edit whose base lacks the object, although the object's id is permanent.
    func lacksInBase(_ id: ObjectID) -> Bool { !id.isProvisional && edit.map { $0.knownEntity(of: id) == nil } == true }

    func find(_ entity: Entity, key: [IdentityKeyPart]) -> ObjectID? {
        transaction?.find(entity, key: key) ?? edit?.foundByIdentity(entity, key)
    }

    func value(_ attribute: Attribute, of id: ObjectID) -> Value {
        transaction?.currentValue(attribute, of: id) ?? edit?.current(attribute, of: id) ?? .null
    }

    mutating func insert(_ entity: Entity, _ values: [(Attribute, Value)]) throws(CambiumError) -> ObjectID {
        if let id = try transaction?.insert(entity, values) {
            hasChanged = true
            return id
        }
        if let id = try edit?.insert(entity, values) { return id }
        preconditionFailure("A target has a transaction or an edit.")
    }

    mutating func set(_ id: ObjectID, _ values: [(Attribute, Value)]) throws(CambiumError) {
        try transaction?.set(id, values)
        try edit?.set(id, values)
        hasChanged = true
    }

    mutating func delete(_ id: ObjectID) throws(CambiumError) {
        try transaction?.delete(id)
        try edit?.delete(id)
        hasChanged = true
    }

    // MARK: Links

    /// Returns the inverse of a relationship, or `nil` if the schema names no inverse.
    func inverse(_ relationship: Relationship) -> Relationship? {
        relationship.inverse.flatMap { schema.relationship($0, ofRoot: relationship.destinationRoot) }
    }

    func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        transaction?.members(relationship, of: id) ?? edit?.currentMembers(relationship, of: id) ?? []
    }

    mutating func link(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int? = nil) throws(CambiumError) {
        try transaction?.link(id, relationship, target, at: index)
        try edit?.link(id, relationship, target, at: index)
        hasChanged = true
    }

    mutating func unlink(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) throws(CambiumError) {
        try transaction?.unlink(id, relationship, target)
        try edit?.unlink(id, relationship, target)
        hasChanged = true
    }

    mutating func move(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, to index: Int) throws(CambiumError) {
        try transaction?.move(id, relationship, target, to: index)
        try edit?.move(id, relationship, target, to: index)
        hasChanged = true
    }

    /// Whether the target writes an ordered relationship as a whole list, whatever the change. If so, one `reorder` costs no more than
    /// moving one member.
    var writesWholeLists: Bool { edit != nil }

    /// Puts the members of an ordered relationship of an edit into the order of `members`. Call this method only if `writesWholeLists` is
    /// true.
    mutating func reorder(_ id: ObjectID, _ relationship: Relationship, _ members: [ObjectID]) {
        edit?.reorder(id, relationship, members)
        hasChanged = true
    }

    // MARK: Refs

    /// Tracks the later changes of the transaction to an object whose record was saved. Does nothing in an edit.
    func watch(_ id: ObjectID) { transaction?.currentOutcome()?.withJournal { $0.watch(id) } }

    /// The object that reports to refs of inserted objects whether the transaction was committed. `nil` for an edit, or if no ref needs
    /// this object yet.
    var outcome: TransactionOutcome? { transaction?.currentOutcome() }

    /// Returns the outcome object of the transaction for an object that the transaction inserted. Returns `nil` for any other object.
    mutating func outcome(of id: ObjectID, isNew: Bool) -> TransactionOutcome? {
        guard edit == nil, isNew || transaction?.draft.original.contains(id) == false else { return nil }
        return transaction?.sharedOutcome()
    }
}

extension WriteTransaction {
    // `transaction` is an optional of a type that cannot be copied. Swift can read a property or a subscript of its content only through a
    // method.
    fileprivate func currentOutcome() -> TransactionOutcome? { outcome }

    fileprivate func originalGraph() -> Graph { draft.original }

    fileprivate func currentValue(_ attribute: Attribute, of id: ObjectID) -> Value? { self[id, attribute] }

    /// Returns the object that reports to refs of inserted objects whether the transaction was committed. Creates the object at the first
    /// call.
    mutating func sharedOutcome() -> TransactionOutcome {
        let outcome = outcome ?? TransactionOutcome(draft.original)
        self.outcome = outcome
        return outcome
    }
}
