package import CambiumModel

/// Loading the memory that later ops of a replay will change, while earlier ops are applied.
///
/// Only chunks that were read before are touched, and only pages whose headers fit. So a reference in a page that has not been proven valid
/// leads to no other memory.
extension Draft {
    /// Prefetches the page of the group of rows that has a cell.
    package borrowing func prefetchPage(of target: OpTarget) {
        guard let table = layout.table(of: target.id.root) else { return }
        reader.touchedGroup(table.index, target.id.serial)?.prefetch()
    }

    /// Prefetches a cell, and the cell of its provenance. The page of their group should have been prefetched before.
    package borrowing func prefetchCell(of target: OpTarget) {
        guard let table = layout.table(of: target.id.root), let group = reader.touchedGroup(table.index, target.id.serial),
            group.isGroup(columnCount: table.columns.count)
        else { return }
        let row = UInt32(truncatingIfNeeded: target.id.serial) & PageLayout.rowMask
        if let slot = table.slot(ifKnown: target.property), case .fixed(let width) = table.columns[slot],
            let leaf = chunks.touched(group[slot])
        {
            FixedLeaf(leaf).prefetch(row, width: width)
        }
        if let leaf = chunks.touched(group[TableLayout.changedSlot]) { LinkLeaf(leaf).prefetch(row) }
    }
}
