import CambiumModel

extension Rows {
    /// Returns the concrete entity of a row.
    @inline(__always) func entity(_ row: UInt32, _ table: TableLayout) -> EntityNumber {
        guard let slot = table.entitySlot else { return table.entities[0] }
        return EntityNumber(rawValue: fixed(row, slot, as: UInt16.self))
    }
}
