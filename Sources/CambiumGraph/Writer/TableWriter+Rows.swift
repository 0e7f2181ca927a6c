import CambiumBytes
import CambiumModel
import Glibc

extension TableWriter {
    /// Removes the row of an object from the table. The row must no longer have values, links or index entries.
    mutating func removeRow(_ table: TableLayout, _ row: UInt32) {
        count(table, reader.rows(table.index).entity(row, table), by: -1)
        let group = ownedGroup(table.index, row)
        group.removeRow(row)
        let rows = reader.rows(table.index)
        let lastSerial = rows.serial(row) | UInt64(PageLayout.rowMask)
        guard lastSerial < reader.nextSerial(table.index) else { return }
        let index = row &>> PageLayout.rowShift
        let virtualPage = rows.virtualPage(row)
        if group.liveCount == 0 {
            releaseGroup(table, index, virtualPage: virtualPage)
        } else if rows.isShared(index), !rows.hasLiveRow(index, of: virtualPage) {
            forget(table, virtualPage: virtualPage)
        }
    }

    /// Removes a virtual page (a range of consecutive serials) from the map of the table. The virtual page must have no objects.
    private mutating func forget(_ table: TableLayout, virtualPage: UInt32) {
        let page = ownedTable(table.index)
        pageWriter.slot(&page.virtualPages, Int(virtualPage)).pointee = 0
        pageWriter.prune(&page.virtualPages, Int(virtualPage))
    }

    /// Releases a group after all of its rows were moved to other groups. No virtual page (a range of consecutive serials) is mapped to the
    /// group any longer.
    mutating func releaseMovedGroup(_ table: TableLayout, _ index: UInt32) {
        releaseGroup(table, index, virtualPage: nil)
    }

    /// Clears the old cells of a row that was moved to another group, because the old group may still have other rows.
    mutating func clearMoved(_ table: TableLayout, _ row: UInt32) {
        for (slot, kind) in table.columns.enumerated() where slot >= TableLayout.sourceSlot {
            switch kind {
            case .fixed(let width): clearFixed(table.index, row, slot, width: width)
            case .string: clearMovedCell(table.index, row, slot)
            case .rows: setLink(table.index, row, slot, noRow)
            case .numbers: setLink(table.index, row, slot, 0)
            }
        }
        ownedGroup(table.index, row).removeRow(row)
    }

    mutating func count(_ table: TableLayout, _ entity: EntityNumber, by step: Int) {
        let page = ownedTable(table.index)
        count(&page.liveCount, by: step)
        count(&table.count(of: entity, in: page).pointee, by: step)
    }

    /// Adds `step` to a count. The result is checked, because a page that has not been proven valid may contain a count that is too low.
    @inline(__always) func count(_ count: inout Int, by step: Int) {
        count &+= step
        if count < 0 { chunks.refuse("a count of a table would become negative") }
    }

    // MARK: Groups

    /// Returns the index of a new group of rows, without values. Reuses the index of a released group if there is one.
    mutating func newGroup(_ table: TableLayout, virtualPage: UInt32) -> UInt32 {
        let page = ownedTable(table.index)
        let index: UInt32
        if page.freeCount > 0 {
            page.freeCount -= 1
            index = pageWriter.slot(&page.free, Int(page.freeCount)).pointee
            if Int(index) >= reader.groupCount(table.index) { chunks.refuse("the free list of a table names a group that does not exist") }
        } else {
            index = page.groupCount
            page.groupCount += 1
            Trap.unless(index < TableLayout.groupCountMax, "A table holds at most 2^32 - 128 rows.")
        }
        let group = makeGroup(table, virtualPage: virtualPage)
        pageWriter.slot(&page.rows, Int(index)).pointee = group
        return index
    }

    mutating func makeGroup(_ table: TableLayout, virtualPage: UInt32) -> PageRef {
        let group = pageWriter.allocate(table.groupByteCount, .rowGroup)
        let page = chunks.group(group)
        page.clear()
        (page.virtualPage, page.provenance) = (virtualPage, transaction)
        for (slot, kind) in table.columns.enumerated() { page[slot] = kind.emptyLeaf(space.constants) }
        return group
    }

    /// Releases a group that has no live rows. Its virtual pages (ranges of consecutive serials) have no unassigned serials, so no new
    /// object needs the group.
    ///
    /// - Parameter virtualPage: The last virtual page that was mapped to the group; `nil` if no virtual page is mapped to it.
    private mutating func releaseGroup(_ table: TableLayout, _ index: UInt32, virtualPage: UInt32?) {
        let page = ownedTable(table.index)
        let reference = pageWriter.slot(&page.rows, Int(index))
        let group = chunks.group(reference.pointee)
        for slot in table.columns.indices { pageWriter.discard(group[slot]) }
        pageWriter.discard(reference.pointee)
        reference.pointee = 0
        forgetGroup()
        if let virtualPage { forget(table, virtualPage: virtualPage) }
        pageWriter.slot(&page.free, Int(page.freeCount)).pointee = index
        page.freeCount += 1
    }

    // MARK: Provenance

    /// Records the current transaction as the transaction that created a row or last changed it.
    @inline(__always)
    mutating func setProvenance(_ table: Int, _ row: UInt32, _ slot: Int) {
        let group = ownedGroup(table, row)
        let offset = transaction &- group.provenance
        let page = group[slot]
        if offset == 0, page == space.constants.zeroes { return }
        storeProvenance(group, row, slot, offset)
    }

    /// Records an earlier transaction as the transaction that created a row or last changed it.
    mutating func setProvenance(_ table: Int, _ row: UInt32, _ slot: Int, to number: UInt64) {
        let group = ownedGroup(table, row)
        storeProvenance(group, row, slot, number &- group.provenance)
    }

    @inline(never)
    mutating func storeProvenance(_ group: GroupPage, _ row: UInt32, _ slot: Int, _ offset: UInt64) {
        let reference = group.reference(slot)
        if offset > UInt64(UInt32.max), chunks.kind(reference.pointee) == .linkLeaf { widen(reference) }
        let leaf = ownedLeaf(group, slot, chunks.kind(reference.pointee) == .linkLeaf ? .linkLeaf : .wideLeaf)
        let place = Int(row & PageLayout.rowMask)
        if chunks.kind(reference.pointee) == .linkLeaf {
            LinkLeaf(leaf).values[place] = UInt32(offset)
        } else {
            WideLeaf(leaf).values[place] = offset
        }
    }

    /// Replaces a leaf of 32-bit transaction offsets with a leaf of 64-bit offsets. A group needs 64-bit offsets if one of its rows is
    /// changed at least 2^32 transactions after the group was created.
    private mutating func widen(_ reference: UnsafeMutablePointer<PageRef>) {
        let old = LinkLeaf(chunks[reference.pointee]).values
        let page = pageWriter.allocate(WideLeaf.byteCount, .wideLeaf)
        let new = WideLeaf(chunks[page]).values
        for place in 0..<PageLayout.fanOut { new[place] = UInt64(old[place]) }
        pageWriter.discard(reference.pointee)
        reference.pointee = page
    }
}
