/// Finds the differences between the entries of one table's ordered indexes in two graphs of one page space, page by page.
///
/// The finder skips pages that the two graphs have in common. So it visits only groups of rows that differ. In such a group, it compares
/// the values of an indexed column only if the pages of the column differ.
struct IndexChangeFinder {
    /// A table in one graph. Copying the value changes no reference count.
    ///
    /// SAFETY: the layout of the graph keeps the table alive. The creator of the finder keeps the graph alive while it uses the finder.
    struct Side {
        let rows: Rows
        let reader: Reader
        unowned(unsafe) let table: TableLayout

        init(_ reader: Reader, _ table: TableLayout) {
            rows = reader.rows(table.index)
            self.reader = reader
            self.table = table
        }
    }

    /// The table in the older graph, or `nil` if the older graph does not have the table.
    let before: Side?
    let after: Side
    let sharing: PageSharing

    /// Calls `body` with each group of rows whose page differs between the graphs.
    func forEachGroup(_ body: (RowGroup, RowGroup) -> Void) {
        // If the table is new, its old vector is empty. Then `oldTable` and `oldReader` are only placeholders from the newer graph.
        let (oldTable, newTable) = (before?.table.index ?? after.table.index, after.table.index)
        let (oldReader, newReader) = (before?.reader ?? after.reader, after.reader)
        let old = before == nil ? RadixVector.empty : oldReader.tablePage(oldTable).rows
        let new = newReader.tablePage(newTable).rows
        RadixVector.forEachDifference((old, oldReader.chunks), (new, newReader.chunks), sharing) { index, left, right in
            body(RowGroup(left, index, oldTable, oldReader), RowGroup(right, index, newTable, newReader))
        }
    }

    /// Adds the differences in one group between the older and the newer graph to a batch.
    ///
    /// - Parameter old: The index with the same keys in the layout of the older graph; `nil` if that layout has no such index. Then every
    ///   indexed row of the group is added.
    func addChanges(_ old: OrderedIndexLayout?, _ new: OrderedIndexLayout, _ left: RowGroup, _ right: RowGroup, _ batch: inout OrderedBatch)
    {
        for word in 0..<RowGroup.wordCount {
            var was: UInt64 = 0
            if let old, let before { was = covered(old, before, left, word) }
            let now = covered(new, after, right, word)
            if let old, let before {
                left.forEachRow(was & ~now, word) { Self.add(old, $0, before.rows, isAdded: false, &batch) }
            }
            right.forEachRow(now & ~was, word) { Self.add(new, $0, after.rows, isAdded: true, &batch) }
            guard let old, let before, was & now != 0 else { continue }
            right.forEachRow(differing(old.components, new.components, left, right, was & now, word), word) { row in
                Self.add(old, row, before.rows, isAdded: false, &batch)
                Self.add(new, row, after.rows, isAdded: true, &batch)
                batch.dropLastPairIfEqual()
            }
        }
    }

    /// Calls `body` with each row of a group that exists in only one of the graphs, or that may have different values in some columns.
    func forEachChange(in components: [OrderedIndexLayout.Component], _ left: RowGroup, _ right: RowGroup, _ body: (UInt32) -> Void) {
        for word in 0..<RowGroup.wordCount {
            let (was, now) = (left.live(word), right.live(word))
            right.forEachRow(was ^ now | differing(components, components, left, right, was & now, word), word, body)
        }
    }

    /// Returns those of the given rows whose entries in an index may differ between the two graphs.
    private func differing(
        _ old: [OrderedIndexLayout.Component], _ new: [OrderedIndexLayout.Component], _ left: RowGroup, _ right: RowGroup, _ rows: UInt64,
        _ word: Int
    ) -> UInt64 {
        // An entry contains the virtual page of its object. A packed table may have another object in the same row.
        if left.virtualPage == nil || left.virtualPage != right.virtualPage { return rows }
        var differing: UInt64 = 0
        for (component, other) in zip(old, new) {
            let (leaf, newLeaf) = (left.leaf(component.slot), right.leaf(other.slot))
            if sharing.isOnePage(leaf, newLeaf) { continue }
            let chunks = after.reader.chunks
            differing |= LeafPair(chunks[leaf], chunks[newLeaf]).differingRows(component.kind, rows, word)
        }
        return differing
    }

    /// Returns the rows of a group that are in an index, as bits.
    private func covered(_ index: OrderedIndexLayout, _ side: Side, _ group: RowGroup, _ word: Int) -> UInt64 {
        let live = group.live(word)
        if index.coversTable && index.ownerSlot == nil || live == 0 { return live }
        var bits: UInt64 = 0
        group.forEachRow(live, word) { row in
            if index.covers(row, side.rows, side.table) { bits |= 1 << UInt64(row & 63) }
        }
        return bits
    }

    @inline(__always)
    static func add(_ index: OrderedIndexLayout, _ row: UInt32, _ rows: Rows, isAdded: Bool, _ batch: inout OrderedBatch) {
        let memory = batch.reserve(OrderedIndexLayout.entryByteCountMax)
        batch.append(index.writeEntry(row, rows, to: memory), isAdded: isAdded)
    }
}
