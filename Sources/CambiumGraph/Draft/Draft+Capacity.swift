import CambiumModel

/// The capacity checks. Each check refuses a change before the change writes to pages, if the graph might have too few pages for it.
extension Draft {
    /// Throws `.limitExceeded` if only the reserve for deletions is left. Complexity: O(1).
    ///
    /// Every change calls this method before it writes, except deletions, labels and digests. A replay never refuses a change, because the
    /// writer accepted each change in the log. Only the limits of the process refuse a replay, with `.ioFailure`.
    @inline(__always)
    package borrowing func checkCapacity() throws(CambiumError) {
        try checkMemory()
        if space.hasOnlyReserve, !pending.isOff { throw space.capacity.exhausted("only the reserve for deletions is left") }
    }

    /// Throws `.ioFailure` if the limits of the process leave too little memory for a small change and a value of this many bytes. A step
    /// that changes many objects calls this method for each of them. Complexity: O(1).
    @inline(__always)
    borrowing func checkMemory(forValueOf byteCount: Int = 0) throws(CambiumError) {
        if !space.memory.isLimited { return }
        if pending.isOff { space.memory.unpublishedChunkCount = 0 }  // A replay is not encoded.
        if !space.holdsMemory(forValueOf: byteCount) { throw .outOfMemory("the pages of a graph") }
    }

    /// Throws `.limitExceeded` if a deletion may need more chunks than are free. A deletion copies the groups and buckets that it changes.
    ///
    /// Complexity: O(1) for a few objects, O(indexes) for many, or O(objects and their links) if few chunks are free.
    func checkCapacity(forDeleting dying: [ObjectPlace]) throws(CambiumError) {
        if !space.memory.isLimited {
            if pending.isOff || chunkCountMax(buckets: dying.count) < space.freeChunkCount { return }
            if chunkCount(space.liveGranules, buckets: dying.count) < space.freeChunkCount { return }
        }
        let needed = chunkCount(changedGranules(dying), buckets: dying.count, unlinked: unlinkedCount(dying)) + 1
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
    func checkCapacity(forMigrating groupCount: Int, adding byteCount: Int) throws(CambiumError) {
        // The factor 2 allows for values of a wider type in a rebuilt group.
        let share = Double(2 * groupCount) / Double(max(1, allGroupCount))
        let needed = chunkCount(Int(Double(space.liveGranules) * share) + byteCount / PageLayout.granule, buckets: 0)
        let reserve = pending.isOff ? 0 : space.capacity.reserveChunkCount
        if isUnlimitedReplay || space.canOpen(needed, leaving: reserve) { return }
        throw space.exhausted(needed, leaving: reserve, "the new schema may need \(needed) more chunks of 64 KiB")
    }

    /// Throws `.limitExceeded` if storing a value may need more chunks than are free. A change that stores many values calls this method
    /// before it stores each value, because each value takes pages.
    ///
    /// - Parameter reserve: The number of free chunks that must be left afterwards.
    func checkCapacity(forStoring cell: StoredCell, leaving reserve: Int, _ change: @autoclosure () -> String) throws(CambiumError) {
        // Each extent of a long value takes a chunk. All other pages for the value take fewer than four chunks together.
        let needed = 4 + cell.withCell { $0.bytes.count } / Blob.extentByteCountMax
        let reserve = pending.isOff ? 0 : reserve
        if isUnlimitedReplay || space.canOpen(needed, leaving: reserve) { return }
        throw space.exhausted(needed, leaving: reserve, change())
    }

    /// Whether the draft replays the log in a process without a limit of memory. Such a draft needs no check of its pages.
    private var isUnlimitedReplay: Bool { pending.isOff && !space.memory.isLimited }

    /// Returns the number of chunks that a change needs for copies of pages. `granules` is the size of the copied groups of rows, in
    /// granules of 16 bytes. The copied index pages are estimated from `objectCount`, the number of changed objects, and from `unlinked`,
    /// the number of other objects whose keys lose a target.
    private func chunkCount(_ granules: Int, buckets objectCount: Int, unlinked: Int = 0) -> Int {
        let buckets = layout.tables.reduce(0) { sum, table in
            table.indexes.reduce(sum) { $0 + min(objectCount + ($1.hasRelationship ? unlinked : 0), bucketCount(table, $1)) }
        }
        let nodes = layout.ordered.reduce(0) { sum, index in
            sum + min(2 * objectCount + OrderedNode.heightMax, Int(clamping: reader.record(of: index, layout).tree.count))
        }
        let other = buckets * PageLayout.granules(Bucket.byteCount) + nodes * PageLayout.granules(OrderedNode.byteCount)
        return (granules + other) / PageLayout.chunkGranules + 1
    }

    /// Returns a number of chunks that suffices for copies of all pages of the graph, and for the index pages of `objectCount` changed
    /// objects. Complexity: O(1).
    private func chunkCountMax(buckets objectCount: Int) -> Int {
        let other =
            objectCount * layout.indexCount * PageLayout.granules(Bucket.byteCount)
            + layout.ordered.count * (2 * objectCount + OrderedNode.heightMax) * PageLayout.granules(OrderedNode.byteCount)
        return (space.liveGranules + other) / PageLayout.chunkGranules + 1
    }

    private func bucketCount(_ table: TableLayout, _ index: IndexLayout) -> Int {
        1 << min(reader.tablePage(table.index).index(index.number).bits, 32)
    }

    private var allGroupCount: Int { layout.tables.reduce(0) { $0 + reader.groupCount($1.index) } }

    /// Returns the number of granules (16 bytes each) of all groups of rows that a deletion changes. These groups contain a deleted object,
    /// one of its edges, or an object that is linked to a deleted object.
    private func changedGranules(_ dying: [ObjectPlace]) -> Int {
        var groups = [Set<UInt32>](repeating: [], count: layout.tables.count)
        for place in dying {
            groups[Int(place.table)].insert(place.row >> PageLayout.rowShift)
            for end in layout.endsByTable[Int(place.table)] { noteGroups(end, place.row, &groups) }
        }
        return zip(layout.tables, groups).reduce(0) { sum, table in
            table.1.reduce(sum) { $0 + granules(ofGroup: $1, table.0) }
        }
    }

    /// Returns the number of links to deleted objects in relationships that are in a unique set.
    private func unlinkedCount(_ dying: [ObjectPlace]) -> Int {
        dying.reduce(0) { sum, place in
            layout.endsByTable[Int(place.table)].reduce(sum) { sum, end in
                layout.isIndexed(layout.end(end.link, 1 - end.end)) ? sum + reader.memberCount(end, owner: place.row) : sum
            }
        }
    }

    /// Returns the number of granules (16 bytes each) in the page and the leaves of a group of rows. Constant pages do not count, because
    /// they are not copied.
    private func granules(ofGroup index: UInt32, _ table: TableLayout) -> Int {
        let page = reader.tablePage(table.index).rows.get(Int(index), chunks)
        if page == 0 { return 0 }
        return table.columns.indices.reduce(chunks.granules(page)) { sum, slot in
            let leaf = chunks.group(page)[slot]
            return sum + (chunks.birth(leaf) == 0 ? 0 : chunks.granules(leaf))
        }
    }

    private func noteGroups(_ end: EndLayout, _ row: UInt32, _ groups: inout [Set<UInt32>]) {
        let targets = layout.startTable(layout.end(end.link, 1 - end.end))
        reader.forEachMember(end, owner: row) { groups[targets].insert($0 >> PageLayout.rowShift) }
        guard case .edges(let table, let lists, _) = end.layout else { return }
        for edge in ListRows(reader, lists[end.end], owner: row) { groups[table].insert(edge >> PageLayout.rowShift) }
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
