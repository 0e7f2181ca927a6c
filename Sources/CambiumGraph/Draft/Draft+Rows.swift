import CambiumModel
import Glibc

extension Draft {
    /// Creates the row of a new object, or of an object that comes back under the serial that it had. No object may have the serial now.
    mutating func insertRow(_ table: TableLayout, serial: UInt64, entity: EntityNumber) -> UInt32 {
        let row = newRow(table, serial: serial)
        if let slot = table.entitySlot { tableWriter.setFixed(table.index, row, slot, entity.rawValue) }
        tableWriter.setProvenance(table.index, row, TableLayout.createdSlot)
        tableWriter.setProvenance(table.index, row, TableLayout.changedSlot)
        tableWriter.count(table, entity, by: 1)
        if !layout.derived.isEmpty { DerivedNotes.trackDerived(&self, ofObject: table.index, row) }
        return row
    }

    private mutating func newRow(_ table: TableLayout, serial: UInt64) -> UInt32 {
        let page = tableWriter.ownedTable(table.index)
        if serial >= page.nextSerial { page.nextSerial = serial + 1 }
        let mapped = pageWriter.slot(&page.virtualPages, Int(serial >> PageLayout.fanOutShift))
        let virtualPage = UInt32(serial >> PageLayout.fanOutShift)
        let place = UInt32(truncatingIfNeeded: serial) & PageLayout.rowMask
        if mapped.pointee == 0 {
            mapped.pointee = tableWriter.newGroup(table, virtualPage: virtualPage) + 1
        } else if reader.rows(table.index).isShared(mapped.pointee - 1) {
            // A shared group contains rows of several virtual pages (ranges of consecutive serials). So the row of this serial may belong
            // to an object of another virtual page.
            mapped.pointee = RowMover.separate(&self, table, virtualPage: virtualPage, from: mapped.pointee - 1) + 1
        }
        let row = (mapped.pointee - 1) << PageLayout.rowShift | place
        tableWriter.ownedGroup(table.index, row).addRow(row)
        return row
    }
}

extension Draft {
    /// Stores a value in a column, and updates the indexes over the column. Returns whether the new value differs from the old value.
    @discardableResult
    mutating func set(_ table: TableLayout, _ row: UInt32, _ slot: Int, _ cell: Cell) -> Bool {
        if reader.rows(table.index).equals(row, slot, table.columns[slot], cell) { return false }
        replace(table, row, slot, cell)
        return true
    }

    /// Stores a value as `set` does, but does not compare it with the old value first, because the two values probably differ.
    mutating func replace(_ table: TableLayout, _ row: UInt32, _ slot: Int, _ cell: Cell) {
        leaveIndexes(table, slot, row)
        tableWriter.store(table.index, row, slot, table.columns[slot], cell)
        joinIndexes(table, slot, row)
        touched?.markAttributes(table.index, row)
        if !layout.derived.isEmpty { DerivedNotes.trackDerived(&self, from: table.index, slot, row) }
    }

    /// Adds a row to an index if the index covers the row's entity and the row's key contains no null. If another row has the same key,
    /// schedules a check for the end of the transaction.
    mutating func addToIndex(_ table: TableLayout, _ index: IndexLayout, _ row: UInt32) {
        guard covers(index, table, row) else { return }
        let reader = reader
        guard let hash = reader.keyHash(index, reader.rows(table.index), row) else { return }
        if !pending.isOff, reader.duplicate(of: row, hash: hash, table.index, index) != noRow {
            pending.reportDuplicate(table.index, index.number, row)
        }
        indexWriter.addEntry(table.index, index.number, hash: hash, row: row)
    }

    mutating func removeFromIndex(_ table: TableLayout, _ index: IndexLayout, _ row: UInt32) {
        guard covers(index, table, row) else { return }
        let reader = reader
        guard let hash = reader.keyHash(index, reader.rows(table.index), row) else { return }
        indexWriter.removeEntry(table.index, index.number, hash: hash, row: row)
    }

    /// Removes a row from the indexes over a column, before the value in the column changes.
    @inline(__always)
    mutating func leaveIndexes(_ table: TableLayout, _ slot: Int, _ row: UInt32) {
        for index in table.indexesOfSlot[slot] { removeFromIndex(table, table.indexes[index], row) }
    }

    /// Adds a row to the indexes over a column, after the value in the column changed.
    @inline(__always)
    mutating func joinIndexes(_ table: TableLayout, _ slot: Int, _ row: UInt32) {
        for index in table.indexesOfSlot[slot] { addToIndex(table, table.indexes[index], row) }
    }

    /// Stores the target of a to-one relationship, and updates the indexes over the relationship.
    mutating func setTarget(_ table: Int, _ row: UInt32, _ slot: Int, _ target: UInt32) {
        let layout = layout.tables[table]
        guard layout.hasIndexedLinks else { return tableWriter.setLink(table, row, slot, target) }
        leaveIndexes(layout, slot, row)
        tableWriter.setLink(table, row, slot, target)
        joinIndexes(layout, slot, row)
    }

    private func covers(_ index: IndexLayout, _ table: TableLayout, _ row: UInt32) -> Bool {
        index.coversTable || index.family.contains(reader.rows(table.index).entity(row, table))
    }

    /// Turns an object into a stub (an object of which only the identity is known), or a stub into a full object.
    mutating func setStub(_ table: TableLayout, _ row: UInt32, _ isStub: Bool) {
        guard reader.rows(table.index).isStub(row) != isStub else { return }
        tableWriter.ownedGroup(table.index, row).setStub(row, isStub)
        touched?.markAttributes(table.index, row)
    }

    @inline(__always)
    func link(_ table: Int, _ row: UInt32, _ slot: Int) -> UInt32 { reader.rows(table).link(row, slot) }

    /// Adds new rows to an index, bucket by bucket. Records a row for a later check if the index already has the row's key.
    ///
    /// - Parameter rows: Rows of one entity that are in no index yet.
    mutating func addToIndex(_ table: TableLayout, _ index: IndexLayout, bulk rows: [UInt32]) {
        let reader = reader
        let tableRows = reader.rows(table.index)
        guard let first = rows.first, index.coversTable || index.family.contains(tableRows.entity(first, table)) else { return }
        var entries: [UInt64] = []
        entries.reserveCapacity(rows.count)
        for row in rows {
            if let hash = reader.keyHash(index, tableRows, row) { entries.append(hash & IndexWriter.hashMask | UInt64(row)) }
        }
        var other: [UInt64] = []
        addEntries(table, index, &entries, &other, isUnique: pending.isOff)
    }

    /// The number of groups whose entries are sorted together. The entries take 4 MiB of memory, which the next batch reuses.
    static let batchPageCount = (1 << 18) / PageLayout.fanOut

    /// Adds entries to an index as `IndexWriter` does, and schedules a check of each row whose key is in the index already.
    mutating func addEntries(
        _ table: TableLayout, _ index: IndexLayout, _ entries: inout [UInt64], _ other: inout [UInt64], isUnique: Bool
    ) {
        for row in indexWriter.addEntries(table, index, &entries, &other, isUnique: isUnique) {
            pending.reportDuplicate(table.index, index.number, row)
        }
    }
}
