import CambiumModel

/// Moves one object to another row of its table. Every reference to the old row then leads to the new row: in indexes, in links, and in
/// lists of members.
enum RowMover {
    /// Moves an object to another row, and updates all references to the row.
    static func move(_ draft: inout Draft, _ table: TableLayout, row: UInt32, to target: UInt32) {
        copyRow(&draft, table, row, target)
        for index in table.indexes where index.coversTable || index.family.contains(draft.reader.rows(table.index).entity(row, table)) {
            let reader = draft.reader
            guard let hash = reader.keyHash(index, reader.rows(table.index), row) else { continue }
            draft.indexWriter.replaceEntry(table.index, index.number, hash: hash, row: row, by: target)
        }
        let ends = draft.layout.endsByTable[table.index]
        // If an object is linked to itself, its own list of members contains its old row. The first loop replaces that row, so the second
        // loop reads lists that contain only valid rows.
        for end in ends where end.isOfMembers { redirect(&draft, end, from: row, to: target) }
        for end in ends where !end.isOfMembers { redirect(&draft, end, from: row, to: target) }
    }

    private static func copyRow(_ draft: inout Draft, _ table: TableLayout, _ row: UInt32, _ target: UInt32) {
        let rows = draft.reader.rows(table.index)
        let (virtualPage, isStub) = (rows.virtualPage(row), rows.isStub(row))
        let source = rows.group(row)
        let group = draft.tableWriter.ownedGroup(table.index, target)
        group.addRow(target)
        group.setStub(target, isStub)
        for slot in [TableLayout.createdSlot, TableLayout.changedSlot] {
            let offset = rows.provenance(row, slot) &- group.provenance
            let page = group[slot]
            if offset != 0 || page != draft.space.constants.zeroes { draft.tableWriter.storeProvenance(group, target, slot, offset) }
        }
        if group.virtualPage == GroupPage.isShared {
            draft.tableWriter.setLink(table.index, target, TableLayout.virtualPageSlot, virtualPage)
        }
        for (slot, kind) in table.columns.enumerated() where slot >= TableLayout.sourceSlot && slot != TableLayout.virtualPageSlot {
            let page = source[slot]
            // A constant leaf has the same value for all rows. If both groups refer to the same constant leaf, there is nothing to copy.
            if draft.chunks.birth(page) == 0, group[slot] == page { continue }
            copyCell(&draft, table, row, target, slot, kind)
        }
    }

    private static func copyCell(
        _ draft: inout Draft, _ table: TableLayout, _ row: UInt32, _ target: UInt32, _ slot: Int, _ kind: ColumnKind
    ) {
        let rows = draft.reader.rows(table.index)
        switch kind {
        case .rows, .numbers: draft.tableWriter.setLink(table.index, target, slot, rows.link(row, slot))
        case .string:
            let leaf = rows.leaf(rows.group(row), slot)
            let cell = StringLeaf(leaf).cell(row)
            if cell == 0 { return }
            // The pages of a value of more than 255 bytes stay in place. The number of cells that refer to them stays the same.
            let group = draft.tableWriter.ownedGroup(table.index, target)
            _ = draft.tableWriter.ownedLeaf(group, slot, .stringLeaf)
            draft.tableWriter.putCell(group, slot, target, tag: cell >> 24, StringLeaf(leaf).inlineBytes(cell))
        case .fixed(let width):
            guard rows.isPresent(row, slot) else { return }
            switch width {
            case 1: draft.tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt8.self))
            case 2: draft.tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt16.self))
            case 4: draft.tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt32.self))
            case 8: draft.tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt64.self))
            default: draft.tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: SIMD2<UInt64>.self))
            }
        }
    }

    // MARK: References to a row

    private static func redirect(_ draft: inout Draft, _ end: EndLayout, from row: UInt32, to target: UInt32) {
        switch end.layout {
        case .pair(let tables, let slots):
            let partner = draft.link(tables[end.end], target, slots[end.end])
            if partner == noRow { return }
            let other = partner == row && tables[0] == tables[1] ? target : partner
            draft.tableWriter.setLink(tables[end.end], target, slots[end.end], other)
            draft.tableWriter.setLink(tables[1 - end.end], other, slots[1 - end.end], target)
        case .list(let list, let childEnd):
            if end.end == childEnd {
                let owner = draft.link(list.memberTable, target, list.ownerSlot)
                if owner == noRow { return }
                let kept = owner == row && list.ownerTable == list.memberTable ? target : owner
                draft.tableWriter.setLink(list.memberTable, target, list.ownerSlot, kept)
                redirectMember(&draft, list, owner: kept, from: row, to: target)
            } else {
                for member in Array(ListRows(draft.reader, list, owner: target)) {
                    draft.tableWriter.setLink(list.memberTable, member, list.ownerSlot, target)
                }
            }
        case .edges(let table, let lists, let isSymmetric):
            for edge in Array(ListRows(draft.reader, lists[end.end], owner: target)) {
                redirectEdge(&draft, draft.layout.tables[table], lists, isSymmetric, edge, end.end, from: row, to: target)
            }
        }
    }

    /// Changes the references to a member in a list, so that they lead to the member's new row. These references are in the adjacent
    /// members or in the owner.
    private static func redirectMember(_ draft: inout Draft, _ list: ListLayout, owner: UInt32, from row: UInt32, to target: UInt32) {
        switch list.shape {
        case .chain(let first, let last, _, let previous, let next):
            let (before, after) = (draft.link(list.memberTable, target, previous), draft.link(list.memberTable, target, next))
            if before == noRow {
                draft.tableWriter.setLink(list.ownerTable, owner, first, target)
            } else {
                draft.tableWriter.setLink(list.memberTable, before, next, target)
            }
            if after == noRow {
                draft.tableWriter.setLink(list.ownerTable, owner, last, target)
            } else {
                draft.tableWriter.setLink(list.memberTable, after, previous, target)
            }
        case .tree: draft.linkWriter.redirect(draft.linkWriter.tree(list), owner: owner, from: row, to: target)
        }
    }

    private static func redirectEdge(
        _ draft: inout Draft,
        _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool, _ edge: UInt32, _ end: Int, from row: UInt32,
        to target: UInt32
    ) {
        let old = (draft.link(table.index, edge, 0), draft.link(table.index, edge, 1))
        draft.indexWriter.removeEntry(table.index, 0, hash: draft.reader.edgeHash(old.0, old.1), row: edge)
        draft.tableWriter.setLink(table.index, edge, lists[end].ownerSlot, target)
        // A symmetric edge from an object to itself refers to the object at both ends.
        if isSymmetric, old.0 == old.1 { draft.tableWriter.setLink(table.index, edge, lists[1 - end].ownerSlot, target) }
        let new = (draft.link(table.index, edge, 0), draft.link(table.index, edge, 1))
        guard isSymmetric, new.0 > new.1 else {
            return draft.indexWriter.addEntry(table.index, 0, hash: draft.reader.edgeHash(new.0, new.1), row: edge)
        }
        // The first end of a symmetric edge must have the lower row, so the ends are exchanged.
        draft.linkWriter.remove(lists[0], owner: new.0, member: edge)
        draft.linkWriter.remove(lists[1], owner: new.1, member: edge)
        draft.tableWriter.setLink(table.index, edge, lists[0].ownerSlot, new.1)
        draft.tableWriter.setLink(table.index, edge, lists[1].ownerSlot, new.0)
        draft.indexWriter.addEntry(table.index, 0, hash: draft.reader.edgeHash(new.1, new.0), row: edge)
        draft.linkWriter.add(lists[0], owner: new.1, member: edge)
        draft.linkWriter.add(lists[1], owner: new.0, member: edge)
    }
}

extension EndLayout {
    /// Whether the objects at this end are the members in a list.
    var isOfMembers: Bool { if case .list(_, childEnd: end) = layout { true } else { false } }
}

// MARK: - Many rows

extension RowMover {
    /// Creates a group for the rows of `source`. Provenance is stored relative to a transaction that the group states, so both groups must
    /// state the same transaction.
    static func newGroup(_ draft: inout Draft, _ table: TableLayout, virtualPage: UInt32, like source: UInt32) -> UInt32 {
        let base = draft.reader.rows(table.index).group(source << PageLayout.rowShift).provenance
        let index = draft.tableWriter.newGroup(table, virtualPage: virtualPage)
        draft.tableWriter.ownedGroup(table.index, index << PageLayout.rowShift).provenance = base
        return index
    }

    /// Moves all rows of a group to the same positions in another group. These positions must be free. Releases the emptied group.
    static func move(_ draft: inout Draft, _ table: TableLayout, from source: UInt32, to target: UInt32) {
        let rows = draft.reader.rows(table.index)
        var bits = rows.liveBits(source)
        var virtualPages = Set<UInt32>()
        while bits != 0 {
            let place = UInt32(bits.trailingZeroBitCount)
            virtualPages.insert(rows.virtualPage(source << PageLayout.rowShift | place))
            move(&draft, table, row: source << PageLayout.rowShift | place, to: target << PageLayout.rowShift | place)
            bits &= bits - 1
        }
        let page = draft.tableWriter.ownedTable(table.index)
        for virtualPage in virtualPages { draft.pageWriter.slot(&page.virtualPages, Int(virtualPage)).pointee = target + 1 }
        draft.tableWriter.releaseMovedGroup(table, source)
    }

    /// Moves the objects of a virtual page (a range of consecutive serials) from a shared group into a new group. Releases the shared group
    /// if no other virtual page has objects there. Returns the new group.
    static func separate(_ draft: inout Draft, _ table: TableLayout, virtualPage: UInt32, from source: UInt32) -> UInt32 {
        let rows = draft.reader.rows(table.index)
        let places = (0..<UInt32(PageLayout.fanOut)).filter {
            let row = source << PageLayout.rowShift | $0
            return rows.isLive(row) && rows.virtualPage(row) == virtualPage
        }
        let target = newGroup(&draft, table, virtualPage: virtualPage, like: source)
        for place in places {
            move(&draft, table, row: source << PageLayout.rowShift | place, to: target << PageLayout.rowShift | place)
            draft.tableWriter.clearMoved(table, source << PageLayout.rowShift | place)
            recordMoved(&draft, table, target << PageLayout.rowShift | place)
        }
        if draft.reader.rows(table.index).liveBits(source) == 0 { draft.tableWriter.releaseMovedGroup(table, source) }
        return target
    }

    /// Records that an object may have changed in any way. The earlier records of this transaction name the row that the object had before
    /// it was moved. Checks and comparisons of an object that has not changed find nothing.
    private static func recordMoved(_ draft: inout Draft, _ table: TableLayout, _ row: UInt32) {
        draft.pending.trackObject(table.index, row)
        draft.touched?.markAttributes(table.index, row)
        for end in draft.layout.endsByTable[table.index] { draft.touched?.markEnd(end.link, end.end, row) }
        if draft.layout.derived.isEmpty { return }
        DerivedNotes.trackDerived(&draft, ofObject: table.index, row)
        for column in draft.layout.derived.readingTable[table.index] {
            draft.derived.trackSource(column, row, of: draft.layout.derived.columns.count)
        }
    }
}
