import CambiumBytes
import CambiumModel
import Glibc

extension Draft {
    /// Creates the row of a new object. The serial must never have belonged to another object.
    mutating func insertRow(_ table: TableLayout, serial: UInt64, entity: EntityNumber) -> UInt32 {
        let row = newRow(table, serial: serial)
        if let slot = table.entitySlot { setFixed(table.index, row, slot, entity.rawValue) }
        setProvenance(table.index, row, TableLayout.createdSlot)
        setProvenance(table.index, row, TableLayout.changedSlot)
        count(table, entity, by: 1)
        if !layout.derived.isEmpty { noteDerived(ofObject: table.index, row) }
        return row
    }

    /// Removes the row of an object from the table. The row must no longer have values, links or index entries.
    mutating func removeRow(_ table: TableLayout, _ row: UInt32) {
        count(table, reader.rows(table.index).entity(row, table), by: -1)
        let group = ownedGroup(table.index, row)
        Rows.setBit(group, GroupLayout.liveBitsOffset, row, false)
        Rows.setBit(group, GroupLayout.stubBitsOffset, row, false)
        let live = group.load(fromByteOffset: GroupLayout.liveCountOffset, as: UInt32.self) &- 1
        group.storeBytes(of: live, toByteOffset: GroupLayout.liveCountOffset, as: UInt32.self)
        let rows = reader.rows(table.index)
        let lastSerial = rows.serial(row) | UInt64(PageLayout.rowMask)
        guard lastSerial < reader.nextSerial(table.index) else { return }
        let index = row &>> PageLayout.rowShift
        let virtualPage = rows.virtualPage(row)
        if live == 0 {
            releaseGroup(table, index, virtualPage: virtualPage)
        } else if rows.isShared(index), !rows.hasLiveRow(index, of: virtualPage) {
            forget(table, virtualPage: virtualPage)
        }
    }

    /// Removes a virtual page (a range of consecutive serials) from the map of the table. The virtual page must have no objects.
    private mutating func forget(_ table: TableLayout, virtualPage: UInt32) {
        let map = (ownedTable(table.index) + TablePage.virtualPagesOffset).assumingMemoryBound(to: RadixVector.self)
        slot(&map.pointee, Int(virtualPage)).pointee = 0
        prune(map, Int(virtualPage))
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
        let group = ownedGroup(table.index, row)
        Rows.setBit(group, GroupLayout.liveBitsOffset, row, false)
        Rows.setBit(group, GroupLayout.stubBitsOffset, row, false)
        (group + GroupLayout.liveCountOffset).assumingMemoryBound(to: UInt32.self).pointee &-= 1
    }

    private mutating func newRow(_ table: TableLayout, serial: UInt64) -> UInt32 {
        let page = ownedTable(table.index)
        let next = page.load(fromByteOffset: TablePage.nextSerialOffset, as: UInt64.self)
        if serial >= next { page.storeBytes(of: serial + 1, toByteOffset: TablePage.nextSerialOffset, as: UInt64.self) }
        let map = (page + TablePage.virtualPagesOffset).assumingMemoryBound(to: RadixVector.self)
        let mapped = slot(&map.pointee, Int(serial >> PageLayout.fanOutShift))
        let virtualPage = UInt32(serial >> PageLayout.fanOutShift)
        let place = UInt32(truncatingIfNeeded: serial) & PageLayout.rowMask
        if mapped.pointee == 0 {
            mapped.pointee = newGroup(table, virtualPage: virtualPage) + 1
        } else if reader.rows(table.index).isShared(mapped.pointee - 1) {
            // A shared group contains rows of several virtual pages (ranges of consecutive serials). So the row of this serial may belong
            // to an object of another virtual page.
            mapped.pointee = separate(table, virtualPage: virtualPage, from: mapped.pointee - 1) + 1
        }
        let row = (mapped.pointee - 1) << PageLayout.rowShift | place
        let group = ownedGroup(table.index, row)
        Rows.setBit(group, GroupLayout.liveBitsOffset, row, true)
        (group + GroupLayout.liveCountOffset).assumingMemoryBound(to: UInt32.self).pointee &+= 1
        return row
    }

    mutating func count(_ table: TableLayout, _ entity: EntityNumber, by step: Int) {
        let page = ownedTable(table.index)
        count(page + TablePage.liveCountOffset, by: step)
        count(page + table.countOffset(of: entity), by: step)
    }

    /// Adds `step` to a count. The result is checked, because a page that has not been proven valid may contain a count that is too low.
    @inline(__always) func count(_ place: UnsafeMutableRawPointer, by step: Int) {
        let count = place.load(as: Int.self) &+ step
        if count < 0 { chunks.refuse("a count of a table would become negative") }
        place.storeBytes(of: count, as: Int.self)
    }

    // MARK: Groups

    /// Returns the index of a new group of rows, without values. Reuses the index of a released group if there is one.
    mutating func newGroup(_ table: TableLayout, virtualPage: UInt32) -> UInt32 {
        let page = ownedTable(table.index)
        let freeCount = (page + TablePage.freeCountOffset).assumingMemoryBound(to: UInt32.self)
        let index: UInt32
        if freeCount.pointee > 0 {
            freeCount.pointee -= 1
            let free = (page + TablePage.freeOffset).assumingMemoryBound(to: RadixVector.self)
            index = slot(&free.pointee, Int(freeCount.pointee)).pointee
            if Int(index) >= reader.groupCount(table.index) { chunks.refuse("the free list of a table names a group that does not exist") }
        } else {
            let groupCount = (page + TablePage.groupCountOffset).assumingMemoryBound(to: UInt32.self)
            index = groupCount.pointee
            groupCount.pointee += 1
            Trap.unless(index < TableLayout.groupCountMax, "A table holds at most 2^32 - 128 rows.")
        }
        let group = makeGroup(table, virtualPage: virtualPage)
        let rows = (page + TablePage.rowsOffset).assumingMemoryBound(to: RadixVector.self)
        slot(&rows.pointee, Int(index)).pointee = group
        return index
    }

    mutating func makeGroup(_ table: TableLayout, virtualPage: UInt32) -> PageRef {
        let group = allocate(table.groupByteCount, .rowGroup)
        let pointer = chunks[group]
        memset(pointer + PageLayout.header, 0, GroupLayout.columnsOffset - PageLayout.header)
        pointer.storeBytes(of: virtualPage, toByteOffset: GroupLayout.virtualPageOffset, as: UInt32.self)
        pointer.storeBytes(of: transaction, toByteOffset: GroupLayout.provenanceOffset, as: UInt64.self)
        for (slot, kind) in table.columns.enumerated() {
            pointer.storeBytes(
                of: kind.emptyLeaf(space.constants), toByteOffset: GroupLayout.columnsOffset + 4 * slot, as: PageRef.self)
        }
        return group
    }

    /// Releases a group that has no live rows. Its virtual pages (ranges of consecutive serials) have no unassigned serials, so no new
    /// object needs the group.
    ///
    /// - Parameter virtualPage: The last virtual page that was mapped to the group; `nil` if no virtual page is mapped to it.
    private mutating func releaseGroup(_ table: TableLayout, _ index: UInt32, virtualPage: UInt32?) {
        let page = ownedTable(table.index)
        let rows = (page + TablePage.rowsOffset).assumingMemoryBound(to: RadixVector.self)
        let reference = slot(&rows.pointee, Int(index))
        let group = chunks[reference.pointee]
        for slot in table.columns.indices {
            discard(group.load(fromByteOffset: GroupLayout.columnsOffset + 4 * slot, as: PageRef.self))
        }
        discard(reference.pointee)
        reference.pointee = 0
        forgetGroup()
        if let virtualPage { forget(table, virtualPage: virtualPage) }
        let freeCount = (page + TablePage.freeCountOffset).assumingMemoryBound(to: UInt32.self)
        let free = (page + TablePage.freeOffset).assumingMemoryBound(to: RadixVector.self)
        slot(&free.pointee, Int(freeCount.pointee)).pointee = index
        freeCount.pointee += 1
    }

    // MARK: Provenance

    /// Records the current transaction as the transaction that created a row or last changed it.
    @inline(__always)
    mutating func setProvenance(_ table: Int, _ row: UInt32, _ slot: Int) {
        let group = ownedGroup(table, row)
        let offset = transaction &- group.load(fromByteOffset: GroupLayout.provenanceOffset, as: UInt64.self)
        let page = group.load(fromByteOffset: GroupLayout.columnsOffset &+ 4 &* slot, as: PageRef.self)
        if offset == 0, page == space.constants.zeroes { return }
        storeProvenance(group, row, slot, offset)
    }

    /// Records an earlier transaction as the transaction that created a row or last changed it.
    mutating func setProvenance(_ table: Int, _ row: UInt32, _ slot: Int, to number: UInt64) {
        let group = ownedGroup(table, row)
        storeProvenance(group, row, slot, number &- group.load(fromByteOffset: GroupLayout.provenanceOffset, as: UInt64.self))
    }

    @inline(never)
    mutating func storeProvenance(_ group: UnsafeMutableRawPointer, _ row: UInt32, _ slot: Int, _ offset: UInt64) {
        let reference = (group + GroupLayout.columnsOffset + 4 * slot).assumingMemoryBound(to: PageRef.self)
        if offset > UInt64(UInt32.max), chunks.kind(reference.pointee) == .linkLeaf { widen(reference) }
        let leaf = ownedLeaf(group, slot, chunks.kind(reference.pointee) == .linkLeaf ? .linkLeaf : .wideLeaf)
        let place = Int(row & PageLayout.rowMask)
        if chunks.kind(reference.pointee) == .linkLeaf {
            leaf.storeBytes(of: UInt32(offset), toByteOffset: PageLayout.linkValuesOffset + 4 * place, as: UInt32.self)
        } else {
            leaf.storeBytes(of: offset, toByteOffset: PageLayout.linkValuesOffset + 8 * place, as: UInt64.self)
        }
    }

    /// Replaces a leaf of 32-bit transaction offsets with a leaf of 64-bit offsets. A group needs 64-bit offsets if one of its rows is
    /// changed at least 2^32 transactions after the group was created.
    private mutating func widen(_ reference: UnsafeMutablePointer<PageRef>) {
        let old = chunks[reference.pointee]
        let page = allocate(PageLayout.wideLeafByteCount, .wideLeaf)
        for place in 0..<PageLayout.fanOut {
            let offset = old.load(fromByteOffset: PageLayout.linkValuesOffset + 4 * place, as: UInt32.self)
            chunks[page].storeBytes(
                of: UInt64(offset), toByteOffset: PageLayout.linkValuesOffset + 8 * place, as: UInt64.self)
        }
        discard(reference.pointee)
        reference.pointee = page
    }
}
