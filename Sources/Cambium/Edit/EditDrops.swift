import CambiumGraph
import CambiumModel

/// The parts of an edit that are not applied, because the store wins a conflict.
struct EditDrops {
    var attributes = Set<EditPlace>()
    /// The to-one and ordered relationships that stay as they are in the store.
    var ends = Set<EditPlace>()
    /// The objects that stay as they are in the store.
    var objects = Set<ObjectID>()
    /// The ordered relationships that get exactly the members of the edit, although their members in the store have changed.
    var forced = Set<EditPlace>()
    /// The store's graph, with which the edit was compared; `nil` if no conflicts were resolved.
    private var theirs: Graph?

    init() {}

    /// Resolves conflicts by a policy. Throws `.conflict` with the conflicts that the policy does not resolve.
    init(_ conflicts: [EditConflict], _ policy: EditPolicy, of edit: Edit, on theirs: Graph) throws(CambiumError) {
        self.theirs = theirs
        var open: [EditConflict] = []
        var deletions = Set<Int>()
        for conflict in conflicts {
            guard let winner = policy.winner(of: conflict) else {
                open.append(conflict)
                continue
            }
            if conflict.use == .read { continue }
            switch (conflict.subject, winner) {
            case (.attribute(let attribute), .theirs): attributes.insert(EditPlace(conflict.id, attribute.number))
            case (.relationship(let relationship), .theirs): ends.insert(EditPlace(conflict.id, relationship.number))
            case (.relationship(let relationship), .mine) where relationship.isOrdered:
                forced.insert(EditPlace(conflict.id, relationship.number))
            case (.object, .theirs):
                objects.insert(conflict.id)
                if let deletion = edit.overlay[conflict.id]?.deletion { deletions.insert(deletion) }
            case (.attribute, .mine), (.relationship, .mine), (.object, .mine): break
            }
        }
        if !open.isEmpty { throw EditConflicts(conflicts: open).error }
        keep(deletions, edit)
    }

    /// Discards calls of `Edit.delete`. The objects that one call deleted depend on each other by cascades, so all of them stay as they are
    /// in the store.
    private mutating func keep(_ deletions: Set<Int>, _ edit: Edit) {
        if deletions.isEmpty { return }
        for (id, state) in edit.overlay.objects where state.deletion.map(deletions.contains) == true { objects.insert(id) }
    }

    /// Removes changes of links that cannot be applied, because objects or relationships stay as they are in the store.
    ///
    /// Repeats the removal, because a dropped change can rule out other changes. If a to-one relationship loses a change, it loses all of
    /// its changes, and so do the to-one relationships at the other ends. If the edit removed a link before it deleted one of the two
    /// linked objects, and the link now stays, the deleted object also stays. Otherwise, the cascade of the deletion would reach the other
    /// object of the link. A deletion whose cascade would reach an object that stays is dropped, too.
    mutating func reduce(_ links: inout EditLinks, of edit: Edit) {
        if ends.isEmpty, objects.isEmpty { return }
        while true {
            let dropped = links.all.filter(rulesOut)
            links.all.removeAll(where: rulesOut)
            var deletions = deletionsReachingObjects(edit)
            if dropped.isEmpty, deletions.isEmpty { return }
            for link in dropped {
                for (place, relationship) in link.ends where !relationship.isToMany { ends.insert(place) }
                if link.kind == .added { continue }
                deletions.formUnion([link.id, link.target].compactMap { edit.overlay[$0]?.deletion })
            }
            keep(deletions, edit)
        }
    }

    /// Returns the calls of `delete` whose cascade would reach an object that stays as it is in the store.
    private func deletionsReachingObjects(_ edit: Edit) -> Set<Int> {
        guard let theirs, !objects.isEmpty else { return [] }
        var found = Set<Int>()
        for (id, state) in edit.overlay.objects where !objects.contains(id) {
            guard let deletion = state.deletion, let entity = theirs.entity(of: id) else { continue }
            for relationship in entity.relationships where relationship.deleteRule == .cascade {
                if theirs.members(relationship, of: id)?.contains(where: objects.contains) == true { found.insert(deletion) }
            }
        }
        return found
    }

    private func rulesOut(_ link: EditLink) -> Bool {
        objects.contains(link.id) || objects.contains(link.target) || link.ends.contains { ends.contains($0.place) }
    }
}
