import CambiumGraph
import CambiumModel

/// Tracking the changes to objects whose records the transaction has read or saved (`RecordJournal`).
extension WriteTransaction {
    /// A change of the members of one object, which is tracked once the op has been applied.
    typealias MemberChange = (place: RecordJournal.Place, change: RecordJournal.MemberChange)

    /// Returns the value of each attribute, if the object must be tracked. Otherwise returns an empty array.
    borrowing func trackedValues(_ id: ObjectID, _ values: [(Attribute, Value)]) -> [(RecordJournal.Place, Value)] {
        // The hooks of an import may change millions of objects, but keep no records from one row to the next.
        guard recording == .ops, let outcome, outcome.withJournal({ $0.isWatched(id) }) else { return [] }
        return values.map { attribute, _ in
            (RecordJournal.Place(id: id, property: attribute.number), draft.value(of: attribute, of: id) ?? .null)
        }
    }

    /// Tracks the values that a change has replaced.
    borrowing func track(_ before: [(RecordJournal.Place, Value)]) {
        if before.isEmpty { return }
        outcome?.withJournal { for (place, value) in before { $0.track(place, before: value) } }
    }

    borrowing func track(_ changes: [MemberChange]) {
        if changes.isEmpty { return }
        outcome?.withJournal { for (place, change) in changes { $0.track(place, change) } }
    }

    /// Returns the changes that an op will make to the members of tracked objects. A deletion is not tracked, because saving a record that
    /// contains a ref to a deleted object is an error. Complexity: O(log members).
    borrowing func memberChanges(of op: Op) -> [MemberChange] {
        guard recording == .ops, outcome != nil else { return [] }
        switch op {
        case .link(let id, let property, let target, let index): return linkChanges(id, property, target, index)
        case .unlink(let id, let property, let target):
            guard let ends = ends(id, property), draft.isLinked(id, ends.relationship, target) else { return [] }
            var changes = [removal(of: target, from: id, ends.relationship)]
            if let inverse = ends.inverse { changes.append(removal(of: id, from: target, inverse)) }
            return watched(changes)
        case .move(let id, let property, let target, _):
            guard let ends = ends(id, property) else { return [] }
            return watched([move(of: target, in: id, ends.relationship)])
        default: return []
        }
    }

    private borrowing func linkChanges(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int?
    ) -> [MemberChange] {
        guard let (relationship, inverse) = ends(id, property) else { return [] }
        if draft.isLinked(id, relationship, target) {
            return relationship.isOrdered && index != nil ? watched([move(of: target, in: id, relationship)]) : []
        }
        var changes: [MemberChange] = []
        if !relationship.isToMany, let former = draft.members(relationship, of: id)?.first {
            changes.append(removal(of: former, from: id, relationship))
            if let inverse { changes.append(removal(of: id, from: former, inverse)) }
        }
        if let inverse, !inverse.isToMany, let former = draft.members(inverse, of: target)?.first {
            changes += [removal(of: target, from: former, relationship), removal(of: former, from: target, inverse)]
        }
        changes.append((RecordJournal.Place(id: id, property: relationship.number), .added(target)))
        if let inverse { changes.append((RecordJournal.Place(id: target, property: inverse.number), .added(id))) }
        return watched(changes)
    }

    private borrowing func ends(_ id: ObjectID, _ property: PropertyNumber) -> (relationship: Relationship, inverse: Relationship?)? {
        guard let relationship = draft.entity(of: id)?.relationship(property) else { return nil }
        return (relationship, relationship.inverse.flatMap { schema.relationship($0, ofRoot: relationship.destinationRoot) })
    }

    private borrowing func removal(of member: ObjectID, from id: ObjectID, _ relationship: Relationship) -> MemberChange {
        let index = draft.memberIndex(of: member, in: relationship, of: id) ?? 0
        return (RecordJournal.Place(id: id, property: relationship.number), .removed(member, index: index))
    }

    private borrowing func move(of member: ObjectID, in id: ObjectID, _ relationship: Relationship) -> MemberChange {
        let index = draft.memberIndex(of: member, in: relationship, of: id) ?? 0
        return (RecordJournal.Place(id: id, property: relationship.number), .moved(member, from: index))
    }

    private borrowing func watched(_ changes: [MemberChange]) -> [MemberChange] {
        outcome?.withJournal { journal in changes.filter { journal.isWatched($0.place.id) } } ?? []
    }
}
