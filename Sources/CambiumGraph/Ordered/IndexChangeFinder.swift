/// Finds how the entries of the ordered indexes of one table differ between two graphs of one page space, page by page.
///
/// Pages that both graphs share are skipped. So an index costs a transaction nothing unless it changes an indexed column, or moves rows.
struct IndexChangeFinder {
    /// The table of a graph, and an index in the graph's layout.
    struct Side {
        let rows: Rows
        let reader: Reader
        let table: TableLayout

        init(_ reader: Reader, _ table: TableLayout) {
            rows = reader.rows(table.index)
            self.reader = reader
            self.table = table
        }
    }

    /// `nil` if there was no such table.
    let before: Side?
    let after: Side
    let sharing: PageSharing

    /// Calls `body` with each group that is not one page in both graphs.
    func forEachGroup(_ body: (RowGroup, RowGroup) -> Void) {
        let empty = (vector: RadixVector.empty, chunks: after.reader.chunks)
        let old = before.map { ($0.reader.vector($0.table.index, TablePage.rowsOffset), $0.reader.chunks) } ?? empty
        let new = (after.reader.vector(after.table.index, TablePage.rowsOffset), after.reader.chunks)
        RadixVector.forEachDifference(old, new, sharing) { index, left, right in
            let previous = before.map { RowGroup(left, index, $0.table.index, $0.reader) }
            body(
                previous ?? RowGroup(0, index, after.table.index, after.reader),
                RowGroup(right, index, after.table.index, after.reader))
        }
    }

    /// Adds what differs in one group to a batch.
    ///
    /// - Parameter old: the index in the layout of the older graph; `nil` if nothing of that graph is in it.
    func addChanges(_ old: OrderedIndexLayout?, _ new: OrderedIndexLayout, _ left: RowGroup, _ right: RowGroup, _ batch: inout OrderedBatch)
    {
        for word in 0..<RowGroup.wordCount {
            let was = old.map { covered($0, before, left, word) } ?? 0
            let now = covered(new, after, right, word)
            if let old, let before {
                left.forEachRow(was & ~now, word) { Self.add(old, $0, before.rows, isAdded: false, &batch) }
            }
            right.forEachRow(now & ~was, word) { Self.add(new, $0, after.rows, isAdded: true, &batch) }
            guard let old, let before, was & now != 0 else { continue }
            right.forEachRow(differing(old, new, left, right, was & now, word), word) { row in
                Self.add(old, row, before.rows, isAdded: false, &batch)
                Self.add(new, row, after.rows, isAdded: true, &batch)
                batch.dropLastPairIfEqual()
            }
        }
    }

    /// The rows of a group whose values in an indexed column may differ, among some.
    private func differing(
        _ old: OrderedIndexLayout, _ new: OrderedIndexLayout, _ left: RowGroup, _ right: RowGroup, _ rows: UInt64, _ word: Int
    ) -> UInt64 {
        var differing: UInt64 = 0
        for (component, other) in zip(old.components, new.components) {
            let (leaf, newLeaf) = (left.leaf(component.slot), right.leaf(other.slot))
            if sharing.isOnePage(leaf, newLeaf) { continue }
            let chunks = after.reader.chunks
            differing |= LeafPair(chunks[leaf], chunks[newLeaf]).differingRows(component.kind, rows, word)
        }
        return differing
    }

    /// The rows of a group that are in an index.
    private func covered(_ index: OrderedIndexLayout, _ side: Side?, _ group: RowGroup, _ word: Int) -> UInt64 {
        let live = group.live(word)
        guard !index.coversTable, live != 0, let side else { return live }
        var bits: UInt64 = 0
        group.forEachRow(live, word) { row in
            if index.family.contains(side.rows.entity(row, side.table)) { bits |= 1 << UInt64(row & 63) }
        }
        return bits
    }

    @inline(__always)
    static func add(_ index: OrderedIndexLayout, _ row: UInt32, _ rows: Rows, isAdded: Bool, _ batch: inout OrderedBatch) {
        let room = batch.room(OrderedIndexLayout.entryRoom)
        batch.append(index.writeEntry(row, rows, to: room), isAdded: isAdded)
    }
}
