import CambiumModel

/// Moves one object to another row of its table. Every reference to the old row then leads to the new row: in indexes, in links, and in
/// lists of members.
extension Draft {
    /// Moves an object to another row, and updates all references to the row.
    mutating func move(_ table: TableLayout, row: UInt32, to target: UInt32) {
        copyRow(table, row, target)
        for index in table.indexes where index.coversTable || index.family.contains(reader.rows(table.index).entity(row, table)) {
            let reader = reader
            guard let hash = reader.keyHash(index, reader.rows(table.index), row) else { continue }
            indexWriter.replaceEntry(table.index, index.number, hash: hash, row: row, by: target)
        }
        let ends = layout.endsByTable[table.index]
        // If an object is linked to itself, its own list of members contains its old row. The first loop replaces that row, so the second
        // loop reads lists that contain only valid rows.
        for end in ends where end.isOfMembers { redirect(end, from: row, to: target) }
        for end in ends where !end.isOfMembers { redirect(end, from: row, to: target) }
    }

    private mutating func copyRow(_ table: TableLayout, _ row: UInt32, _ target: UInt32) {
        let rows = reader.rows(table.index)
        let (virtualPage, isStub) = (rows.virtualPage(row), rows.isStub(row))
        let source = rows.group(row)
        let group = tableWriter.ownedGroup(table.index, target)
        group.addRow(target)
        group.setStub(target, isStub)
        for slot in [TableLayout.createdSlot, TableLayout.changedSlot] {
            let offset = rows.provenance(row, slot) &- group.provenance
            let page = group[slot]
            if offset != 0 || page != space.constants.zeroes { tableWriter.storeProvenance(group, target, slot, offset) }
        }
        if group.virtualPage == GroupPage.isShared {
            tableWriter.setLink(table.index, target, TableLayout.virtualPageSlot, virtualPage)
        }
        for (slot, kind) in table.columns.enumerated() where slot >= TableLayout.sourceSlot && slot != TableLayout.virtualPageSlot {
            let page = source[slot]
            // A constant leaf has the same value for all rows. If both groups refer to the same constant leaf, there is nothing to copy.
            if chunks.birth(page) == 0, group[slot] == page { continue }
            copyCell(table, row, target, slot, kind)
        }
    }

    private mutating func copyCell(_ table: TableLayout, _ row: UInt32, _ target: UInt32, _ slot: Int, _ kind: ColumnKind) {
        let rows = reader.rows(table.index)
        switch kind {
        case .rows, .numbers: tableWriter.setLink(table.index, target, slot, rows.link(row, slot))
        case .string:
            let leaf = rows.leaf(rows.group(row), slot)
            let cell = StringLeaf(leaf).cell(row)
            if cell == 0 { return }
            // The pages of a value of more than 255 bytes stay in place. The number of cells that refer to them stays the same.
            let group = tableWriter.ownedGroup(table.index, target)
            _ = tableWriter.ownedLeaf(group, slot, .stringLeaf)
            tableWriter.putCell(group, slot, target, tag: cell >> 24, StringLeaf(leaf).inlineBytes(cell))
        case .fixed(let width):
            guard rows.isPresent(row, slot) else { return }
            switch width {
            case 1: tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt8.self))
            case 2: tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt16.self))
            case 4: tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt32.self))
            case 8: tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: UInt64.self))
            default: tableWriter.setFixed(table.index, target, slot, rows.fixed(row, slot, as: SIMD2<UInt64>.self))
            }
        }
    }

    // MARK: References to a row

    private mutating func redirect(_ end: EndLayout, from row: UInt32, to target: UInt32) {
        switch end.layout {
        case .pair(let tables, let slots):
            let partner = link(tables[end.end], target, slots[end.end])
            if partner == noRow { return }
            let other = partner == row && tables[0] == tables[1] ? target : partner
            tableWriter.setLink(tables[end.end], target, slots[end.end], other)
            tableWriter.setLink(tables[1 - end.end], other, slots[1 - end.end], target)
        case .list(let list, let childEnd):
            if end.end == childEnd {
                let owner = link(list.memberTable, target, list.ownerSlot)
                if owner == noRow { return }
                let kept = owner == row && list.ownerTable == list.memberTable ? target : owner
                tableWriter.setLink(list.memberTable, target, list.ownerSlot, kept)
                redirectMember(list, owner: kept, from: row, to: target)
            } else {
                for member in Array(ListRows(reader, list, owner: target)) {
                    tableWriter.setLink(list.memberTable, member, list.ownerSlot, target)
                }
            }
        case .edges(let table, let lists, let isSymmetric):
            for edge in Array(ListRows(reader, lists[end.end], owner: target)) {
                redirectEdge(layout.tables[table], lists, isSymmetric, edge, end.end, from: row, to: target)
            }
        }
    }

    /// Changes the references to a member in a list, so that they lead to the member's new row. These references are in the adjacent
    /// members or in the owner.
    private mutating func redirectMember(_ list: ListLayout, owner: UInt32, from row: UInt32, to target: UInt32) {
        switch list.shape {
        case .chain(let first, let last, _, let previous, let next):
            let (before, after) = (link(list.memberTable, target, previous), link(list.memberTable, target, next))
            if before == noRow {
                tableWriter.setLink(list.ownerTable, owner, first, target)
            } else {
                tableWriter.setLink(list.memberTable, before, next, target)
            }
            if after == noRow {
                tableWriter.setLink(list.ownerTable, owner, last, target)
            } else {
                tableWriter.setLink(list.memberTable, after, previous, target)
            }
        case .tree: linkWriter.redirect(linkWriter.tree(list), owner: owner, from: row, to: target)
        }
    }

    private mutating func redirectEdge(
        _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool, _ edge: UInt32, _ end: Int, from row: UInt32,
        to target: UInt32
    ) {
        let old = (link(table.index, edge, 0), link(table.index, edge, 1))
        indexWriter.removeEntry(table.index, 0, hash: reader.edgeHash(old.0, old.1), row: edge)
        tableWriter.setLink(table.index, edge, lists[end].ownerSlot, target)
        // A symmetric edge from an object to itself refers to the object at both ends.
        if isSymmetric, old.0 == old.1 { tableWriter.setLink(table.index, edge, lists[1 - end].ownerSlot, target) }
        let new = (link(table.index, edge, 0), link(table.index, edge, 1))
        guard isSymmetric, new.0 > new.1 else {
            return indexWriter.addEntry(table.index, 0, hash: reader.edgeHash(new.0, new.1), row: edge)
        }
        // The first end of a symmetric edge must have the lower row, so the ends are exchanged.
        linkWriter.remove(lists[0], owner: new.0, member: edge)
        linkWriter.remove(lists[1], owner: new.1, member: edge)
        tableWriter.setLink(table.index, edge, lists[0].ownerSlot, new.1)
        tableWriter.setLink(table.index, edge, lists[1].ownerSlot, new.0)
        indexWriter.addEntry(table.index, 0, hash: reader.edgeHash(new.1, new.0), row: edge)
        linkWriter.add(lists[0], owner: new.1, member: edge)
        linkWriter.add(lists[1], owner: new.0, member: edge)
    }
}

extension EndLayout {
    /// Whether the objects at this end are the members in a list.
    var isOfMembers: Bool { if case .list(_, childEnd: end) = layout { true } else { false } }
}
