import CambiumModel

/// The capacity checks. Each check refuses a change before the change writes to pages, if the graph might have too few pages for it.
package enum CapacityCheck {
    /// Throws `.limitExceeded` if only the reserve for deletions is left. Complexity: O(1).
    ///
    /// Every change calls this method before it writes, except deletions, labels and digests. A replay never refuses a change, because the
    /// writer accepted each change in the log. Only the limits of the process refuse a replay, with `.ioFailure`.
    @inline(__always)
    package static func check(_ draft: borrowing Draft) throws(CambiumError) {
        try draft.checkMemory()
        if draft.space.hasOnlyReserve, !draft.pending.isOff {
            throw draft.space.capacity.exhausted("only the reserve for deletions is left")
        }
    }

    /// Throws `.limitExceeded` if a deletion may need more chunks than are free. A deletion copies the groups and buckets that it changes.
    ///
    /// Complexity: O(1) for a few objects, O(indexes) for many, or O(objects and their links) if few chunks are free.
    static func check(_ draft: borrowing Draft, forDeleting dying: [ObjectPlace]) throws(CambiumError) {
        let space = draft.space
        if !space.memory.isLimited {
            if draft.pending.isOff || chunkCountMax(draft, buckets: dying.count) < space.freeChunkCount { return }
            if chunkCount(draft, space.liveGranules, buckets: dying.count) < space.freeChunkCount { return }
        }
        let needed = chunkCount(draft, changedGranules(draft, dying), buckets: dying.count, unlinked: unlinkedCount(draft, dying)) + 1
        if space.canOpen(needed) { return }
        throw space.exhausted(
            needed, "deleting \(dying.count) objects at once may need \(needed) chunks of 64 KiB, but \(space.freeChunkCount) are left",
            remedy: "Delete fewer objects in one transaction.")
    }

    /// Throws `.limitExceeded` if a migration may need more chunks than are free outside the reserve for deletions. Complexity: O(tables).
    ///
    /// - Parameters:
    ///   - groupCount: The number of groups of rows that the migration rebuilds.
    ///   - byteCount: The number of bytes of pages that the migration adds.
    static func check(_ draft: borrowing Draft, forMigrating groupCount: Int, adding byteCount: Int) throws(CambiumError) {
        // The factor 2 allows for values of a wider type in a rebuilt group.
        let share = Double(2 * groupCount) / Double(max(1, allGroupCount(draft)))
        let needed = chunkCount(draft, Int(Double(draft.space.liveGranules) * share) + byteCount / PageLayout.granule, buckets: 0)
        let reserve = draft.pending.isOff ? 0 : draft.space.capacity.reserveChunkCount
        if isUnlimitedReplay(draft) || draft.space.canOpen(needed, leaving: reserve) { return }
        throw draft.space.exhausted(needed, leaving: reserve, "the new schema may need \(needed) more chunks of 64 KiB")
    }

    /// Throws `.limitExceeded` if storing a value may need more chunks than are free. A change that stores many values calls this method
    /// before it stores each value, because each value takes pages.
    ///
    /// - Parameter reserve: The number of free chunks that must be left afterwards.
    static func check(
        _ draft: borrowing Draft, forStoring cell: StoredCell, leaving reserve: Int, _ change: @autoclosure () -> String
    ) throws(CambiumError) {
        // Each extent of a long value takes a chunk. All other pages for the value take fewer than four chunks together.
        let needed = 4 + cell.withCell { $0.bytes.count } / Blob.extentByteCountMax
        let reserve = draft.pending.isOff ? 0 : reserve
        if isUnlimitedReplay(draft) || draft.space.canOpen(needed, leaving: reserve) { return }
        throw draft.space.exhausted(needed, leaving: reserve, change())
    }

    /// Whether the draft replays the log in a process without a limit of memory. Such a draft needs no check of its pages.
    private static func isUnlimitedReplay(_ draft: borrowing Draft) -> Bool { draft.pending.isOff && !draft.space.memory.isLimited }

    /// Returns the number of chunks that a change needs for copies of pages. `granules` is the size of the copied groups of rows, in
    /// granules of 16 bytes. The copied index pages are estimated from `objectCount`, the number of changed objects, and from `unlinked`,
    /// the number of other objects whose keys lose a target.
    private static func chunkCount(_ draft: borrowing Draft, _ granules: Int, buckets objectCount: Int, unlinked: Int = 0) -> Int {
        let buckets = draft.layout.tables.reduce(0) { sum, table in
            table.indexes.reduce(sum) { $0 + min(objectCount + ($1.hasRelationship ? unlinked : 0), bucketCount(draft, table, $1)) }
        }
        let nodes = draft.layout.ordered.reduce(0) { sum, index in
            sum + min(2 * objectCount + OrderedNode.heightMax, Int(clamping: draft.reader.record(of: index, draft.layout).tree.count))
        }
        let other = buckets * PageLayout.granules(Bucket.byteCount) + nodes * PageLayout.granules(OrderedNode.byteCount)
        return (granules + other) / PageLayout.chunkGranules + 1
    }

    /// Returns a number of chunks that suffices for copies of all pages of the graph, and for the index pages of `objectCount` changed
    /// objects. Complexity: O(1).
    private static func chunkCountMax(_ draft: borrowing Draft, buckets objectCount: Int) -> Int {
        let other =
            objectCount * draft.layout.indexCount * PageLayout.granules(Bucket.byteCount)
            + draft.layout.ordered.count * (2 * objectCount + OrderedNode.heightMax) * PageLayout.granules(OrderedNode.byteCount)
        return (draft.space.liveGranules + other) / PageLayout.chunkGranules + 1
    }

    private static func bucketCount(_ draft: borrowing Draft, _ table: TableLayout, _ index: IndexLayout) -> Int {
        1 << min(draft.reader.tablePage(table.index).index(index.number).bits, 32)
    }

    private static func allGroupCount(_ draft: borrowing Draft) -> Int {
        draft.layout.tables.reduce(0) { $0 + draft.reader.groupCount($1.index) }
    }

    /// Returns the number of granules (16 bytes each) of all groups of rows that a deletion changes. These groups contain a deleted object,
    /// one of its edges, or an object that is linked to a deleted object.
    private static func changedGranules(_ draft: borrowing Draft, _ dying: [ObjectPlace]) -> Int {
        var groups = [Set<UInt32>](repeating: [], count: draft.layout.tables.count)
        for place in dying {
            groups[Int(place.table)].insert(place.row >> PageLayout.rowShift)
            for end in draft.layout.endsByTable[Int(place.table)] { trackGroups(draft, end, place.row, &groups) }
        }
        return zip(draft.layout.tables, groups).reduce(0) { sum, table in
            table.1.reduce(sum) { $0 + granules(draft, ofGroup: $1, table.0) }
        }
    }

    /// Returns the number of links to deleted objects in relationships that are in a unique set.
    private static func unlinkedCount(_ draft: borrowing Draft, _ dying: [ObjectPlace]) -> Int {
        dying.reduce(0) { sum, place in
            draft.layout.endsByTable[Int(place.table)].reduce(sum) { sum, end in
                draft.layout.isIndexed(draft.layout.end(end.link, 1 - end.end))
                    ? sum + draft.reader.memberCount(end, owner: place.row) : sum
            }
        }
    }

    /// Returns the number of granules (16 bytes each) in the page and the leaves of a group of rows. Constant pages do not count, because
    /// they are not copied.
    private static func granules(_ draft: borrowing Draft, ofGroup index: UInt32, _ table: TableLayout) -> Int {
        let page = draft.reader.tablePage(table.index).rows.get(Int(index), draft.chunks)
        if page == 0 { return 0 }
        return table.columns.indices.reduce(draft.chunks.granules(page)) { sum, slot in
            let leaf = draft.chunks.group(page)[slot]
            return sum + (draft.chunks.birth(leaf) == 0 ? 0 : draft.chunks.granules(leaf))
        }
    }

    private static func trackGroups(_ draft: borrowing Draft, _ end: EndLayout, _ row: UInt32, _ groups: inout [Set<UInt32>]) {
        let targets = draft.layout.startTable(draft.layout.end(end.link, 1 - end.end))
        draft.reader.forEachMember(end, owner: row) { groups[targets].insert($0 >> PageLayout.rowShift) }
        guard case .edges(let table, let lists, _) = end.layout else { return }
        for edge in ListRows(draft.reader, lists[end.end], owner: row) { groups[table].insert(edge >> PageLayout.rowShift) }
    }

    // MARK: Rows

    /// Throws `.limitExceeded` if a table cannot have rows for the given serials, which must ascend. A table has at most 2^32 - 128 rows.
    ///
    /// Complexity: O(ranges), unless the table is nearly full.
    @inline(__always)
    static func checkRows(
        _ draft: borrowing Draft, _ table: TableLayout, _ serials: some Collection<ClosedRange<UInt64>>
    ) throws(CambiumError) {
        let pageCount = serials.reduce(0) { $0 + Self.virtualPages(of: $1).count }
        // Usually, the groups that the table has not used yet are enough for all serials.
        if draft.reader.groupCount(table.index) &+ pageCount <= TableLayout.groupCountMax { return }
        if spareGroupCount(draft, table) < pageCount { try checkGroups(draft, table, serials) }
    }

    private static func virtualPages(of serials: ClosedRange<UInt64>) -> ClosedRange<UInt64> {
        serials.lowerBound >> UInt64(PageLayout.fanOutShift)...serials.upperBound >> UInt64(PageLayout.fanOutShift)
    }

    private static func spareGroupCount(_ draft: borrowing Draft, _ table: TableLayout) -> Int {
        let page = draft.reader.tablePage(table.index)
        let freeCount = page.freeCount
        return Int(freeCount) + TableLayout.groupCountMax - draft.reader.groupCount(table.index)
    }

    /// Counts the virtual pages (ranges of consecutive serials) that need a new group of rows. Throws `.limitExceeded` if the table has
    /// fewer spare groups than these pages need.
    private static func checkGroups(
        _ draft: borrowing Draft, _ table: TableLayout, _ serials: some Collection<ClosedRange<UInt64>>
    ) throws(CambiumError) {
        let map = draft.reader.tablePage(table.index).virtualPages
        let rows = draft.reader.rows(table.index)
        var newCount = 0
        var last: UInt64?
        for page in serials.lazy.flatMap(Self.virtualPages) where page != last {
            let mapped = map.get(Int(page), draft.chunks)
            if mapped == 0 || rows.isShared(mapped - 1) { newCount += 1 }
            last = page
        }
        guard newCount > spareGroupCount(draft, table) else { return }
        throw CambiumError(
            .limitExceeded, "The hierarchy of '\(table.root?.name ?? "")' is full: it has at most 2^32 - 128 rows. Delete objects.")
    }
}

extension Op {
    /// Whether the op may use the pages of the reserve for deletions. Labels and digests may use these pages too, because they need few
    /// pages or none.
    var mayUseReserve: Bool {
        switch self {
        case .delete, .label, .digest, .undo: true
        case .schema, .insert, .set, .mark, .link, .unlink, .move, .upsert, .relink, .clone: false
        }
    }
}
