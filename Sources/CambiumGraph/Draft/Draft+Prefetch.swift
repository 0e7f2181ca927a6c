package import CambiumModel

/// Loading the memory that later ops of a replay will change, while earlier ops are applied.
///
/// Only chunks that were read before are touched, and only pages whose headers fit. So a reference in a page that has not been proven valid
/// leads to no other memory.
extension Draft {
    /// The maximum number of cells of an op that are prefetched.
    private static let prefetchedCellCountMax = 4

    /// Prefetches the page of the group of rows that an op sets values in.
    package borrowing func prefetchPage(of op: Op) {
        guard case .set(let id, _) = op, let table = layout.table(of: id.root) else { return }
        reader.touchedGroup(table.index, id.serial)?.prefetch()
    }

    /// Prefetches the cells that an op sets. The page of their group should have been prefetched before.
    package borrowing func prefetchCells(of op: Op) {
        guard case .set(let id, let assignments) = op, let table = layout.table(of: id.root),
            let group = reader.touchedGroup(table.index, id.serial), group.isGroup(columnCount: table.columns.count)
        else { return }
        let row = UInt32(truncatingIfNeeded: id.serial) & PageLayout.rowMask
        for assignment in assignments.prefix(Self.prefetchedCellCountMax) {
            guard let slot = table.slot(ifKnown: assignment.property), case .fixed(let width) = table.columns[slot],
                let leaf = chunks.touched(group[slot])
            else { continue }
            FixedLeaf(leaf).prefetch(row, width: width)
        }
        if let leaf = chunks.touched(group[TableLayout.changedSlot]) { LinkLeaf(leaf).prefetch(row) }
    }
}
