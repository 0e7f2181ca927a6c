import CambiumModel

/// Applies collected changes to the trees of ordered indexes.
extension OrderedWriter {
    /// The entries of one index in a batch.
    struct IndexPart {
        let index: OrderedIndexLayout
        let entries: Range<Int>
    }

    /// The maximum number of changes whose nodes are prefetched together. The nodes of more changes may not fit into the processor's
    /// second-level cache.
    static let jointCountMax = 64

    /// Applies the changes in a batch to their indexes, and empties the batch and the list of its parts.
    static func merge(_ draft: inout Draft, _ parts: inout [IndexPart], of batch: inout OrderedBatch) {
        if batch.count > 1, batch.count <= Self.jointCountMax { prefetchNodes(draft, of: parts, batch) }
        for part in parts {
            draft.replayWork += part.entries.count * ReplayWork.indexEntry
            var record = draft.reader.record(of: part.index, draft.layout)
            merge(&draft, &batch, part.entries, into: &record)
            store(&draft, record, part.index)
        }
        parts.removeAll(keepingCapacity: true)
        batch.removeAll()
    }

    /// Prefetches the nodes that the changes in a batch reach, level by level for all changes. So the processor waits for the nodes of all
    /// indexes at the same time. Otherwise, it would wait for one node after another.
    private static func prefetchNodes(_ draft: borrowing Draft, of parts: [IndexPart], _ batch: borrowing OrderedBatch) {
        guard draft.chunks.isProven else { return }
        withUnsafeTemporaryAllocation(of: (page: PageRef, level: UInt32, entry: Int).self, capacity: batch.count) { paths in
            var count = 0
            for part in parts {
                let tree = draft.reader.record(of: part.index, draft.layout).tree
                // The few nodes of a small tree are usually in the cache.
                if tree.height < 3 { continue }
                for entry in part.entries {
                    paths.initializeElement(at: count, to: (tree.root, tree.height - 1, entry))
                    count += 1
                }
            }
            while count > 0 {
                var remaining = 0
                for path in paths[..<count] {
                    // SAFETY: the search may read eight bytes beyond the entry. `IndexChangeFinder.add` reserves more memory than that.
                    let node = OrderedInner(draft.chunks[path.page])
                    let child = node.references[node.child(of: batch.entry(path.entry))]
                    prefetch(draft, child)
                    if path.level == 1 { continue }
                    paths[remaining] = (child, path.level - 1, path.entry)
                    remaining += 1
                }
                count = remaining
            }
        }
    }

    static func store(_ draft: inout Draft, _ record: IndexDirectory.Record, _ index: OrderedIndexLayout) {
        if record != draft.reader.record(of: index, draft.layout) { ownedIndexDirectory(&draft)[index.number] = record }
    }

    /// Applies a range of the changes in a batch to an index. If there are not enough pages, drops the index. The index is built again
    /// later, when pages are free.
    static func merge(_ draft: inout Draft, _ batch: inout OrderedBatch, _ entries: Range<Int>, into record: inout IndexDirectory.Record) {
        if entries.isEmpty || record.groupCount == 0 { return }
        // The batch may also have the entries of other indexes, for which this index needs no pages.
        guard hasPages(draft, for: entries.count, batch.byteCount(of: entries), record.tree) else {
            discard(&draft, record.tree)
            record = IndexDirectory.Record(specification: record.specification)
            return
        }
        var tree = record.tree
        batch.withSorted(entries) { apply(&draft, $0, to: &tree) }
        record.tree = tree
    }

    /// Returns whether there are enough pages for copies of the leaves that change, for new leaves, and for the nodes above them.
    private static func hasPages(_ draft: borrowing Draft, for count: Int, _ byteCount: Int, _ tree: OrderedTree) -> Bool {
        let all = Int(clamping: tree.count) * OrderedNode.entryByteCountMax / OrderedNode.byteCount
        let nodes = 2 * (min(count, all) + 2 * byteCount / OrderedNode.byteCount) + 2 * OrderedNode.heightMax
        let perChunk = PageLayout.chunkByteCount / OrderedNode.byteCount
        return draft.space.canOpen(nodes / perChunk + 2)
    }

    private static func ownedIndexDirectory(_ draft: inout Draft) -> IndexDirectory {
        guard let place = draft.layout.indexesPlace else {
            preconditionFailure("A layout with indexes must have a directory of indexes.")
        }
        let directory = draft.tableWriter.ownedDirectory()
        draft.pageWriter.own(&directory[place], .indexDirectory, byteCount: IndexDirectory.byteCount(draft.layout.ordered.count))
        return IndexDirectory(draft.chunks[directory[place]])
    }
}
