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
        let freeCount = (page + TablePage.freeCountOffset).assumingMemoryBound(to: UInt32.self)
        let row: UInt32
        if freeCount.pointee > 0 {
            freeCount.pointee -= 1
            let free = (page + TablePage.freeOffset).assumingMemoryBound(to: RadixVector.self)
            row = slot(&free.pointee, Int(freeCount.pointee)).pointee
            if UInt64(row) >= reader.nextSerial(table.index) { chunks.refuse("the free list of a table names a row that does not exist") }
        } else {
            let next = (page + TablePage.nextSerialOffset).assumingMemoryBound(to: UInt64.self)
            row = UInt32(next.pointee)
            next.pointee += 1
            if row & PageLayout.rowMask == 0 { addEdgeGroup(table) }
        }
        let group = ownedGroup(table.index, row)
        Rows.setBit(group, GroupLayout.liveBitsOffset, row, true)
        (group + GroupLayout.liveCountOffset).assumingMemoryBound(to: UInt32.self).pointee &+= 1
        count(ownedTable(table.index) + TablePage.liveCountOffset, by: 1)
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
        let group = ownedGroup(table.index, row)
        Rows.setBit(group, GroupLayout.liveBitsOffset, row, false)
        (group + GroupLayout.liveCountOffset).assumingMemoryBound(to: UInt32.self).pointee &-= 1
        let page = ownedTable(table.index)
        count(page + TablePage.liveCountOffset, by: -1)
        let freeCount = (page + TablePage.freeCountOffset).assumingMemoryBound(to: UInt32.self)
        let free = (page + TablePage.freeOffset).assumingMemoryBound(to: RadixVector.self)
        slot(&free.pointee, Int(freeCount.pointee)).pointee = row
        freeCount.pointee += 1
    }

    private mutating func addEdgeGroup(_ table: TableLayout) {
        let page = ownedTable(table.index)
        let groupCount = (page + TablePage.groupCountOffset).assumingMemoryBound(to: UInt32.self)
        let index = groupCount.pointee
        groupCount.pointee += 1
        let group = makeGroup(table, virtualPage: index)
        let rows = (ownedTable(table.index) + TablePage.rowsOffset).assumingMemoryBound(to: RadixVector.self)
        slot(&rows.pointee, Int(index)).pointee = group
    }
}
