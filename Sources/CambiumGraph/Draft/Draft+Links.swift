import CambiumModel

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
        noteChange(end.link, end.end, owner)
    }

    // MARK: One to one

    private mutating func linkPair(_ end: EndLayout, _ tables: Pair<Int>, _ slots: Pair<Int>, _ owner: UInt32, _ target: UInt32) {
        let other = 1 - end.end
        if link(tables[end.end], owner, slots[end.end]) == target { return }
        clearPair(end, tables, slots, owner)
        clearPair(layout.end(end.link, other), tables, slots, target)
        setTarget(tables[end.end], owner, slots[end.end], target)
        setTarget(tables[other], target, slots[other], owner)
        noteChange(end.link, end.end, owner)
        noteChange(end.link, other, target)
    }

    /// Removes an object from a one-to-one link, on both sides.
    mutating func clearPair(_ end: EndLayout, _ tables: Pair<Int>, _ slots: Pair<Int>, _ row: UInt32) {
        let other = 1 - end.end
        let partner = link(tables[end.end], row, slots[end.end])
        guard partner != noRow else { return }
        setTarget(tables[end.end], row, slots[end.end], noRow)
        setTarget(tables[other], partner, slots[other], noRow)
        noteLoss(end.link, end.end, row)
        noteLoss(end.link, other, partner)
        noteChange(end.link, end.end, row)
        noteChange(end.link, other, partner)
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
            noteLoss(end.link, 1 - childEnd, old)
            noteLoss(end.link, childEnd, child)
            noteChange(end.link, 1 - childEnd, old)
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
            noteChange(end.link, 1 - childEnd, parent)
        }
        noteChange(end.link, childEnd, child)
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
        noteChange(end.link, 0, first)
        noteChange(end.link, 1, second)
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
            noteLoss(end.link, side, owners[side])
            noteChange(end.link, side, owners[side])
        }
    }

    /// Records that the members of an object at one end of a link changed.
    @inline(__always)
    mutating func noteChange(_ link: Int, _ end: Int, _ row: UInt32) {
        touched?.markEnd(link, end, row)
        let mark = layout.marks[2 &* link &+ end]
        guard mark.isVisible else { return }
        tableWriter.setProvenance(mark.table, row, TableLayout.changedSlot)
        if mark.isDerivedFrom { DerivedNotes.noteDerived(&self, link, end, row) }
        if mark.isCounted { pending.noteObject(mark.table, row) }
    }
}
