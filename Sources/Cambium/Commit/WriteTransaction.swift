import CambiumGraph
internal import CambiumLog
public import CambiumModel

/// The changes of one transaction. `Store.write` passes the transaction to its closure. The transaction is valid until the closure returns.
///
/// Every call that changes something validates the change, applies it, and records it as an op. If a call throws, the transaction contains
/// no part of that call, and the closure may continue. If the closure throws, the transaction has no effect. Rules that concern the whole
/// graph (mandatory properties, uniqueness, numbers of members, denied deletions) are checked once, at the end.
///
/// If a change fails halfway, for example because of the disk, the transaction fails. Every later call then throws, and so does the commit.
///
/// ```swift
/// try store.write(Author(actor: "jane")) { transaction in
///     let note = try transaction.insert("Note", ["title": "Paris"])
///     try transaction.link(note, "tags", red)
/// }
/// ```
public struct WriteTransaction: ~Copyable {
    var draft: Draft
    /// The ops of the transaction. An import derives its ops by comparing its graph with the original graph. It appends them when it ends.
    var ops: OpWriter
    var recording = Recording.ops
    /// The objects that a hook of an import has inserted, or whose attributes it has changed. Only the import reads this list. An object
    /// that the hook changed several times is in the list several times.
    private var hookedObjects: [ObjectID] = []
    /// Whether this transaction is a dry run of an import. The store then forgets the transaction and its request even if the closure
    /// succeeds, and the import records no ops.
    var isRehearsal = false
    /// The error of a call that made only some of its changes, such as a save of records. If this property is set, the transaction cannot
    /// be committed.
    var partialChange: CambiumError?
    /// Reports to the references (`Ref`) to inserted records whether the transaction was committed; `nil` if no record was inserted.
    var outcome: TransactionOutcome?
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
    enum Recording { case ops, comparison }

    consuming func takeDraft() -> Draft { draft }

    /// The schema of the graph. Inside the closure of a migration, the new schema.
    public var schema: Schema { draft.schema }

    // MARK: Objects

    /// Inserts an object. Attributes without a value get their defaults.
    ///
    /// Throws `.invalidInput` for an abstract entity, an entity or attribute that the schema does not have, a derived attribute, or a value
    /// of the wrong type. Throws `.ruleViolated` for a value that the attribute does not allow. Throws `.limitExceeded` if the graph is
    /// full, or if the hierarchy has used all serials (the numbers in object ids). After an error, nothing is changed. Complexity: O(bytes
    /// of the values).
    public mutating func insert(_ entity: Entity, _ values: [(Attribute, Value)] = []) throws(CambiumError) -> ObjectID {
        let entity = try schema.current(entity)
        guard !entity.isAbstract else {
            throw CambiumError(.invalidInput, "'\(entity.name)' is abstract. Insert one of its sub-entities.")
        }
        for (attribute, value) in values { _ = try check(attribute, value, entity) }
        let serial = draft.nextSerial(of: entity.root)
        guard serial <= ObjectID.serialMax else {
            throw CambiumError(
                .limitExceeded,
                "The hierarchy of '\(entity.name)' has used all of its serials, the numbers in object ids. Create a new store, and import "
                    + "the objects into it.")
        }
        let id = ObjectID(root: entity.root, serial: serial)
        try record(.insert(id, entity: entity.number, values.map { Assignment($0.0.number, $0.1) }))
        return id
    }

    /// Inserts an object, and links it, with names instead of the schema's entities and attributes.
    ///
    /// ```swift
    /// let item = try transaction.insert("Item", ["name": "tickets"], links: ["note": [note], "tags": [red, urgent]])
    /// ```
    ///
    /// Throws as `insert(_:_:)` does. Also throws `.unknownName` for a name that the schema does not have. Throws as `link(_:_:_:at:)` does
    /// for an object that a relationship cannot hold. Throws `.invalidInput` for two targets of a to-one relationship. After one of these
    /// errors, nothing is changed. The graph may become full between the insertion and a link. Then the call throws `.limitExceeded`, and
    /// the transaction fails: each later call throws the error, and so does the commit. Complexity: O(bytes of the values + links).
    @discardableResult
    public mutating func insert(
        _ entity: String, _ values: KeyValuePairs<String, Value> = [:], links: KeyValuePairs<String, [ObjectID]> = [:]
    ) throws(CambiumError) -> ObjectID {
        let entity = try schema.required(entity)
        var resolved: [(Attribute, Value)] = []
        for (name, value) in values { resolved.append((try entity.requiredAttribute(name), value)) }
        if links.isEmpty { return try insert(entity, resolved) }
        let targets = try draft.linkTargets(links, of: entity)
        let id = try insert(entity, resolved)
        do throws(CambiumError) {
            for (relationship, target) in targets { try link(id, relationship, target) }
        } catch {
            // The targets were checked, so only a lack of pages or of disk space can prevent a link. The object was already inserted.
            partialChange = error
            throw error
        }
        return id
    }

    /// Changes an attribute. Setting the current value does not count as a change.
    ///
    /// Throws `.notFound` for a missing object. Throws `.invalidInput` for an attribute that the object's entity does not have, for a
    /// derived attribute, and for a value of the wrong type. Throws `.ruleViolated` for a value that the attribute does not allow, and
    /// `.limitExceeded` if the graph is full. After an error, nothing is changed. Complexity: O(bytes of the value).
    public mutating func set(_ id: ObjectID, _ attribute: Attribute, to value: Value) throws(CambiumError) {
        try set(id, [(attribute, value)])
    }

    /// Changes an attribute that is given by its name. Throws as `set(_:_:to:)` with an `Attribute` does. Also throws `.unknownName` if the
    /// entity does not have the attribute.
    public mutating func set(_ id: ObjectID, _ attribute: String, to value: Value) throws(CambiumError) {
        try set(id, try entity(of: id).requiredAttribute(attribute), to: value)
    }

    /// Changes several attributes of an object in one op. Throws as `set(_:_:to:)` does; in that case, no attribute is changed. Complexity:
    /// O(bytes of the values).
    public mutating func set(_ id: ObjectID, _ values: [(Attribute, Value)]) throws(CambiumError) {
        guard let place = draft.place(of: id), let entity = draft.entity(at: place) else { throw schema.missingObject(id) }
        var areCurrent = true
        for (attribute, value) in values where try check(attribute, value, entity) !== attribute { areCurrent = false }
        try checkUsable()
        var changed = draft.takeAssignments()
        defer { draft.recycle(&changed) }
        if areCurrent {
            try draft.set(values, at: place, &changed)
        } else {
            try draft.set(try current(values, entity), at: place, &changed)
        }
        if changed.isEmpty { return }
        if recording == .ops { ops.append(.set(id, changed)) } else { hookedObjects.append(id) }
    }

    /// Returns the values, with the attributes of the current schema in place of the caller's attributes.
    private func current(_ values: [(Attribute, Value)], _ entity: Entity) throws(CambiumError) -> [(Attribute, Value)] {
        var current: [(Attribute, Value)] = []
        for (attribute, value) in values { current.append((try check(attribute, value, entity), value)) }
        return current
    }

    /// Deletes objects, and the objects that their delete rules reach.
    ///
    /// Throws `.notFound` for a missing object, and `.limitExceeded` if the graph may have too few pages for the deletion. After an error,
    /// nothing is changed. Complexity: O(deleted objects and their links).
    public mutating func delete(_ ids: ObjectID...) throws(CambiumError) { try delete(ids) }

    /// Deletes an array of objects, as `delete(_:)` with single objects does. Throws the same errors. Does nothing if the array is empty.
    public mutating func delete(_ ids: [ObjectID]) throws(CambiumError) {
        for id in ids { _ = try entity(of: id) }
        if !ids.isEmpty { try record(.delete(ids)) }
    }

    // MARK: Reading what was written

    /// Returns whether the transaction has an object with this id. Complexity: O(log serials).
    public borrowing func contains(_ id: ObjectID) -> Bool { draft.contains(id) }

    /// The value of an attribute of an object, including the changes of the transaction. The value is `.null` if the object's entity does
    /// not have the attribute, and `nil` if there is no such object. Complexity: O(log serials + bytes of the value); for a derived
    /// attribute, also O(members that are read).
    public subscript(_ id: ObjectID, _ attribute: Attribute) -> Value? { draft.value(of: attribute, of: id) }

    /// Returns the ids of the objects to which a relationship of an object leads, including the changes of the transaction. The ids have
    /// the order of the relationship if it has one; otherwise, they are ascending. Returns `nil` if there is no object `id`, and no ids if
    /// the object's entity does not have the relationship. Complexity: O(members), and O(members x log members) for an unordered
    /// relationship.
    public borrowing func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        draft.members(relationship, of: id)
    }

    /// Returns the object whose only identity attribute has this text, or `nil` if there is no such object.
    package borrowing func find(_ entity: Entity, identity text: String) -> ObjectID? {
        draft.find(entity, identity: text)
    }

    /// Returns the id of the object with these identity values, in the order of `entity.identity`. Returns `nil` if there is no such
    /// object, or if a value is not of its attribute's type.
    ///
    /// If several objects have the values, which the commit would refuse, returns one of them. Complexity: O(1) expected.
    public borrowing func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        draft.find(entity, identity: values)
    }

    // MARK: Ops

    /// Applies an op, and records it unless a final comparison derives the ops. If this method throws, the op is neither applied nor
    /// recorded.
    mutating func record(_ op: Op) throws(CambiumError) {
        if recording == .comparison, case .delete = op { throw Self.refusal(of: "delete") }
        try checkUsable()
        try draft.apply(op)
        if recording == .ops { return ops.append(op) }
        if case .insert(let id, _, _) = op { hookedObjects.append(id) }
    }

    /// Returns the objects that a hook of an import has inserted or changed since the last call.
    mutating func takeHookedObjects() -> [ObjectID] {
        defer { hookedObjects.removeAll() }
        return hookedObjects
    }

    /// Throws if the transaction can no longer be committed, because a change failed halfway or its ops cannot be written.
    func checkUsable() throws(CambiumError) {
        try draft.checkUsable()
        if let partialChange { throw partialChange }
        try ops.check()
    }

    static func refusal(of verb: String) -> CambiumError {
        CambiumError(.invalidInput, "A hook of an import cannot \(verb) objects. Use a transaction after the import.")
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

    borrowing func entity(of id: ObjectID) throws(CambiumError) -> Entity {
        guard let entity = draft.entity(of: id) else { throw schema.missingObject(id) }
        return entity
    }

    /// Checks a value for an attribute, and returns the attribute of the current schema with the same number.
    private borrowing func check(_ attribute: Attribute, _ value: Value, _ entity: Entity) throws(CambiumError) -> Attribute {
        // The caller's attribute may belong to an equal schema, such as the schema that the store was created with, or to an earlier
        // schema.
        guard let own = entity.attribute(attribute.number),
            own === attribute || (own.name == attribute.name && own.root == attribute.root)
        else {
            throw CambiumError(
                .invalidInput, "'\(entity.name)' has no attribute '\(attribute.name)'. Look the attribute up in the newest graph's schema.")
        }
        if let violation = own.violation(by: value) {
            throw CambiumError(.ruleViolated, "'\(entity.name).\(attribute.name)' \(violation). Pass another value.")
        }
        return own
    }
}
