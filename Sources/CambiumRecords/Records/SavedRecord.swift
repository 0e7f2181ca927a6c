import CambiumGraph
import CambiumModel

/// The object of a record, as it was when the record was read or last saved. A save writes what differs from it.
struct SavedRecord {
    /// The state in which the record was read or saved.
    enum State {
        case graph(Graph)
        /// A state of the edit in which the record is saved again, or of a copy of this edit.
        case edit(EditMoment.State, isPreview: Bool)
        /// A moment of a transaction, and the graph after the transaction; no graph if the transaction is in progress.
        case transaction(TransactionOutcome, at: Int, Graph?)
        /// A state of an edit that was committed.
        case committed(Edit, PermanentIDs, isPreview: Bool)
    }

    private let id: ObjectID
    private let state: State?
    private let entity: Entity?
    private let kept: KeptProperties?

    /// Returns `nil` if nothing is known about the object: if the state does not contain the object, and the record has kept no properties.
    ///
    /// - Parameter current: The entity of the object in the transaction or edit in which the record is saved.
    init?(_ id: ObjectID, _ state: State?, _ kept: KeptProperties?, current: Entity?) {
        let entity = state.flatMap { $0.isInProgress ? current : $0.entity(of: id) }
        if entity == nil, kept == nil { return nil }
        (self.id, self.state, self.entity, self.kept) = (id, state, entity, kept)
    }

    /// Returns the value of an attribute, in the type that the attribute has now. A migration may have changed the type since. Returns
    /// `nil` if the object did not have the attribute.
    ///
    /// - Parameter present: The value that the object has in the transaction that is in progress.
    func value(_ attribute: Attribute, present: @autoclosure () -> Value) -> Value? {
        if let value = kept?.values[attribute.number] { return value }
        if let state, state.isInProgress {
            if attribute.isDerived { return nil }
            return state.former(RecordJournal.Place(id: id, property: attribute.number)) ?? present()
        }
        guard let own = entity?.attribute(attribute.number), let value = state?.value(own, of: id) else { return nil }
        return own.type.converted(value, to: attribute.type) ?? value
    }

    /// Returns the members of a relationship, or `nil` if the object did not have the relationship.
    ///
    /// - Parameter present: The members that the object has in the transaction that is in progress.
    func members(_ relationship: Relationship, present: @autoclosure () -> [ObjectID]) -> [ObjectID]? {
        kept?.members[relationship.number].map { state?.permanent($0) ?? $0 } ?? members(relationship, of: id, present: present())
    }

    /// Returns the members that a relationship of another object had at the same time.
    func members(_ relationship: Relationship, of other: ObjectID, present: @autoclosure () -> [ObjectID]) -> [ObjectID]? {
        if case .transaction(let outcome, let moment, let graph) = state {
            let place = RecordJournal.Place(id: other, property: relationship.number)
            guard let present = graph == nil ? present() : state?.members(relationship, of: other) else { return nil }
            return outcome.withJournal { $0.members(place, isOrdered: relationship.isOrdered, at: moment, present: present) }
        }
        return state?.members(relationship, of: other)
    }

    // MARK: A save that may have been undone

    /// Returns the value that an attribute had before the last save of the record, if this save changed it in the edit. If the edit has
    /// this value again, the save was undone, or the edit is a copy in which the record was not saved.
    func formerValue(_ attribute: Attribute) -> Value? {
        guard case .edit(let state, _) = state, kept?.values[attribute.number] == nil else { return nil }
        return state.formerValues[EditPlace(id, attribute.number)]
    }

    /// Returns the members that a relationship had before the last save of the record, if this save changed them in the edit.
    func formerMembers(_ relationship: Relationship) -> [ObjectID]? {
        guard case .edit(let state, _) = state, kept?.members[relationship.number] == nil else { return nil }
        return state.formerMembers[EditPlace(id, relationship.number)]
    }
}

extension SavedRecord.State {
    /// Whether the record was read or saved in the transaction that is in progress.
    fileprivate var isInProgress: Bool { if case .transaction(_, _, nil) = self { true } else { false } }

    /// Returns the value that an attribute had at the moment of the transaction, if the transaction has changed it since.
    fileprivate func former(_ place: RecordJournal.Place) -> Value? {
        guard case .transaction(let outcome, let moment, _) = self else { return nil }
        return outcome.withJournal { $0.value(place, at: moment) }
    }

    fileprivate func entity(of id: ObjectID) -> Entity? {
        switch self {
        case .graph(let graph), .transaction(_, _, let graph?): graph.entity(of: id)
        case .transaction(_, _, nil): nil
        case .edit(let state, _): state.edit.knownEntity(of: id)
        case .committed(let edit, let ids, _): edit.knownEntity(of: ids.provisional(id))
        }
    }

    /// Returns the value of an attribute, or `nil` if it is not known.
    fileprivate func value(_ attribute: Attribute, of id: ObjectID) -> Value? {
        switch self {
        case .graph(let graph): graph[id, attribute]
        case .transaction(_, _, let graph): former(RecordJournal.Place(id: id, property: attribute.number)) ?? graph?[id, attribute]
        case .edit(let state, let isPreview): isPreview && attribute.isDerived ? nil : state.edit.current(attribute, of: id)
        case .committed(let edit, let ids, let isPreview):
            isPreview && attribute.isDerived ? nil : edit.current(attribute, of: ids.provisional(id))
        }
    }

    /// Returns the members of the relationship that has the same number as `relationship`, or `nil` if there is no such relationship.
    fileprivate func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        switch self {
        case .transaction(_, _, nil): return nil
        case .graph(let graph), .transaction(_, _, let graph?):
            return graph.entity(of: id)?.relationship(relationship.number).flatMap { graph.members($0, of: id) }
        case .edit(let state, _):
            return state.edit.knownEntity(of: id)?.relationship(relationship.number).map { state.edit.currentMembers($0, of: id) }
        case .committed(let edit, let ids, _):
            let id = ids.provisional(id)
            guard let own = edit.knownEntity(of: id)?.relationship(relationship.number) else { return nil }
            let members = permanent(edit.currentMembers(own, of: id))
            return own.isOrdered ? members : members.sorted()
        }
    }

    /// Replaces provisional ids by the permanent ones.
    fileprivate func permanent(_ members: [ObjectID]) -> [ObjectID] {
        guard case .committed(_, let ids, _) = self else { return members }
        return members.map { ids.byProvisional[$0] ?? $0 }
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
            laterSchema: original.schema, storeKey: target.original.storeKey, names: names, isRemoved: false)
    }

    /// Returns whether the save writes a relationship that the record changes to `mine`. Throws `.conflict` if the relationship has been
    /// changed since the record was read, unless the policy resolves the conflict. Changes of this save do not count.
    func wins(_ id: ObjectID, _ relationship: Relationship, read: [ObjectID], mine: [ObjectID]) throws -> Bool {
        let theirs = membersBefore(relationship, of: id)
        if isSame(theirs, read, relationship, of: id) || isSame(theirs, mine, relationship, of: id) { return true }
        let conflict = conflict(id, .relationship(relationship), .members(read), .members(mine), .members(theirs))
        guard let winner = policy.winner(of: conflict) else { throw EditConflicts(conflicts: [conflict]).errorOfSave }
        return winner == .mine
    }

    /// Returns whether the save may link a member whose to-one inverse would lose its object. Throws as `wins` does if this inverse has
    /// been changed.
    func wins(_ member: ObjectID, _ inverse: Relationship?, for id: ObjectID) throws -> Bool {
        guard let inverse, !inverse.isToMany,
            let read = current.before?.members(inverse, of: member, present: target.members(inverse, of: member))
        else { return true }
        return try wins(member, inverse, read: read, mine: [id])
    }

    /// Whether an edit does not have the change that the last save of the record made to a relationship. `read` are the members after
    /// that save.
    func isUndone(_ id: ObjectID, _ relationship: Relationship, read: [ObjectID]) -> Bool {
        guard let former = current.before?.formerMembers(relationship), !isSame(former, read, relationship, of: id) else { return false }
        return isSame(membersBefore(relationship, of: id), former, relationship, of: id)
    }
}
