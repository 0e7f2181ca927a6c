package import CambiumModel

extension Draft {
    /// Links two objects. If an end is to-one, the object at this end loses its previous link.
    ///
    /// The index is a position in the ordered list of `owner`. A target that is already a member moves to the index.
    mutating func link(_ end: EndLayout, owner: UInt32, target: UInt32, at index: Int? = nil) {
        switch end.layout {
        case .pair(let tables, let slots):
            linkPair(end, tables, slots, owner, target)
        case .list(let list, let childEnd):
            let (child, parent) = end.end == childEnd ? (owner, target) : (target, owner)
            setParent(end, list, childEnd, child: child, parent: parent, at: end.end == childEnd ? nil : index)
        case .edges(let table, let lists, let isSymmetric):
            linkEdge(end, layout.tables[table], lists, isSymmetric, owner, target, index)
        }
    }

    /// Removes a link. Returns whether the link existed.
    @discardableResult
    mutating func unlink(_ end: EndLayout, owner: UInt32, target: UInt32) -> Bool {
        switch end.layout {
        case .pair(let tables, let slots):
            guard link(tables[end.end], owner, slots[end.end]) == target else { return false }
            clearPair(end, tables, slots, owner)
        case .list(let list, let childEnd):
            let (child, parent) = end.end == childEnd ? (owner, target) : (target, owner)
            guard link(list.memberTable, child, list.ownerSlot) == parent else { return false }
            setParent(end, list, childEnd, child: child, parent: noRow, at: nil)
        case .edges(let table, let lists, let isSymmetric):
            let (first, second) = EndLayout.pair(end.end, isSymmetric, owner, target)
            let edge = reader.edge(table, first, second)
            guard edge != noRow else { return false }
            removeEdge(end, layout.tables[table], lists, edge)
        }
        return true
    }

    /// Moves a member of an ordered list. The index is the position of the member after the move. Returns `false` if the target is not a
    /// member of an ordered list.
    mutating func move(_ end: EndLayout, owner: UInt32, target: UInt32, to index: Int) -> Bool {
        switch end.layout {
        case .list(let list, let childEnd) where end.end != childEnd:
            guard list.isOrdered, link(list.memberTable, target, list.ownerSlot) == owner else { return false }
            relocate(end, list, owner: owner, member: target, to: index)
        case .edges(let table, let lists, let isSymmetric):
            let (first, second) = EndLayout.pair(end.end, isSymmetric, owner, target)
            let edge = reader.edge(table, first, second)
            guard lists[end.end].isOrdered, edge != noRow else { return false }
            relocate(end, lists[end.end], owner: owner, member: edge, to: index)
        default:
            return false
        }
        return true
    }

    private mutating func relocate(_ end: EndLayout, _ list: ListLayout, owner: UInt32, member: UInt32, to index: Int) {
        linkWriter.remove(list, owner: owner, member: member)
        linkWriter.add(list, owner: owner, member: member, at: min(index, reader.memberCount(list, owner: owner)))
        touched?.markMember(end, member)
        trackChange(end.link, end.end, owner)
    }

    // MARK: One to one

    private mutating func linkPair(_ end: EndLayout, _ tables: Pair<Int>, _ slots: Pair<Int>, _ owner: UInt32, _ target: UInt32) {
        let other = 1 - end.end
        if link(tables[end.end], owner, slots[end.end]) == target { return }
        clearPair(end, tables, slots, owner)
        clearPair(layout.end(end.link, other), tables, slots, target)
        setTarget(tables[end.end], owner, slots[end.end], target)
        setTarget(tables[other], target, slots[other], owner)
        trackChange(end.link, end.end, owner)
        trackChange(end.link, other, target)
    }

    /// Removes an object from a one-to-one link, on both sides.
    mutating func clearPair(_ end: EndLayout, _ tables: Pair<Int>, _ slots: Pair<Int>, _ row: UInt32) {
        let other = 1 - end.end
        let partner = link(tables[end.end], row, slots[end.end])
        guard partner != noRow else { return }
        setTarget(tables[end.end], row, slots[end.end], noRow)
        setTarget(tables[other], partner, slots[other], noRow)
        reportLoss(end.link, end.end, row)
        reportLoss(end.link, other, partner)
        trackChange(end.link, end.end, row)
        trackChange(end.link, other, partner)
    }

    // MARK: One to many

    /// Moves a child to another parent, or removes it from its parent if `parent` is `noRow`.
    mutating func setParent(
        _ end: EndLayout, _ list: ListLayout, _ childEnd: Int, child: UInt32, parent: UInt32, at index: Int?
    ) {
        let old = link(list.memberTable, child, list.ownerSlot)
        if old == parent {
            if parent != noRow, list.isOrdered, let index {
                relocate(layout.end(end.link, 1 - childEnd), list, owner: parent, member: child, to: index)
            }
            return
        }
        if old != noRow {
            if list.isOrdered { touched?.hasRemovedMembers = true }
            linkWriter.remove(list, owner: old, member: child)
            reportLoss(end.link, 1 - childEnd, old)
            reportLoss(end.link, childEnd, child)
            trackChange(end.link, 1 - childEnd, old)
        }
        setTarget(list.memberTable, child, list.ownerSlot, parent)
        join(end, list, childEnd, child: child, parent: parent, at: index)
    }

    /// Gives a parent to a new object that has none and is in no index yet.
    mutating func setParent(_ end: EndLayout, _ list: ListLayout, _ childEnd: Int, ofUnindexed child: UInt32, to parent: UInt32) {
        tableWriter.setLink(list.memberTable, child, list.ownerSlot, parent)
        join(end, list, childEnd, child: child, parent: parent, at: nil)
    }

    private mutating func join(_ end: EndLayout, _ list: ListLayout, _ childEnd: Int, child: UInt32, parent: UInt32, at index: Int?) {
        if parent != noRow {
            linkWriter.add(list, owner: parent, member: child, at: index)
            trackChange(end.link, 1 - childEnd, parent)
        }
        trackChange(end.link, childEnd, child)
    }

    // MARK: Many to many

    private mutating func linkEdge(
        _ end: EndLayout, _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool, _ owner: UInt32,
        _ target: UInt32, _ index: Int?
    ) {
        let (first, second) = EndLayout.pair(end.end, isSymmetric, owner, target)
        let existing = reader.edge(table.index, first, second)
        if existing != noRow {
            if let index, lists[end.end].isOrdered {
                relocate(end, lists[end.end], owner: owner, member: existing, to: index)
            }
            return
        }
        addEdge(end, table, lists, isSymmetric, owner, target, index)
    }

    /// Adds an edge, a many-to-many link, that does not exist yet.
    mutating func addEdge(
        _ end: EndLayout, _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool, _ owner: UInt32,
        _ target: UInt32, _ index: Int?
    ) {
        let (first, second) = EndLayout.pair(end.end, isSymmetric, owner, target)
        let edge = linkWriter.insertEdge(table, first, second)
        linkWriter.add(lists[0], owner: first, member: edge, at: end.end == 0 ? index : nil)
        // In a relationship that is its own inverse, an edge from an object to itself is in one list only.
        if !(isSymmetric && first == second) {
            linkWriter.add(lists[1], owner: second, member: edge, at: end.end == 1 ? index : nil)
        }
        touched?.markEdge(end.link, edge)
        trackChange(end.link, 0, first)
        trackChange(end.link, 1, second)
    }

    mutating func removeEdge(_ end: EndLayout, _ table: TableLayout, _ lists: Pair<ListLayout>, _ edge: UInt32) {
        let owners = [link(table.index, edge, 0), link(table.index, edge, 1)]
        guard case .edges(_, _, let isSymmetric) = end.layout else { return }
        if lists[0].isOrdered || lists[1].isOrdered { touched?.hasRemovedMembers = true }
        linkWriter.remove(lists[0], owner: owners[0], member: edge)
        if !(isSymmetric && owners[0] == owners[1]) { linkWriter.remove(lists[1], owner: owners[1], member: edge) }
        touched?.markEdge(end.link, edge)
        linkWriter.removeEdge(table, edge)
        for side in 0...1 {
            reportLoss(end.link, side, owners[side])
            trackChange(end.link, side, owners[side])
        }
    }

    /// Records that the members of an object at one end of a link changed.
    @inline(__always)
    mutating func trackChange(_ link: Int, _ end: Int, _ row: UInt32) {
        touched?.markEnd(link, end, row)
        let mark = layout.marks[2 &* link &+ end]
        guard mark.isVisible else { return }
        tableWriter.setProvenance(mark.table, row, TableLayout.changedSlot)
        if mark.isDerivedFrom { DerivedNotes.trackDerived(&self, link, end, row) }
        if mark.isCounted { pending.trackObject(mark.table, row) }
    }
}

/// The checks that linking, unlinking and moving have in common: the objects and the relationship must fit each other.
extension Draft {
    /// Returns the ends of a link that an op names. Throws the errors of `linkEnds`.
    func resolve(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID
    ) throws(CambiumError) -> (EndLayout, ObjectPlace, ObjectPlace) {
        let owner = try livePlace(id)
        let row = try livePlace(target)
        guard let entity = entity(at: owner), let relationship = entity.relationship(property) else {
            throw CambiumError(.invalidInput, "\(text(of: id)) has no relationship with the number \(property.rawValue).")
        }
        try check(row, target, for: relationship, of: text(of: id))
        return (layout.end(relationship), owner, row)
    }

    /// Throws `.invalidInput` if the relationship cannot hold the object at `place`, because of the object's entity.
    private func check(
        _ place: ObjectPlace, _ target: ObjectID, for relationship: Relationship, of owner: @autoclosure () -> String
    ) throws(CambiumError) {
        let number = entity(at: place)?.number
        if number == relationship.destination { return }
        try schema.check(number, text(of: target), for: relationship, of: owner())
    }

    /// Returns the ends of a link that a caller requests: the relationship in this schema, and the places of both objects.
    ///
    /// - Throws: `.notFound` for a missing object. `.invalidInput` if the entity of the object does not have the relationship, or the
    ///   relationship cannot hold the target.
    package func linkEnds(
        _ id: ObjectID, _ relationship: Relationship, _ target: ObjectID
    ) throws(CambiumError) -> LinkEnds {
        let owner = try livePlace(id)
        let row = try livePlace(target)
        // The caller may have the relationship from another schema that equals the draft's schema, such as the schema with which the store
        // was made.
        guard let own = entity(at: owner)?.relationship(relationship.number), own === relationship || own.isNamed(as: relationship) else {
            let name = "\(text(of: id)) has no relationship '\(relationship.name)'"
            throw CambiumError(.invalidInput, "\(name). Look the relationship up in the store's schema.")
        }
        try check(row, target, for: own, of: text(of: id))
        return LinkEnds(relationship: own, owner: owner, target: row)
    }

    /// Checks the links that a caller requests for a new object, and returns them. Throws the errors of `Entity.linkTargets`, and
    /// `.notFound` for a missing target.
    package func linkTargets(
        _ links: KeyValuePairs<String, [ObjectID]>, of entity: Entity
    ) throws(CambiumError) -> [(Relationship, ObjectID)] {
        try entity.linkTargets(links) { (target, relationship) throws(CambiumError) in
            try check(try livePlace(target), target, for: relationship, of: "the new '\(entity.name)'")
        }
    }

    /// Returns whether two objects are linked.
    package func isLinked(_ ends: LinkEnds) -> Bool {
        reader.isLinked(layout.end(ends.relationship), owner: ends.owner.row, target: ends.target.row)
    }

    /// Returns the index of a member of an ordered relationship. Returns `nil` if the relationship is not ordered, or if the object is not
    /// a member. Complexity: O(log members) expected.
    package func memberIndex(of member: ObjectID, in relationship: Relationship, of id: ObjectID) -> Int? {
        let handle = layout.handle(relationship)
        guard let owner = place(of: id), let target = place(of: member), handle.isIn(owner), isLinked(id, relationship, member),
            let list = handle.end.orderedList
        else { return nil }
        guard case .edges(let table, _, let isSymmetric) = handle.end.layout else { return reader.index(list, of: target.row) }
        let (first, second) = EndLayout.pair(handle.end.end, isSymmetric, owner.row, target.row)
        return reader.index(list, of: reader.edge(table, first, second))
    }

    package func memberCount(_ ends: LinkEnds) -> Int {
        reader.memberCount(layout.end(ends.relationship), owner: ends.owner.row)
    }
}

/// The two ends of a link that a caller wants to create or remove, both checked.
package struct LinkEnds {
    package let relationship: Relationship
    let owner: ObjectPlace
    let target: ObjectPlace
}

extension Relationship {
    /// Returns whether a relationship of another schema corresponds to this relationship.
    fileprivate func isNamed(as other: Relationship) -> Bool { name == other.name && number == other.number && root == other.root }
}

extension Draft {
    /// The number of edges (many-to-many links) whose memory is prefetched together.
    private static let stepCount = 64

    /// Links an object without members to distinct objects, in the order of `targets`.
    mutating func linkFirst(_ end: EndLayout, owner: UInt32, targets: [UInt32]) {
        guard case .edges(let table, let lists, let isSymmetric) = end.layout else {
            for target in targets { link(end, owner: owner, target: target) }
            return
        }
        guard !isSymmetric, let own = LinkWriter.Chain(lists[end.end]), let far = LinkWriter.Chain(lists[1 - end.end]) else {
            for target in targets { addEdge(end, layout.tables[table], lists, isSymmetric, owner, target, nil) }
            return
        }
        let tableLayout = layout.tables[table]
        for start in stride(from: 0, to: targets.count, by: Self.stepCount) {
            addEdges(end, tableLayout, own, far, owner, targets[start..<min(start + Self.stepCount, targets.count)])
        }
    }

    /// Adds edges that do not exist yet. First prefetches the memory that the links of all edges need, because this memory is scattered.
    private mutating func addEdges(
        _ end: EndLayout, _ table: TableLayout, _ own: LinkWriter.Chain, _ far: LinkWriter.Chain, _ owner: UInt32,
        _ targets: ArraySlice<UInt32>
    ) {
        let reader = reader
        for target in targets {
            reader.prefetchBlock(table.index, 0, edgeHash(end, owner, target))
            let last = reader.rows(far.owners).link(target, far.last)
            if last != noRow { reader.rows(far.members).prefetchLink(last, far.next) }
        }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: targets.count) { edges in
            var count = 0
            for target in targets {
                let (first, second) = EndLayout.pair(end.end, false, owner, target)
                let edge = linkWriter.newEdge(table, first, second)
                touched?.markEdge(end.link, edge)
                if count > 0 {
                    tableWriter.setLink(own.members, edge, own.previous, edges[count - 1])
                    tableWriter.setLink(own.members, edges[count - 1], own.next, edge)
                }
                edges[count] = edge
                count += 1
            }
            linkWriter.append(own, owner, first: edges[0], last: edges[count - 1], count: count)
            trackChange(end.link, end.end, owner)
            for (place, target) in targets.enumerated() {
                linkWriter.append(far, owner: target, member: edges[place])
                trackChange(end.link, 1 - end.end, target)
            }
            for (place, target) in targets.enumerated() {
                indexWriter.addEntry(table.index, 0, hash: edgeHash(end, owner, target), row: edges[place])
            }
        }
    }

    @inline(__always)
    private func edgeHash(_ end: EndLayout, _ owner: UInt32, _ target: UInt32) -> UInt64 {
        let (first, second) = EndLayout.pair(end.end, false, owner, target)
        return reader.edgeHash(first, second)
    }
}
