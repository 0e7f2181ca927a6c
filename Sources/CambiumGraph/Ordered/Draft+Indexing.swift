import CambiumModel

/// Updates ordered indexes when a draft is published. The draft compares its pages with the pages of the previous version, sorts the
/// differences and merges them into the trees of the indexes. So no op updates an ordered index.
extension Draft {
    /// Updates the ordered indexes, and continues to build the incomplete indexes.
    ///
    /// - Parameter rowCountMax: The approximate maximum number of rows that are added to all incomplete indexes together.
    ///
    /// Complexity: O(tables with indexes) if none of these tables was changed.
    mutating func updateIndexes(rowCountMax: Int) {
        if layout.ordered.isEmpty, base.layout.ordered.isEmpty { return }
        if layout === base.layout, hasSameIndexedTables { return buildIndexes(rowCountMax: rowCountMax) }
        // A migration creates a directory page that does not refer to an index directory yet.
        if layout !== base.layout {
            remakeIndexDirectory(base.reader, base.layout)
        } else if !(reader.indexDirectory(of: layout)?.fits(layout) ?? false) {
            remakeIndexDirectory(reader, layout)
        }
        for (number, indexes) in layout.orderedByTable { update(indexes, layout.tables[number]) }
        buildIndexes(rowCountMax: rowCountMax)
    }

    private var hasSameIndexedTables: Bool {
        let reader = reader
        return reader.indexDirectoryReference(of: layout) != 0
            && layout.orderedByTable.allSatisfy { reader.tableReference($0.table) == base.reader.tableReference($0.table) }
    }

    /// Creates a directory for the indexes of the layout. Keeps the trees of indexes that stay the same, and releases all other trees.
    ///
    /// - Parameter old: Reads the existing index directory, which belongs to `oldLayout`.
    private mutating func remakeIndexDirectory(_ old: Reader, _ oldLayout: GraphLayout) {
        var known = old.indexDirectory(of: oldLayout)?.records ?? []
        var records: [IndexDirectory.Record] = []
        for index in layout.ordered {
            if let place = known.firstIndex(where: { $0.specification == index.specification }), hasSameObjects(index, oldLayout) {
                records.append(known.remove(at: place))
            } else {
                // An index of a table without rows has nothing to build, so it is complete at once.
                let oldGroupCount = oldTable(of: index.root).map { base.reader.groupCount($0.index) } ?? 0
                // A writer that opens the store builds the whole index, if no checkpoint has it.
                replayWork += oldGroupCount * PageLayout.fanOut * ReplayWork.indexEntry
                let groupCount = oldGroupCount == 0 ? IndexDirectory.Record.all : 0
                records.append(IndexDirectory.Record(specification: index.specification, groupCount: groupCount))
            }
        }
        for record in known { discard(record.tree) }
        let before = old.indexDirectoryReference(of: oldLayout)
        if before != 0 { pageWriter.discard(before) }
        guard let place = layout.indexesPlace else { return }
        let page = pageWriter.allocate(IndexDirectory.byteCount(records.count), .indexDirectory)
        let directory = IndexDirectory(chunks[page])
        directory.count = records.count
        for (number, record) in records.enumerated() { directory[number] = record }
        tableWriter.ownedDirectory()[place] = page
    }

    /// Returns whether an index contains the same objects as in the old layout. The objects differ if a migration gave an entity another
    /// parent.
    private func hasSameObjects(_ index: OrderedIndexLayout, _ oldLayout: GraphLayout) -> Bool {
        guard let before = oldLayout.ordered.first(where: { $0.hasSameKeys(as: index) }) else { return false }
        let staying = Set(oldLayout.tables[before.table].entities).intersection(layout.tables[index.table].entities)
        return before.family.intersection(staying) == index.family.intersection(staying)
    }

    /// Returns the table of a root entity's objects in the previous version.
    private func oldTable(of root: EntityNumber) -> TableLayout? { base.layout.table(of: root) }

    // MARK: Changes

    private mutating func update(_ indexes: [OrderedIndexLayout], _ table: TableLayout) {
        guard let root = table.root else { return }
        let previous = oldTable(of: root.number)
        let before = previous.map { IndexChangeFinder.Side(base.reader, $0) }
        if let before, base.reader.tableReference(before.table.index) == reader.tableReference(table.index), layout === base.layout {
            return
        }
        let finder = IndexChangeFinder(before: before, after: .init(reader, table), sharing: PageSharing(space, space))
        var groups: [(RowGroup, RowGroup)] = []
        finder.forEachGroup { groups.append(($0, $1)) }
        var batch = OrderedBatch()
        var parts: [IndexPart] = []
        for index in indexes {
            let old = layout === base.layout ? index : base.layout.ordered.first { $0.hasSameKeys(as: index) }
            var groupCount = reader.record(of: index, layout).groupCount
            var start = batch.count
            for (left, right) in groups where right.index < groupCount {
                finder.addChanges(old, index, left, right, &batch)
                if !batch.isFull { continue }
                parts.append(IndexPart(index: index, entries: start..<batch.count))
                merge(&parts, of: &batch)
                (groupCount, start) = (reader.record(of: index, layout).groupCount, 0)
            }
            if batch.count > start { parts.append(IndexPart(index: index, entries: start..<batch.count)) }
            if batch.count > Self.jointCountMax { merge(&parts, of: &batch) }
        }
        merge(&parts, of: &batch)
    }

    // MARK: Building

    /// Adds further rows to the indexes that are not complete, one index after the other.
    private mutating func buildIndexes(rowCountMax: Int) {
        guard let directory = reader.indexDirectory(of: layout), rowCountMax > 0 else { return }
        var count = 0
        for index in layout.ordered.filter({ !directory[$0.number].isComplete }) {
            if count >= rowCountMax || space.isInReserve { return }
            count += build(index, layout.tables[index.table], rowCountMax - count)
            // If the index still lacks rows, or too few pages were free, the next call continues with this index.
            if !reader.record(of: index, layout).isComplete { return }
        }
    }

    /// Adds further rows to an index. Returns the number of rows and groups that were examined.
    private mutating func build(_ index: OrderedIndexLayout, _ table: TableLayout, _ rowCountMax: Int) -> Int {
        var record = reader.record(of: index, layout)
        let groupCount = UInt32(reader.groupCount(table.index))
        var batch = OrderedBatch()
        var count = 0
        var next = record.groupCount
        let rows = reader.rows(table.index)
        while next < groupCount, count < rowCountMax, !batch.isFull {
            // Skipping an empty group costs little, but a table may have many of them. So each group counts as one row.
            count += 1
            reader.forEachRow(of: table, groups: Int(next)..<Int(next) + 1) { row in
                guard index.covers(row, rows, table) else { return }
                IndexChangeFinder.add(index, row, rows, isAdded: true, &batch)
                count += 1
            }
            next += 1
        }
        // `merge` ignores a record whose `groupCount` is 0, and sets `groupCount` to 0 if there are not enough pages. So `groupCount` must
        // be at least 1 here.
        record.groupCount = max(next, 1)
        merge(&batch, 0..<batch.count, into: &record)
        if record.groupCount > 0 { record.groupCount = next >= groupCount ? IndexDirectory.Record.all : next }
        store(record, index)
        return count
    }
}

extension Timeline {
    /// The maximum number of rows that a transaction adds to incomplete indexes.
    package static let indexedRowCount = 512

    /// Continues to build the ordered indexes that are incomplete. The caller must have no draft in progress, and the newest version must
    /// be confirmed.
    ///
    /// - Parameter rowCountMax: The approximate maximum number of rows that are added to all incomplete indexes together.
    /// - Returns: Whether the indexes are still incomplete and this call has added rows. Otherwise, another call is useless.
    package func buildIndexes(
        rowCountMax: Int = Timeline.indexedRowCount, show: (Graph) -> Void = { _ in }
    ) throws(CambiumError) -> Bool {
        reclaim()
        let before = head.indexedGroupCounts
        if !head.hasIncompleteIndexes || space.isInReserve { return false }
        try publish(packingDraft(), indexing: rowCountMax, show: show)
        return head.hasIncompleteIndexes && head.indexedGroupCounts != before
    }
}

extension Graph {
    /// Whether an ordered index of the schema lacks objects because it is still being built.
    package var hasIncompleteIndexes: Bool {
        layout.ordered.contains { !reader.record(of: $0, layout).isComplete }
    }

    fileprivate var indexedGroupCounts: [UInt32] { layout.ordered.map { reader.record(of: $0, layout).groupCount } }
}
