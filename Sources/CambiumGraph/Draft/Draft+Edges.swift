extension Draft {
    // MARK: Edges

    /// Creates an edge, a many-to-many link, between two rows, and adds it to the index of linked pairs.
    mutating func insertEdge(_ table: TableLayout, _ first: UInt32, _ second: UInt32) -> UInt32 {
        let row = newEdge(table, first, second)
        addEntry(table.index, 0, hash: reader.edgeHash(first, second), row: row)
        return row
    }

    /// Creates an edge (a many-to-many link) between two rows. The caller must add the edge to the index of linked pairs.
    mutating func newEdge(_ table: TableLayout, _ first: UInt32, _ second: UInt32) -> UInt32 {
        let page = ownedTable(table.index)
        let row: UInt32
        if page.freeCount > 0 {
            page.freeCount -= 1
            row = slot(&page.free, Int(page.freeCount)).pointee
            if UInt64(row) >= reader.nextSerial(table.index) { chunks.refuse("the free list of a table names a row that does not exist") }
        } else {
            row = UInt32(page.nextSerial)
            page.nextSerial += 1
            if row & PageLayout.rowMask == 0 { addEdgeGroup(table) }
        }
        ownedGroup(table.index, row).addRow(row)
        count(&ownedTable(table.index).liveCount, by: 1)
        setLink(table.index, row, 0, first)
        setLink(table.index, row, 1, second)
        return row
    }

    /// Removes an edge. The caller must have removed the edge from the lists of members of both linked objects.
    mutating func removeEdge(_ table: TableLayout, _ row: UInt32) {
        let hash = reader.edgeHash(link(table.index, row, 0), link(table.index, row, 1))
        removeEntry(table.index, 0, hash: hash, row: row)
        for slot in table.columns.indices {
            setLink(table.index, row, slot, table.columns[slot] == .numbers ? 0 : noRow)
        }
        ownedGroup(table.index, row).removeRow(row)
        let page = ownedTable(table.index)
        count(&page.liveCount, by: -1)
        slot(&page.free, Int(page.freeCount)).pointee = row
        page.freeCount += 1
    }

    private mutating func addEdgeGroup(_ table: TableLayout) {
        let page = ownedTable(table.index)
        let index = page.groupCount
        page.groupCount += 1
        let group = makeGroup(table, virtualPage: index)
        slot(&page.rows, Int(index)).pointee = group
    }
}
