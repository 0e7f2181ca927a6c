import CambiumModel

extension Draft {
    /// Creates the row of a new object, or of an object that comes back under the serial that it had. No object may have the serial now.
    mutating func insertRow(_ table: TableLayout, serial: UInt64, entity: EntityNumber) -> UInt32 {
        let row = newRow(table, serial: serial)
        if let slot = table.entitySlot { tableWriter.setFixed(table.index, row, slot, entity.rawValue) }
        tableWriter.setProvenance(table.index, row, TableLayout.createdSlot)
        tableWriter.setProvenance(table.index, row, TableLayout.changedSlot)
        tableWriter.count(table, entity, by: 1)
        if !layout.derived.isEmpty { DerivedNotes.noteDerived(&self, ofObject: table.index, row) }
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
