package import CambiumModel

/// Finds the changes that undo one transaction, or several in succession, and the later changes that contradict them.
///
/// A value contradicts the undo if it now differs from the value that the transactions left. For a to-many relationship, each link counts
/// alone: a later link to another object is no contradiction. Any change of an inserted object contradicts its deletion.
package struct InverseFinder {
    /// A set of distinct ids that is hashed when it is first asked. An undo of an import adds each of its objects, and asks only if there
    /// are links.
    struct DeferredSet {
        private var added: [ObjectID] = []
        private var hashed: Set<ObjectID> = []

        mutating func insert(_ id: ObjectID) { added.append(id) }

        mutating func contains(_ id: ObjectID) -> Bool {
            if !added.isEmpty {
                hashed.formUnion(added)
                added = []
            }
            return hashed.contains(id)
        }
    }

    /// The graph after the transactions.
    let after: Graph
    /// The present graph.
    let now: Graph
    let changes: Changes
    /// Whether the undo replaces values that contradict it.
    let forces: Bool
    let transactions: ClosedRange<TransactionNumber>
    package internal(set) var inverse = InverseChanges()
    package private(set) var conflicts: [UndoConflict] = []
    private var subjects: Set<UndoConflict.Subject> = []
    /// The objects that come back.
    var revived = DeferredSet()
    /// The objects that the transactions deleted and that exist again.
    var returned: Set<ObjectID> = []
    /// The objects that the undo deletes.
    var dying = DeferredSet()
    var seenLinks: Set<LinkKey> = []

    /// Finds the inverse of `changes`, which lead from the graph before the transactions to the graph after them. Both graphs must have the
    /// same schema. Complexity: O(changes + members of ordered relationships that changed).
    package init(_ changes: Changes, _ transactions: ClosedRange<TransactionNumber>, now: Graph, forces: Bool) {
        (self.changes, self.transactions, self.now, self.forces) = (changes, transactions, now, forces)
        after = changes.after
        let others = findObjects()
        for change in others where change.kind == .changed { restore(change) }
        for change in others { restoreLinks(of: change) }
        unlinkMembers()
        restoreLabels()
    }

    private var before: Graph { changes.before }

    // MARK: Objects

    /// Finds the objects to delete and to bring back. Returns the changes of all objects except the inserted ones.
    private mutating func findObjects() -> [ObjectChange] {
        var comparison = ObjectComparison(after, now)
        var others: [ObjectChange] = []
        for change in changes {
            if change.kind == .inserted {
                remove(change.id, &comparison)
                continue
            }
            if change.kind == .deleted { revive(change.id) }
            others.append(change)
        }
        return others
    }

    private mutating func remove(_ id: ObjectID, _ comparison: inout ObjectComparison) {
        // If the undone transactions are the newest ones, no later change contradicts the undo.
        if after.transaction != now.transaction {
            guard let left = after.place(of: id), let present = now.place(of: id) else {
                return track(.object(id), left: .present, now: .absent)
            }
            let differences = comparison.differences(left, present)
            for subject in differences { trackDifference(subject) }
            let (wasStub, isStub) = (after.isStub(left), now.isStub(present))
            if wasStub != isStub { track(.object(id), left: wasStub ? .stub : .present, now: isStub ? .stub : .present) }
            if !differences.isEmpty || wasStub != isStub, !forces { return }
        }
        dying.insert(id)
        inverse.deleted.append(id)
    }

    private mutating func revive(_ id: ObjectID) {
        guard let place = before.place(of: id) else { return }
        if let present = now.place(of: id) {
            track(.object(id), left: .absent, now: .present)
            returned.insert(id)
            if forces { overwrite(id, now.entity(of: present), place) }
            return
        }
        guard let entity = now.schema.entity(before.entity(of: place).number), !entity.isAbstract, entity.root == id.root else {
            return track(.object(id), left: .absent, now: .absent)
        }
        revived.insert(id)
        let revival = InverseChanges.Revival(
            id: id, entity: entity.number, values: values(of: place, for: entity), source: before.source(of: place)?.serial ?? 0,
            isStub: before.isStub(place))
        inverse.revivals.append(revival)
    }

    private mutating func overwrite(_ id: ObjectID, _ entity: Entity, _ place: ObjectPlace) {
        inverse.values.append((id, values(of: place, for: entity)))
    }

    /// Returns all stored values of an object in the former graph, as values of the present schema.
    private func values(of place: ObjectPlace, for entity: Entity) -> [Assignment] {
        let former = before.entity(of: place)
        return entity.attributes.compactMap { attribute in
            guard !attribute.isDerived, let own = former.attribute(attribute.number) else { return nil }
            let value = before.value(of: before.field(own), at: place)
            // A null needs no assignment, unless the attribute would get its default instead.
            if value.isNull, attribute.defaultValue.isNull { return nil }
            return Assignment(attribute.number, own.type.converted(value, to: attribute.type) ?? value)
        }
    }

    // MARK: Values

    private mutating func restore(_ change: ObjectChange) {
        let attributes = change.attributes.filter { !$0.attribute.isDerived }
        if attributes.isEmpty, !change.changesStub, change.relationships.isEmpty { return }
        guard let place = now.place(of: change.id) else { return track(.object(change.id), left: .present, now: .absent) }
        let entity = now.entity(of: place)
        var assignments: [Assignment] = []
        for value in attributes {
            guard let own = entity.attribute(value.attribute.number), !own.isDerived else {
                track(.attribute(change.id, value.attribute), left: .value(value.after), now: .absent)
                continue
            }
            let left = value.attribute.type.converted(value.after, to: own.type) ?? value.after
            let present = now.value(of: now.field(own), at: place)
            // The attribute has its present name, because a migration may have renamed it.
            if left != present { track(.attribute(change.id, own), left: .value(left), now: .value(present)) }
            let former = value.attribute.type.converted(value.before, to: own.type) ?? value.before
            if (left == present || forces) && former != present { assignments.append(Assignment(own.number, former)) }
        }
        if !assignments.isEmpty { inverse.values.append((change.id, assignments)) }
        if change.changesStub { restoreStub(change.id, place) }
    }

    private mutating func restoreStub(_ id: ObjectID, _ place: ObjectPlace) {
        guard let former = before.place(of: id), now.isStub(place) != before.isStub(former) else { return }
        inverse.marks.append(.init(id: id, source: now.source(of: place)?.serial ?? 0, isStub: before.isStub(former)))
    }

    // MARK: Labels

    private mutating func restoreLabels() {
        if before.sharesLabels(with: after) { return }
        let changed = changes.labels
        if changed.isEmpty { return }
        let present = now.labels
        for label in changed {
            let own = present[label.name]
            if own != label.after {
                track(.label(label.name), left: label.after.map { .moment($0) } ?? .absent, now: own.map { .moment($0) } ?? .absent)
                if !forces { continue }
            }
            if own != label.before { inverse.labels.append((label.name, label.before ?? .none)) }
        }
    }

    // MARK: Conflicts

    /// Records a conflict about an inserted object, or about a link to it.
    private mutating func trackDifference(_ subject: UndoConflict.Subject) {
        switch subject {
        case .attribute(let id, let attribute):
            let own = now.entity(of: id)?.attribute(attribute.number)
            let present = own.flatMap { now.value(of: $0, of: id) } ?? .null
            track(.attribute(id, own ?? attribute), left: .value(after.value(of: attribute, of: id) ?? .null), now: .value(present))
        case .relationship(let id, let relationship): trackMembers(id, relationship)
        case .object, .label: preconditionFailure("A comparison of one object reports only its properties.")
        }
    }

    /// Records that the members of a relationship differ from those that the transactions left.
    mutating func trackMembers(_ id: ObjectID, _ relationship: Relationship) {
        let own = now.schema.relationship(relationship.number, ofRoot: relationship.root)
        let present = own.flatMap { now.members($0, of: id) }
        let left = after.schema.relationship(relationship.number, ofRoot: relationship.root).flatMap { after.members($0, of: id) }
        let states = [left, present].map { members in members.map { UndoConflict.State.members($0) } ?? .absent }
        track(.relationship(id, own ?? relationship), left: states[0], now: states[1])
    }

    mutating func track(_ subject: UndoConflict.Subject, left: UndoConflict.State, now present: UndoConflict.State) {
        guard subjects.insert(subject).inserted else { return }
        var names: [ObjectID: String] = [:]
        func add(_ id: ObjectID) { names[id] = now.fullName(of: id) ?? after.fullName(of: id) ?? before.fullName(of: id) }
        switch subject {
        case .attribute(let id, _), .relationship(let id, _), .object(let id): add(id)
        case .label: break
        }
        for case .members(let ids) in [left, present] { ids.forEach(add) }
        conflicts.append(UndoConflict(subject: subject, left: left, now: present, transactions: transactions, names: names))
    }
}
