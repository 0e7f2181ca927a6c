import CambiumGraph
package import CambiumLog
public import CambiumModel

/// The changes of one transaction. `Store.write` passes the transaction to its closure. The transaction is valid until the closure returns.
///
/// Every call that changes something validates the change, applies it, and records it as an op. If a call throws, the transaction contains
/// no part of that call, and the closure may continue. If the closure throws, the transaction has no effect. Rules that concern the whole
/// graph (mandatory properties, uniqueness, numbers of members, denied deletions) are checked once, at the end.
///
/// If a change fails halfway, for example because of the disk, the transaction fails. Each later change, query and read of a record then
/// throws, and so does the commit. Reads by object id still work, and show what the failed change left.
///
/// ```swift
/// try store.write(Author(actor: "jane")) { transaction in
///     let note = try transaction.insert("Note", ["title": "Paris"])
///     try transaction.link(note, "tags", red)
/// }
/// ```
public struct WriteTransaction: ~Copyable {
    package var draft: Draft
    /// The ops of the transaction. When an import ends, it compares its graph with the original graph, and appends ops for the differences.
    package var ops: OpWriter
    package var recording = Recording.ops
    /// The objects that a hook of an import has inserted, or whose attributes it has changed. Only the import reads this list. An object
    /// that the hook changed several times is in the list several times.
    var hookedObjects: [ObjectID] = []
    /// Whether this transaction is a dry run of an import. The store then forgets the transaction and its request even if the closure
    /// succeeds, and the import records no ops.
    var isRehearsal = false
    /// The error of a call that made only some of its changes, such as a save of records. If this property is set, the transaction cannot
    /// be committed.
    package var partialChange: CambiumError?
    /// The object from which the references (`Ref`) of records learn whether the transaction was committed, and its graph; `nil` if the
    /// transaction has read and saved no record.
    package var outcome: TransactionOutcome?
    let environment: StoreEnvironment
    /// The time of the preceding transaction. This transaction gets the same or a later time.
    let timeMin: Timestamp

    init(draft: consuming Draft, ops: OpWriter, environment: StoreEnvironment, timeMin: Timestamp) {
        self.draft = draft
        self.ops = ops
        self.environment = environment
        self.timeMin = timeMin
    }

    /// The way in which changes become ops: each change is recorded as an op, or a final comparison with the original graph derives all
    /// ops.
    package enum Recording { case ops, comparison }

    consuming func takeDraft() -> Draft { draft }

    /// The schema of the graph. Inside the closure of a migration, the new schema.
    package var schema: Schema { draft.schema }

    // MARK: Reading what was written

    /// Returns whether the transaction has an object with this id. Complexity: O(log serials).
    public borrowing func contains(_ id: ObjectID) -> Bool { draft.contains(id) }

    /// The value of an attribute of an object, including the changes of the transaction. The value is `.null` if the object's entity does
    /// not have the attribute, and `nil` if there is no such object. Complexity: O(log serials + bytes of the value); for a derived
    /// attribute, also O(members that are read).
    package subscript(_ id: ObjectID, _ attribute: Attribute) -> Value? { draft.value(of: attribute, of: id) }

    /// Returns the ids of the objects to which a relationship of an object leads, including the changes of the transaction. The ids have
    /// the order of the relationship if it has one; otherwise, they are ascending. Returns `nil` if there is no object `id`, and no ids if
    /// the object's entity does not have the relationship. Complexity: O(members), and O(members x log members) for an unordered
    /// relationship.
    package borrowing func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        draft.members(relationship, of: id)
    }

    /// Returns the object whose only identity attribute has this text, or `nil` if there is no such object.
    package borrowing func find(_ entity: Entity, identity text: String) -> ObjectID? {
        draft.find(entity, identity: text)
    }

    /// Returns the object whose identity has this key: a part for each component, in the order of `entity.identity`.
    package borrowing func find(_ entity: Entity, key: [IdentityKeyPart]) -> ObjectID? { draft.find(entity, key: key) }

    /// Returns the id of the object with these identity values, in the order of `entity.identityValues`. Returns `nil` if there is no such
    /// object, or if a value is not of its attribute's type.
    ///
    /// If several objects have the values, returns one of them; the commit would refuse such duplicates. Complexity: O(1) expected.
    package borrowing func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        draft.find(entity, identity: values)
    }

    // MARK: Ops

    /// Applies an op, and records it unless a final comparison derives the ops. If this method throws, the op is neither applied nor
    /// recorded.
    package mutating func record(_ op: Op) throws(CambiumError) {
        if recording == .comparison, case .delete = op { throw Self.refusal(of: "delete") }
        try checkUsable()
        let changes = memberChanges(of: op)
        try draft.apply(op)
        track(changes)
        if recording == .ops { return ops.append(op) }
        if case .insert(let id, _, _) = op { hookedObjects.append(id) }
    }

    /// Returns the objects that a hook of an import has inserted or changed since the last call.
    mutating func takeHookedObjects() -> [ObjectID] {
        defer { hookedObjects.removeAll() }
        return hookedObjects
    }

    /// Throws if the transaction can no longer be committed, because a change failed halfway or its ops cannot be written.
    package func checkUsable() throws(CambiumError) {
        try draft.checkUsable()
        if let partialChange { throw partialChange }
        try ops.check()
    }

    static func refusal(of verb: String) -> CambiumError {
        CambiumError(.invalidInput, "A hook of an import cannot \(verb) objects. Use a transaction after the import.")
    }

    /// Deletes the objects that lost their last owner, if a rule of the schema requires it.
    mutating func deleteOrphans() throws(CambiumError) {
        guard draft.hasLosses else { return }
        let ids = draft.takeOrphans()
        if !ids.isEmpty { try record(.delete(ids)) }
    }

    /// Records ops for all changes since the draft began to track changes.
    mutating func deriveOps() throws(CambiumError) {
        let encoding = OpEncoding(ops)
        let derived = Result { () throws(CambiumError) in try draft.deriveOps { op in encoding.append(op) } }
        // Waits for the encoding thread even if deriving the ops threw an error, so that no other thread uses the writer when this method
        // returns.
        ops = encoding.finish()
        try derived.get()
    }

    package borrowing func entity(of id: ObjectID) throws(CambiumError) -> Entity {
        guard let entity = draft.entity(of: id) else { throw schema.missingObject(id) }
        return entity
    }
}
