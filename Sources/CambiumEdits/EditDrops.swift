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
            // `reduce` removes the links that the newer graph cannot hold.
            case (.relationship, _) where conflict.isRemoved: break
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

    /// Discards the effects of calls to `Edit.delete`. The objects that one call deleted depend on each other by cascades, so all of them
    /// stay as they are in the store.
    private mutating func keep(_ deletions: Set<Int>, _ edit: Edit) {
        if deletions.isEmpty { return }
        for (id, state) in edit.overlay.objects where state.deletion.map(deletions.contains) == true { objects.insert(id) }
    }

    /// Removes changes to links that cannot be applied, because objects or relationships stay as they are in the store, or because a
    /// migration removed the relationships.
    ///
    /// A dropped change can rule out other changes. If a to-one relationship loses a change, it loses all of its changes, and so do the
    /// to-one relationships at the other ends. If the edit removed a link before it deleted one of the two linked objects, and the link now
    /// stays, the deleted object also stays. Otherwise, the cascade of the deletion would reach the other object of the link. A deletion
    /// whose cascade would reach an object that stays is dropped, too.
    ///
    /// Complexity: O(links + deleted objects + the objects and links that the cascade of each call to `delete` reaches in the store).
    mutating func reduce(_ links: inout EditLinks, of edit: Edit) {
        // A dropped change to a removed relationship leaves no link in the store, so it rules out no other changes.
        if let theirs, theirs.schema !== edit.base.schema { links.all.removeAll { edit.isLost($0, in: theirs) } }
        if ends.isEmpty, objects.isEmpty { return }
        let dependencies = EditDependencies(links.all, of: edit, on: theirs)
        var dropped = Set<Int>()
        var newEnds = Array(ends)
        var newObjects = Array(objects)
        while true {
            let next: [Int]
            var deletions: [Int] = []
            if let id = newObjects.popLast() {
                next = dependencies.linksOfObjects[id] ?? []
                deletions = dependencies.cascadesToObjects[id] ?? []
            } else if let place = newEnds.popLast() {
                next = dependencies.linksAtEnds[place] ?? []
            } else {
                break
            }
            for index in next where dropped.insert(index).inserted {
                let link = links.all[index]
                for (place, relationship) in link.ends where !relationship.isToMany {
                    if ends.insert(place).inserted { newEnds.append(place) }
                }
                if link.kind == .removed { deletions += [link.id, link.target].compactMap { edit.overlay[$0]?.deletion } }
            }
            for deletion in deletions {
                for id in dependencies.objectsOfDeletions[deletion] ?? [] where objects.insert(id).inserted { newObjects.append(id) }
            }
        }
        links.all = links.all.indices.filter { !dropped.contains($0) }.map { links.all[$0] }
    }
}
