import CambiumModel
import Glibc

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
        store(table.index, row, slot, table.columns[slot], cell)
        joinIndexes(table, slot, row)
        touched?.markAttributes(table.index, row)
        if !layout.derived.isEmpty { noteDerived(from: table.index, slot, row) }
    }

    /// Stores a value in a column. The row must not be in an index over the column.
    @inline(__always)
    mutating func store(_ table: Int, _ row: UInt32, _ slot: Int, _ kind: ColumnKind, _ cell: Cell) {
        guard case .fixed(let width) = kind else {
            setBytes(table, row, slot, cell.kind == .null ? nil : cell.bytes)
            return
        }
        if cell.kind == .null { return clearFixed(table, row, slot, width: width) }
        switch width {
        case 1: setFixed(table, row, slot, UInt8(truncatingIfNeeded: cell.low))
        case 2: setFixed(table, row, slot, UInt16(truncatingIfNeeded: cell.low))
        case 4: setFixed(table, row, slot, UInt32(truncatingIfNeeded: cell.low))
        case 8: setFixed(table, row, slot, cell.low)
        default: setFixed(table, row, slot, SIMD2<UInt64>(cell.low, cell.high))
        }
    }

    /// Adds a row to an index if the index covers the row's entity and the row's key contains no null. If another row has the same key,
    /// schedules a check for the end of the transaction.
    mutating func addToIndex(_ table: TableLayout, _ index: IndexLayout, _ row: UInt32) {
        guard covers(index, table, row) else { return }
        let reader = reader
        guard let hash = reader.keyHash(index, reader.rows(table.index), row) else { return }
        if !pending.isOff, reader.duplicate(of: row, hash: hash, table.index, index) != noRow {
            pending.noteDuplicate(table.index, index.number, row)
        }
        addEntry(table.index, index.number, hash: hash, row: row)
    }

    mutating func removeFromIndex(_ table: TableLayout, _ index: IndexLayout, _ row: UInt32) {
        guard covers(index, table, row) else { return }
        let reader = reader
        guard let hash = reader.keyHash(index, reader.rows(table.index), row) else { return }
        removeEntry(table.index, index.number, hash: hash, row: row)
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
        guard layout.hasIndexedLinks else { return setLink(table, row, slot, target) }
        leaveIndexes(layout, slot, row)
        setLink(table, row, slot, target)
        joinIndexes(layout, slot, row)
    }

    private func covers(_ index: IndexLayout, _ table: TableLayout, _ row: UInt32) -> Bool {
        index.coversTable || index.family.contains(reader.rows(table.index).entity(row, table))
    }

    /// Turns an object into a stub (an object of which only the identity is known), or a stub into a full object.
    mutating func setStub(_ table: TableLayout, _ row: UInt32, _ isStub: Bool) {
        guard reader.rows(table.index).isStub(row) != isStub else { return }
        ownedGroup(table.index, row).setStub(row, isStub)
        touched?.markAttributes(table.index, row)
    }

    @inline(__always)
    mutating func ownedLeaf(
        _ group: GroupPage, _ slot: Int, _ kind: PageKind? = nil, byteCount: Int = 0
    ) -> UnsafeMutableRawPointer {
        let reference = group.reference(slot)
        own(&reference.pointee, kind, byteCount: byteCount)
        return chunks[reference.pointee]
    }

    // MARK: Cells

    @inline(__always)
    func link(_ table: Int, _ row: UInt32, _ slot: Int) -> UInt32 { reader.rows(table).link(row, slot) }

    @inline(__always)
    mutating func setLink(_ table: Int, _ row: UInt32, _ slot: Int, _ value: UInt32) {
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .linkLeaf)
        LinkLeaf(leaf)[row] = value
    }

    @inline(__always)
    mutating func setFixed<T: BitwiseCopyable>(_ table: Int, _ row: UInt32, _ slot: Int, _ value: T) {
        let byteCount = FixedLeaf.byteCount(width: MemoryLayout<T>.stride)
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .fixedLeaf, byteCount: byteCount)
        FixedLeaf(leaf).set(row, value)
    }

    /// Sets a fixed-width value to null.
    mutating func clearFixed(_ table: Int, _ row: UInt32, _ slot: Int, width: Int) {
        guard reader.rows(table).isPresent(row, slot) else { return }
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: width))
        FixedLeaf(leaf).clear(row, width: width)
    }
}
