import CambiumModel

/// Refusing what a graph has no pages for, before anything is written.
extension Draft {
    /// Throws `.limitExceeded` if only the reserve for deletions is left. O(1).
    ///
    /// Every change except a deletion calls this before it writes. A replay does not refuse what the log says was accepted.
    @inline(__always)
    package borrowing func checkCapacity() throws(CambiumError) {
        if space.isInReserve, !pending.isOff { throw space.capacity.exhausted("only the reserve for deletions is left") }
    }

    /// Throws `.limitExceeded` if a deletion may need more chunks than there are: it copies the groups and buckets that it changes.
    ///
    /// Complexity: O(1), or O(objects and their links) if the chunks that are left are few.
    func checkCapacity(forDeleting dying: [ObjectPlace]) throws(CambiumError) {
        if pending.isOff || neededChunkCount(groups: allGroupCount, objects: dying.count) < space.freeChunkCount { return }
        let needed = neededChunkCount(groups: changedGroupCount(dying), objects: dying.count)
        if needed < space.freeChunkCount { return }
        throw space.capacity.exhausted(
            "deleting \(dying.count) objects at once may need \(needed) chunks of 64 KiB, with \(space.freeChunkCount) left",
            remedy: "Delete fewer of them in one transaction.")
    }

    /// Throws `.limitExceeded` if a migration may need more chunks than there are without the reserve. O(tables).
    ///
    /// - Parameter groupCount: how many groups of rows the migration makes again.
    func checkCapacity(forMigrating groupCount: Int) throws(CambiumError) {
        // A group that is made again may also have values in a wider type.
        let needed = neededChunkCount(groups: 2 * groupCount, objects: 0)
        if pending.isOff || needed <= space.freeChunkCount - space.capacity.reserveChunkCount { return }
        throw space.capacity.exhausted("the new schema may need \(needed) chunks of 64 KiB more")
    }

    /// Estimates the chunks that copies of so many groups of rows take, and the buckets of so many objects.
    private func neededChunkCount(groups: Int, objects: Int) -> Int {
        let share = Double(groups) / Double(max(1, allGroupCount))
        let indexCount = layout.tables.map(\.indexes.count).max() ?? 0
        let bucketGranules = objects * indexCount * PageLayout.granules(Bucket.byteCount)
        return Int((Double(space.liveGranules) * share + Double(bucketGranules)) / Double(PageLayout.chunkGranules)) + 1
    }

    private var allGroupCount: Int { layout.tables.reduce(0) { $0 + reader.groupCount($1.index) } }

    /// Counts the groups that have one of these objects, one of their edges or an object that is linked to them.
    private func changedGroupCount(_ dying: [ObjectPlace]) -> Int {
        var groups = [Set<UInt32>](repeating: [], count: layout.tables.count)
        for place in dying {
            groups[Int(place.table)].insert(place.row >> PageLayout.rowShift)
            for link in layout.links.indices {
                for side in 0...1 {
                    let end = layout.end(link, side)
                    if layout.startTable(end) == Int(place.table) { noteGroups(end, place.row, &groups) }
                }
            }
        }
        return groups.reduce(0) { $0 + $1.count }
    }

    private func noteGroups(_ end: EndLayout, _ row: UInt32, _ groups: inout [Set<UInt32>]) {
        let targets = layout.startTable(layout.end(end.link, 1 - end.end))
        reader.forEachMember(end, owner: row) { groups[targets].insert($0 >> PageLayout.rowShift) }
        guard case .edges(let table, let lists, _) = end.layout else { return }
        for edge in ListRows(reader, lists[end.end], owner: row) { groups[table].insert(edge >> PageLayout.rowShift) }
    }
}

extension Op {
    /// Whether the op may use the pages that are left for deletions. A label and a digest need none.
    var mayUseReserve: Bool {
        switch self {
        case .delete, .label, .digest: true
        case .schema, .insert, .set, .link, .unlink, .move, .upsert, .relink, .clone: false
        }
    }
}

extension Timeline {
    /// Limits the pages to fewer than this program can refer to.
    package func limit(to capacity: PageCapacity) { space.capacity = capacity }

    /// Whether only the reserve for deletions is left. Only while nobody writes.
    package var isInReserve: Bool { space.isInReserve }
}
