import CambiumGraph
import CambiumModel

/// The destination of the changes of an edit or of records: a transaction or an edit.
package struct ChangeTarget: ~Copyable {
    // Exactly one of `transaction` and `edit` is not `nil`, so each method changes one of them.
    package var transaction: WriteTransaction?
    package private(set) var edit: Edit?
    /// The graph without the changes of the transaction or the edit, which other writers have made.
    package let original: Graph
    /// Whether a call may have changed the transaction.
    package private(set) var hasChanged = false

    package init(_ transaction: consuming WriteTransaction) {
        original = transaction.draft.original
        self.transaction = consume transaction
    }

    package init(_ edit: consuming Edit) {
        original = edit.base
        self.edit = consume edit
    }

    package consuming func takeTransaction() -> WriteTransaction {
        guard let transaction else { preconditionFailure("Only the target of a transaction can return a transaction.") }
        return transaction
    }

    package consuming func takeEdit() -> Edit {
        guard let edit else { preconditionFailure("Only the target of an edit can return an edit.") }
        return edit
    }

    // MARK: Objects

    package func contains(_ id: ObjectID) -> Bool { transaction?.contains(id) ?? edit?.contains(id) ?? false }

    /// Returns the entity of an object, or `nil` if there is no such object. Does not count as a read of the caller.
    func liveEntity(of id: ObjectID) -> Entity? { edit == nil ? transaction?.entityOfDraft(id) : edit?.liveEntity(of: id) }

    package func find(_ entity: Entity, key: [IdentityKeyPart]) -> ObjectID? {
        transaction?.find(entity, key: key) ?? edit?.foundByIdentity(entity, key)
    }

    package func value(_ attribute: Attribute, of id: ObjectID) -> Value {
        transaction?.valueOfDraft(attribute, of: id) ?? edit?.current(attribute, of: id) ?? .null
    }

    /// Inserts an object, and returns its id in the target.
    ///
    /// - Parameter id: The provisional id that the object keeps in an edit; `nil` for a new one.
    package mutating func insert(
        _ entity: Entity, _ values: [(Attribute, Value)], as id: ObjectID? = nil
    ) throws(CambiumError) -> ObjectID {
        if let id, let inserted = try edit?.insert(id, as: entity, values) { return inserted }
        if let inserted = try edit?.insert(entity, values) { return inserted }
        if let inserted = try transaction?.insert(entity, values) {
            hasChanged = true
            return inserted
        }
        preconditionFailure("A target has a transaction or an edit.")
    }

    package mutating func set(_ id: ObjectID, _ values: [(Attribute, Value)]) throws(CambiumError) {
        try transaction?.set(id, values)
        try edit?.set(id, values)
        hasChanged = true
    }

    package mutating func delete(_ ids: [ObjectID]) throws(CambiumError) {
        try transaction?.delete(ids)
        try edit?.delete(ids)
        hasChanged = true
    }

    // MARK: Links

    /// Returns the inverse of a relationship, or `nil` if the schema names no inverse.
    package func inverse(_ relationship: Relationship) -> Relationship? {
        relationship.inverse.flatMap { original.schema.relationship($0, ofRoot: relationship.destinationRoot) }
    }

    /// Returns the members of a relationship that the object's entity has.
    package func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        transaction?.members(relationship, of: id) ?? edit?.currentMembers(relationship, of: id) ?? []
    }

    package mutating func link(
        _ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int? = nil
    ) throws(CambiumError) {
        try transaction?.link(id, relationship, target, at: index)
        try edit?.link(id, relationship, target, at: index)
        hasChanged = true
    }

    package mutating func unlink(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) throws(CambiumError) {
        try transaction?.unlink(id, relationship, target)
        try edit?.unlink(id, relationship, target)
        hasChanged = true
    }

    package mutating func move(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, to index: Int) throws(CambiumError) {
        try transaction?.move(id, relationship, target, to: index)
        try edit?.move(id, relationship, target, to: index)
        hasChanged = true
    }

    /// Puts the members of an ordered relationship into the order of `members`. An edit writes the whole list, whatever the change, so this
    /// call costs no more than moving one member.
    package mutating func reorder(_ id: ObjectID, _ relationship: Relationship, _ members: [ObjectID]) throws(CambiumError) {
        edit?.reorder(id, relationship, members)
        if edit != nil { return }
        for step in MemberOrder.steps(from: self.members(relationship, of: id), to: members) {
            try move(id, relationship, step.member, to: step.index)
        }
    }
}

extension WriteTransaction {
    // `transaction` is an optional of a type that cannot be copied. Swift can read a property or a subscript of its content only through a
    // method.
    fileprivate func entityOfDraft(_ id: ObjectID) -> Entity? { draft.entity(of: id) }

    fileprivate func valueOfDraft(_ attribute: Attribute, of id: ObjectID) -> Value? { self[id, attribute] }
}
