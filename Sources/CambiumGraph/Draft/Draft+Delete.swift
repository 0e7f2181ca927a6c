package import CambiumModel

extension Draft {
    /// Deletes objects and all objects that their cascades reach, and unlinks all of them. If there may be too few pages, throws
    /// `.limitExceeded` before it writes anything.
    ///
    /// A delete op in the log states the number of its algorithm. This method is algorithm 1, so its result must never change. A cascade
    /// reaches each object only once, and the order of `places` has no effect on the result.
    mutating func delete(_ places: [ObjectPlace]) throws(CambiumError) {
        let dying = closure(of: places)
        try CapacityCheck.check(self, forDeleting: dying)
        let noted = pending.objectCount
        replayWork += dying.count * ReplayWork.deletion
        for place in dying { reportDenials(place) }
        let lostCount = orphans?.count ?? 0
        for place in dying { unlinkAll(place, layout.endsByTable[Int(place.table)]) }
        // The delete rule of a relationship, and not its orphan rule, decides about the members of a deleted object.
        orphans?.forget(after: lostCount)
        for place in dying { erase(place) }
        pending.trackDeletion(since: noted)
    }

    /// Returns the objects at `places` and all objects that cascade rules reach from them.
    func closure(of places: [ObjectPlace]) -> [ObjectPlace] {
        var seen = PlaceSet(placeCount: places.count, tableCount: layout.tables.count)
        var found: [ObjectPlace] = []
        for place in places where seen.insert(place) { found.append(place) }
        let reader = reader
        var done = 0
        while done < found.count {
            let place = found[done]
            done += 1
            guard let entity = entity(at: place) else { continue }
            for relationship in entity.relationships where relationship.deleteRule == .cascade {
                let table = layout.tableIndex(ofKnown: relationship.destinationRoot)
                reader.forEachMember(layout.end(relationship), owner: place.row) { row in
                    let member = ObjectPlace(table: table, row: row)
                    if seen.insert(member) { found.append(member) }
                }
            }
        }
        return found
    }

    package func entity(at place: ObjectPlace) -> Entity? {
        let table = layout.tables[Int(place.table)]
        return schema.entity(reader.rows(table.index).entity(place.row, table))
    }

    /// For each relationship with a `deny` rule, records the members of a deleted object. If such a member exists at commit, the commit
    /// fails.
    private mutating func reportDenials(_ place: ObjectPlace) {
        guard let entity = entity(at: place) else { return }
        for relationship in entity.relationships where relationship.deleteRule == .deny {
            let table = layout.tableIndex(ofKnown: relationship.destinationRoot)
            var members: [ObjectID] = []
            reader.forEachMember(layout.end(relationship), owner: place.row) { row in
                members.append(id(ObjectPlace(table: table, row: row)))
            }
            if !members.isEmpty {
                pending.denials.append(.init(object: id(place), entity: entity.number, relationship: relationship.number, members: members))
            }
        }
    }

    /// Removes an object from the links at `ends`, including links for which the schema has no relationship at this object's end.
    ///
    /// - Parameter ends: Ends at the table of the object.
    mutating func unlinkAll(_ place: ObjectPlace, _ ends: [EndLayout]) {
        for end in ends {
            let noted = pending.objectCount
            unlinkAll(end, place.row)
            if isUnchecked(end, place) { pending.forgetObjects(after: noted) }
        }
    }

    /// Returns whether the delete rule of an end is `noAction`. If so, a deletion schedules no checks of the objects at the other end.
    func isUnchecked(_ end: EndLayout, _ place: ObjectPlace) -> Bool {
        let link = schema.links[end.link]
        guard let property = (end.end == 0 ? link.first : link.second).property else { return false }
        return entity(at: place)?.relationship(property)?.deleteRule == .noAction
    }

    mutating func unlinkAll(_ end: EndLayout, _ row: UInt32) {
        switch end.layout {
        case .pair(let tables, let slots):
            replayWork += ReplayWork.blockLink
            clearPair(end, tables, slots, row)
        case .list(let list, let childEnd):
            if end.end == childEnd {
                replayWork += list.replayWork
                setParent(end, list, childEnd, child: row, parent: noRow, at: nil)
            } else {
                let children = Array(ListRows(reader, list, owner: row))
                replayWork += children.count * list.replayWork
                for child in children { setParent(end, list, childEnd, child: child, parent: noRow, at: nil) }
            }
        case .edges(let table, let lists, _):
            let edges = Array(ListRows(reader, lists[end.end], owner: row))
            replayWork += edges.count * (lists[0].replayWork + lists[1].replayWork)
            for edge in edges { removeEdge(end, layout.tables[table], lists, edge) }
        }
    }

    /// Clears the columns of an object and releases its row.
    mutating func erase(_ place: ObjectPlace) {
        let table = layout.tables[Int(place.table)]
        for index in table.indexes { removeFromIndex(table, index, place.row) }
        for (slot, kind) in table.columns.enumerated() where slot != table.entitySlot {
            switch kind {
            case .fixed(let width): tableWriter.clearFixed(table.index, place.row, slot, width: width)
            case .string:
                if !reader.rows(table.index).isNullString(place.row, slot) { tableWriter.setBytes(table.index, place.row, slot, nil) }
            case .rows, .numbers: break
            }
        }
        tableWriter.removeRow(table, place.row)
    }

    func id(_ place: ObjectPlace) -> ObjectID { reader.id(place, layout) }
}

extension ListLayout {
    /// The work of adding a member or removing it.
    var replayWork: Int { isOrdered ? ReplayWork.orderedLink : ReplayWork.link }
}

/// Objects that lose their last owner.
extension Draft {
    /// Records that an object lost a link at its end, if the object is deleted without an owner at the other end.
    @inline(__always)
    mutating func reportLoss(_ link: Int, _ end: Int, _ row: UInt32) {
        if orphans != nil { reportOwnedLoss(2 &* link &+ end, row) }
    }

    @inline(never)
    private mutating func reportOwnedLoss(_ end: Int, _ row: UInt32) {
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
