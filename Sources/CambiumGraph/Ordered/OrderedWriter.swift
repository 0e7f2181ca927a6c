import CambiumModel

/// Updates ordered indexes when a draft is published. The draft compares its pages with the pages of the previous version, sorts the
/// differences and merges them into the trees of the indexes. So no op updates an ordered index.
enum OrderedWriter {
    /// Updates the ordered indexes, and continues to build the incomplete indexes.
    ///
    /// - Parameter rowCountMax: The approximate maximum number of rows that are added to all incomplete indexes together.
    ///
    /// Complexity: O(tables with indexes) if none of these tables was changed.
    static func updateIndexes(_ draft: inout Draft, rowCountMax: Int) {
        if draft.layout.ordered.isEmpty, draft.base.layout.ordered.isEmpty { return }
        if draft.layout === draft.base.layout, hasSameIndexedTables(draft) { return buildIndexes(&draft, rowCountMax: rowCountMax) }
        // A migration creates a directory page that does not refer to an index directory yet.
        if draft.layout !== draft.base.layout {
            remakeIndexDirectory(&draft, draft.base.reader, draft.base.layout)
        } else if !(draft.reader.indexDirectory(of: draft.layout)?.fits(draft.layout) ?? false) {
            remakeIndexDirectory(&draft, draft.reader, draft.layout)
        }
        for (number, indexes) in draft.layout.orderedByTable { update(&draft, indexes, draft.layout.tables[number]) }
        buildIndexes(&draft, rowCountMax: rowCountMax)
    }

    private static func hasSameIndexedTables(_ draft: borrowing Draft) -> Bool {
        let reader = draft.reader
        return reader.indexDirectoryReference(of: draft.layout) != 0
            && draft.layout.orderedByTable.allSatisfy { reader.tableReference($0.table) == draft.base.reader.tableReference($0.table) }
    }

    /// Creates a directory for the indexes of the layout. Keeps the trees of indexes that stay the same, and releases all other trees.
    ///
    /// - Parameter old: Reads the existing index directory, which belongs to `oldLayout`.
    private static func remakeIndexDirectory(_ draft: inout Draft, _ old: Reader, _ oldLayout: GraphLayout) {
        var known = old.indexDirectory(of: oldLayout)?.records ?? []
        var records: [IndexDirectory.Record] = []
        for index in draft.layout.ordered {
            if let place = known.firstIndex(where: { $0.specification == index.specification }), hasSameObjects(draft, index, oldLayout) {
                records.append(known.remove(at: place))
            } else {
                // An index of a table without rows has nothing to build, so it is complete at once.
                let oldGroupCount = oldTable(draft, of: index.root).map { draft.base.reader.groupCount($0.index) } ?? 0
                // A writer that opens the store builds the whole index, if no checkpoint has it.
                draft.replayWork += oldGroupCount * PageLayout.fanOut * ReplayWork.indexEntry
                let groupCount = oldGroupCount == 0 ? IndexDirectory.Record.all : 0
                records.append(IndexDirectory.Record(specification: index.specification, groupCount: groupCount))
            }
        }
        for record in known { discard(&draft, record.tree) }
        let before = old.indexDirectoryReference(of: oldLayout)
        if before != 0 { draft.pageWriter.discard(before) }
        guard let place = draft.layout.indexesPlace else { return }
        let page = draft.pageWriter.allocate(IndexDirectory.byteCount(records.count), .indexDirectory)
        let directory = IndexDirectory(draft.chunks[page])
        directory.count = records.count
        for (number, record) in records.enumerated() { directory[number] = record }
        draft.tableWriter.ownedDirectory()[place] = page
    }

    /// Returns whether an index contains the same objects as in the old layout. The objects differ if a migration gave an entity another
    /// parent.
    private static func hasSameObjects(_ draft: borrowing Draft, _ index: OrderedIndexLayout, _ oldLayout: GraphLayout) -> Bool {
        guard let before = oldLayout.ordered.first(where: { $0.hasSameKeys(as: index) }) else { return false }
        let staying = Set(oldLayout.tables[before.table].entities).intersection(draft.layout.tables[index.table].entities)
        return before.family.intersection(staying) == index.family.intersection(staying)
    }

    /// Returns the table of a root entity's objects in the previous version.
    private static func oldTable(_ draft: borrowing Draft, of root: EntityNumber) -> TableLayout? { draft.base.layout.table(of: root) }

    // MARK: Changes

    private static func update(_ draft: inout Draft, _ indexes: [OrderedIndexLayout], _ table: TableLayout) {
        guard let root = table.root else { return }
        let previous = oldTable(draft, of: root.number)
        let before = previous.map { IndexChangeFinder.Side(draft.base.reader, $0) }
        if let before, draft.base.reader.tableReference(before.table.index) == draft.reader.tableReference(table.index),
            draft.layout === draft.base.layout
        {
            return
        }
        let finder = IndexChangeFinder(before: before, after: .init(draft.reader, table), sharing: PageSharing(draft.space, draft.space))
        var groups: [(RowGroup, RowGroup)] = []
        finder.forEachGroup { groups.append(($0, $1)) }
        var batch = OrderedBatch()
        var parts: [IndexPart] = []
        for index in indexes {
            let old = draft.layout === draft.base.layout ? index : draft.base.layout.ordered.first { $0.hasSameKeys(as: index) }
            var groupCount = draft.reader.record(of: index, draft.layout).groupCount
            var start = batch.count
            for (left, right) in groups where right.index < groupCount {
                finder.addChanges(old, index, left, right, &batch)
                if !batch.isFull { continue }
                parts.append(IndexPart(index: index, entries: start..<batch.count))
                merge(&draft, &parts, of: &batch)
                (groupCount, start) = (draft.reader.record(of: index, draft.layout).groupCount, 0)
            }
            if batch.count > start { parts.append(IndexPart(index: index, entries: start..<batch.count)) }
            if batch.count > Self.jointCountMax { merge(&draft, &parts, of: &batch) }
        }
        merge(&draft, &parts, of: &batch)
    }

    // MARK: Building

    /// Adds further rows to the indexes that are not complete, one index after the other.
    private static func buildIndexes(_ draft: inout Draft, rowCountMax: Int) {
        guard let directory = draft.reader.indexDirectory(of: draft.layout), rowCountMax > 0 else { return }
        var count = 0
        for index in draft.layout.ordered.filter({ !directory[$0.number].isComplete }) {
            if count >= rowCountMax || draft.space.isInReserve { return }
            count += build(&draft, index, draft.layout.tables[index.table], rowCountMax - count)
            // If the index still lacks rows, or too few pages were free, the next call continues with this index.
            if !draft.reader.record(of: index, draft.layout).isComplete { return }
        }
    }

    /// Adds further rows to an index. Returns the number of rows and groups that were examined.
    private static func build(_ draft: inout Draft, _ index: OrderedIndexLayout, _ table: TableLayout, _ rowCountMax: Int) -> Int {
        var record = draft.reader.record(of: index, draft.layout)
        let groupCount = UInt32(draft.reader.groupCount(table.index))
        var batch = OrderedBatch()
        var count = 0
        var next = record.groupCount
        let rows = draft.reader.rows(table.index)
        while next < groupCount, count < rowCountMax, !batch.isFull {
            // Skipping an empty group costs little, but a table may have many of them. So each group counts as one row.
            count += 1
            draft.reader.forEachRow(of: table, groups: Int(next)..<Int(next) + 1) { row in
                guard index.covers(row, rows, table) else { return }
                IndexChangeFinder.add(index, row, rows, isAdded: true, &batch)
                count += 1
            }
            next += 1
        }
        // `merge` ignores a record whose `groupCount` is 0, and sets `groupCount` to 0 if there are not enough pages. So `groupCount` must
        // be at least 1 here.
        record.groupCount = max(next, 1)
        merge(&draft, &batch, 0..<batch.count, into: &record)
        if record.groupCount > 0 { record.groupCount = next >= groupCount ? IndexDirectory.Record.all : next }
        store(&draft, record, index)
        return count
    }
}

extension Graph {
    /// Whether an ordered index of the schema lacks objects because it is still being built.
    package var hasIncompleteIndexes: Bool {
        layout.ordered.contains { !reader.record(of: $0, layout).isComplete }
    }

    var indexedGroupCounts: [UInt32] { layout.ordered.map { reader.record(of: $0, layout).groupCount } }
}

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
