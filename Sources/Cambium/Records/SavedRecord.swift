import CambiumGraph
import CambiumModel

/// The object of a record, as it was when the record was read or last saved. A save writes what differs from it.
struct SavedRecord {
    private let id: ObjectID
    private let graph: Graph?
    private let entity: Entity?
    private let kept: KeptProperties?

    /// Returns `nil` if nothing is known about the object: if there is no graph with the object, and the record has kept no properties.
    init?(_ id: ObjectID, _ graph: Graph?, _ kept: KeptProperties?) {
        let entity = graph?.entity(of: id)
        if entity == nil, kept == nil { return nil }
        (self.id, self.graph, self.entity, self.kept) = (id, graph, entity, kept)
    }

    /// Returns the value of an attribute, in the type that the attribute has now. A migration may have changed the type since. Returns
    /// `nil` if the object did not have the attribute.
    func value(_ attribute: Attribute) -> Value? {
        if let value = kept?.values[attribute.number] { return value }
        guard let own = entity?.attribute(attribute.number), let value = graph?[id, own] else { return nil }
        return own.type.converted(value, to: attribute.type) ?? value
    }

    /// Returns the members of a relationship, or `nil` if the object did not have the relationship.
    func members(_ relationship: Relationship) -> [ObjectID]? {
        kept?.members[relationship.number] ?? members(relationship, of: id)
    }

    /// Returns the members that a relationship of another object had at the same time.
    func members(_ relationship: Relationship, of other: ObjectID) -> [ObjectID]? {
        guard let own = graph?.entity(of: other)?.relationship(relationship.number) else { return nil }
        return graph?.members(own, of: other)
    }
}

/// The properties that a record kept in a save although the store has other values or members: another writer has changed them since the
/// record was read, and the record has not.
struct KeptProperties: Sendable {
    var values: [PropertyNumber: Value] = [:]
    var members: [PropertyNumber: [ObjectID]] = [:]

    var isEmpty: Bool { values.isEmpty && members.isEmpty }
}

/// Conflicts of a save with changes that other writers have made since the record was read.
extension RecordWriter {
    func conflict(
        _ id: ObjectID, _ subject: EditConflict.Subject, _ base: EditConflict.State, _ mine: EditConflict.State,
        _ theirs: EditConflict.State
    ) -> EditConflict {
        let original = target.original
        var names: [ObjectID: String] = [:]
        for case .members(let ids) in [base, mine, theirs] {
            for id in ids.prefix(EditConflict.memberCountMax) { names[id] = original.name(of: id) }
        }
        let entity = original.entity(of: id) ?? current.binding.entity
        return EditConflict(
            id: id, entity: entity, subject: subject, use: .written, base: base, mine: mine, theirs: theirs, schema: original.schema,
            laterSchema: original.schema, storeKey: target.storeKey, names: names, isRemoved: false)
    }

    /// Returns whether the save writes a relationship that the record changes to `mine`. Throws `.conflict` if another writer has changed
    /// the relationship since the record was read, unless the policy resolves the conflict.
    func wins(_ id: ObjectID, _ relationship: Relationship, read: [ObjectID], mine: [ObjectID]) throws -> Bool {
        let theirs = target.original.members(relationship, of: id) ?? []
        if theirs == read || theirs == mine { return true }
        let conflict = conflict(id, .relationship(relationship), .members(read), .members(mine), .members(theirs))
        guard let winner = policy.winner(of: conflict) else { throw EditConflicts(conflicts: [conflict]).errorOfSave }
        return winner == .mine
    }

    /// Returns whether the save may link a member whose to-one inverse would lose its object. Throws as `wins` does if another writer has
    /// changed this inverse.
    func wins(_ member: ObjectID, _ inverse: Relationship?, for id: ObjectID) throws -> Bool {
        guard let inverse, !inverse.isToMany, let read = current.before?.members(inverse, of: member) else { return true }
        return try wins(member, inverse, read: read, mine: [id])
    }
}
