import CambiumGraph
import CambiumModel

/// The parts of an edit that the store's side wins, so that the edit does not apply them.
struct EditDrops {
    var attributes = Set<EditPlace>()
    /// The to-one and ordered relationships that stay as in the store.
    var ends = Set<EditPlace>()
    /// The objects that stay as in the store.
    var objects = Set<ObjectID>()
    /// The ordered relationships that get exactly the edit's members, although the store changed them.
    var forced = Set<EditPlace>()

    init() {}

    /// Resolves conflicts by a policy. Throws `.conflict` with the conflicts that the policy does not resolve.
    init(_ conflicts: [EditConflict], _ policy: EditPolicy, of edit: Edit) throws(CambiumError) {
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
        if deletions.isEmpty { return }
        // The objects that one call deleted depend on each other by cascades, so all of them stay.
        for (id, state) in edit.overlay.objects where state.deletion.map(deletions.contains) == true { objects.insert(id) }
    }

    /// Removes the links that objects and relationships of the store's side rule out. If a to-one relationship loses a change, it loses all
    /// of its changes, and so do the to-one relationships at the other ends of its links.
    mutating func reduce(_ links: inout EditLinks) {
        if ends.isEmpty, objects.isEmpty { return }
        while true {
            let kept = links.all.filter { !rulesOut($0) }
            if kept.count == links.all.count { return }
            for link in links.all where rulesOut(link) {
                for (place, relationship) in link.ends where !relationship.isToMany { ends.insert(place) }
            }
            links.all = kept
        }
    }

    private func rulesOut(_ link: EditLink) -> Bool {
        objects.contains(link.id) || objects.contains(link.target) || link.ends.contains { ends.contains($0.place) }
    }
}
