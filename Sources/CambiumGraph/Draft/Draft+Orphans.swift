package import CambiumModel

/// Objects that lose their last owner.
extension Draft {
    /// Records that an object lost a link at its end, if the object is deleted without an owner at the other end.
    @inline(__always)
    mutating func noteLoss(_ link: Int, _ end: Int, _ row: UInt32) {
        if orphans != nil { noteOwnedLoss(2 &* link &+ end, row) }
    }

    @inline(never)
    private mutating func noteOwnedLoss(_ end: Int, _ row: UInt32) {
        guard orphans?.ownedEnds[end] == true else { return }
        let serial = reader.rows(layout.marks[end].table).serial(row)
        orphans?.add(end, serial: serial)
    }

    /// Lets objects stay that lose their last owner. An undo states each deletion itself.
    package mutating func keepOrphans() { orphans = nil }

    /// Whether an object has lost an owner since the last call of `takeOrphans`, and may have no other owner.
    package var hasLosses: Bool { orphans.map { $0.count > 0 } ?? false }

    /// Returns the objects that lost their owner and have no other owner in the same relationship, in ascending order. The caller must
    /// delete them. Complexity: O(n log n) for n lost links.
    package mutating func takeOrphans() -> [ObjectID] {
        guard hasLosses, let losses = orphans?.take() else { return [] }
        var found: Set<ObjectID> = []
        for loss in losses {
            let table = layout.marks[loss.end].table
            guard let row = reader.row(table, serial: loss.serial), reader.memberCount(layout.ends[loss.end], owner: row) == 0 else {
                continue
            }
            found.insert(ObjectID(root: layout.root(ofTable: table), serial: loss.serial))
        }
        return found.sorted()
    }

    /// Lets this draft delete the members that an owner loses by any relationship in which the owner owns its members. An owner owns them
    /// if the delete rule is `cascade`. Otherwise it owns them if their inverse relationship is mandatory, or if they have no identity and
    /// the owner has one. If the inverse has the same claim, neither object owns the other.
    package mutating func deleteOwnedOrphans() {
        let schema = schema
        let owned = GraphLayout.ownedEnds(of: schema) { relationship in
            if relationship.orphanRule == .delete { return 3 }
            if relationship.deleteRule == .cascade { return 2 }
            let inverse = relationship.inverse.flatMap { schema.relationship($0, ofRoot: relationship.destinationRoot) }
            if let inverse, inverse.minCount > 0 { return 1 }
            let hasNoIdentity = schema.entity(relationship.destination)?.identity.isEmpty == true
            return hasNoIdentity && schema.entity(relationship.entity)?.identity.isEmpty == false ? 1 : 0
        }
        orphans = OrphanNotes(owned)
    }
}
