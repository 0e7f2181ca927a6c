import CambiumModel
import Glibc

/// Packing empties chunks that are mostly unused. A step copies the pages in use to other chunks, so that the emptied chunks are free for
/// other pages.
enum Packer {
    /// Runs one step of a plan: copies pages from the chunks to be emptied to other chunks. If a transaction has replaced such a page, the
    /// new page is copied only if it lies in a chunk to be emptied.
    ///
    /// - Returns: The number of bytes in the copied pages.
    static func evacuate(_ draft: inout Draft, _ plan: inout PageEvacuation, byteCountMax: Int) -> Int {
        let (space, before) = (draft.space, draft.space.liveGranules)
        let granuleCountMax = byteCountMax / PageLayout.granule
        var lookCount = 0
        while !plan.isDone, lookCount < PackingLimits.lookCountMax, space.liveGranules - before < granuleCountMax {
            guard plan.places[plan.next].isRegister else {
                evacuate(&draft, plan.places[plan.next].kind, plan.victims)
                plan.next += 1
                lookCount += 1
                continue
            }
            // The places in the register, which contains requests and labels, follow all other places of the plan. A graph of an older
            // format gets its register before its first change, so there is a register here.
            RegisterWriter.inRegister(&draft) { draft in
                while !plan.isDone, lookCount < PackingLimits.lookCountMax, space.liveGranules - before < granuleCountMax {
                    evacuate(&draft, plan.places[plan.next].kind, plan.victims)
                    plan.next += 1
                    lookCount += 1
                }
            }
        }
        for page in draft.pageWriter.supersededPages where plan.has(page) {
            plan.moved[Int(page >> 12), default: 0] += draft.chunks.granules(page)
        }
        return (space.liveGranules - before) * PageLayout.granule
    }

    private static func evacuate(_ draft: inout Draft, _ place: EvacuationPlace.Kind, _ victims: [Bool]) {
        switch place {
        case .directory:
            if draft.directory.lies(in: victims) { _ = draft.tableWriter.ownedDirectory() }
        case .table(let table):
            if draft.reader.tableReference(table).lies(in: victims) { _ = draft.tableWriter.ownedTable(table) }
        case .node(let table, let vector, let index):
            guard draft.reader.tablePage(table)[vector].hasNode(onWayTo: index, draft.chunks, where: { $0.lies(in: victims) }) else {
                return
            }
            _ = draft.pageWriter.slot(&draft.tableWriter.ownedTable(table)[vector], index)
        case .sharedBlobs(let index):
            guard draft.reader.sharedBlobs.hasNode(onWayTo: index, draft.chunks, where: { $0.lies(in: victims) }) else { return }
            _ = draft.pageWriter.slot(&draft.tableWriter.ownedDirectory().sharedBlobs, index)
        case .group(let table, let index): evacuateGroup(&draft, draft.layout.tables[table], index, victims)
        case .bucket(let table, let index, let hash): evacuateBucket(&draft, table, index, hash, victims)
        case .blob(let page, let cells): evacuateBlob(&draft, page, cells, victims)
        case .indexDirectory: evacuateIndexDirectory(&draft, victims)
        case .index(let number, let entry): evacuateIndex(&draft, number, entry, victims)
        }
    }

    private static func evacuateGroup(_ draft: inout Draft, _ table: TableLayout, _ index: Int, _ victims: [Bool]) {
        let page = draft.reader.tablePage(table.index).rows.get(index, draft.chunks)
        if page == 0 { return }
        let row = UInt32(index) << PageLayout.rowShift
        if page.lies(in: victims) { _ = draft.tableWriter.ownedGroup(table.index, row) }
        let group = draft.reader.rows(table.index).group(row)
        for slot in table.columns.indices {
            let leaf = group[slot]
            if leaf.lies(in: victims) { _ = draft.tableWriter.ownedLeaf(draft.tableWriter.ownedGroup(table.index, row), slot) }
        }
    }

    private static func evacuateBucket(_ draft: inout Draft, _ table: Int, _ index: Int, _ hash: UInt64, _ victims: [Bool]) {
        guard EvacuationFinder.chain(of: draft.reader.bucket(table, index, hash), has: victims, draft.chunks) else { return }
        var reference = draft.indexWriter.ownedBucketSlot(table, index, hash)
        var overflowCount = 0
        while reference.pointee != 0 {
            draft.chunks.countOverflow(&overflowCount)
            draft.pageWriter.own(&reference.pointee, .bucket)
            reference = Bucket(draft.chunks[reference.pointee]).overflowReference
        }
    }

    /// Copies the pages of a blob (a value of more than 255 bytes) that lie in chunks to be emptied. Does nothing unless `cells` contains
    /// every cell that refers to the blob.
    private static func evacuateBlob(_ draft: inout Draft, _ page: PageRef, _ cells: [EvacuationPlace.Cell], _ victims: [Bool]) {
        let referring = cells.filter { blob(draft, at: $0) == page }
        // If none of these cells refers to the page, the page may have been freed, and may now belong to another blob.
        guard let first = referring.first, referring.count == 1 + Int(draft.reader.sharedBlobs.get(Blob.place(page), draft.chunks)) else {
            return
        }
        let copy = draft.tableWriter.moveBlob(page) { $0.lies(in: victims) }
        for each in [first] + referring.dropFirst() {
            StringLeaf(draft.tableWriter.ownedLeaf(draft.tableWriter.ownedGroup(each.table, each.row), each.slot, .stringLeaf)).setBlob(
                each.row, copy)
        }
    }

    private static func blob(_ draft: borrowing Draft, at place: EvacuationPlace.Cell) -> PageRef? {
        let rows = draft.reader.rows(place.table)
        guard rows.isLive(place.row) else { return nil }
        let leaf = rows.leaf(rows.group(place.row), place.slot)
        let cell = StringLeaf(leaf).cell(place.row)
        return cell != 0 && StringLeaf.isBlob(cell) ? StringLeaf(leaf).blob(cell).page : nil
    }
}

/// The rows of a table are divided into groups of 128 rows. A group is sparse if few of its rows contain an object. Packing gathers these
/// rows: it moves the rows of several sparse groups into one shared group. Each row keeps its position within the group. So even if only
/// one in a hundred objects remains, the objects take little space. See Docs/Formats/CHECKPOINTS.md.
extension Packer {
    /// Runs one step of a plan: moves the rows of sparse groups into shared groups. A group that is no longer sparse stays in place.
    ///
    /// - Returns: The number of rows that were moved.
    static func gather(_ draft: inout Draft, _ plan: inout RowGathering, rowCountMax: Int) -> Int {
        let table = plan.table
        let lists = draft.layout.movedLists(of: table)
        var targets: [(group: UInt32, live: UInt128)] = plan.targets.compactMap { group in
            let live = draft.reader.rows(table.index).liveBits(group)
            return live != 0 && draft.reader.rows(table.index).isShared(group) ? (group, live) : nil
        }
        // If the rows of a group fit into no shared group, the group waits for a second group. Both groups move into a new shared group.
        // Moving the waiting group alone would save nothing.
        var waiting = plan.waiting.flatMap { RowGathering.isSparse($0, table, draft.reader, sparseness: plan.sparseness) ? $0 : nil }
        let memberCountMax = PackingLimits.memberFactorMax * rowCountMax
        // The members are counted again, because objects of the waiting group may have gained members since the last step.
        var waitingCount = waiting.map { memberCount(draft, of: $0, draft.reader.rows(table.index).liveBits($0), lists) } ?? 0
        if waitingCount > memberCountMax { waiting = nil }
        var (rowCount, work, lookCount) = (0, 0, 0)
        while !plan.isDone, work < rowCountMax, lookCount < PackingLimits.lookCountMax {
            let source = plan.sources[plan.next]
            plan.next += 1
            lookCount += 1
            guard RowGathering.isSparse(source, table, draft.reader, sparseness: plan.sparseness), source != waiting,
                !targets.contains(where: { $0.group == source })
            else { continue }
            let live = draft.reader.rows(table.index).liveBits(source)
            let memberCount = memberCount(draft, of: source, live, lists)
            if memberCount > memberCountMax { continue }
            if let place = targets.firstIndex(where: { $0.live & live == 0 }) {
                RowMover.move(&draft, table, from: source, to: targets[place].group)
                targets[place].live |= live
            } else if let other = waiting, draft.reader.rows(table.index).liveBits(other) & live == 0 {
                let otherLive = draft.reader.rows(table.index).liveBits(other)
                let target = RowMover.newGroup(&draft, table, virtualPage: GroupPage.isShared, like: other)
                RowMover.move(&draft, table, from: other, to: target)
                RowMover.move(&draft, table, from: source, to: target)
                rowCount += otherLive.nonzeroBitCount
                work += otherLive.nonzeroBitCount + waitingCount
                targets.append((target, otherLive | live))
                if targets.count > Self.targetCountMax { targets.removeFirst() }
                waiting = nil
            } else {
                (waiting, waitingCount) = (source, memberCount)
                continue
            }
            rowCount += live.nonzeroBitCount
            work += live.nonzeroBitCount + memberCount
            // Each move releases a group. But the first two moves into a shared group also create that group, so these two moves together
            // save one group.
            plan.gainedCount += 1
        }
        (plan.targets, plan.waiting) = (targets.map(\.group), waiting)
        return rowCount
    }

    /// The maximum number of shared groups that receive rows at the same time.
    private static let targetCountMax = 8

    /// Returns the total number of members in all lists of the objects of a group. If the rows of the group move, all of these members must
    /// refer to the new rows.
    private static func memberCount(_ draft: borrowing Draft, of group: UInt32, _ live: UInt128, _ lists: [ListLayout]) -> Int {
        var (count, bits) = (0, live)
        while bits != 0 {
            let row = group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)
            for list in lists { count += draft.reader.memberCount(list, owner: row) }
            bits &= bits - 1
        }
        return count
    }
}

extension GraphLayout {
    /// Returns the lists whose owners are objects of a table. Their members are objects or edges.
    fileprivate func movedLists(of table: TableLayout) -> [ListLayout] {
        endsByTable[table.index].compactMap { end -> ListLayout? in
            switch end.layout {
            case .pair: nil
            case .list(let list, _): end.isOfMembers ? nil : list
            case .edges(_, let lists, _): lists[end.end]
            }
        }
    }
}

/// Moves pages of ordered indexes out of the chunks that packing empties.
extension Packer {
    /// Copies the directory page of the ordered indexes, if the page lies in a chunk to be emptied.
    ///
    /// - Parameter victims: For each chunk, whether it is to be emptied.
    static func evacuateIndexDirectory(_ draft: inout Draft, _ victims: [Bool]) {
        guard let place = draft.layout.indexesPlace, let directory = draft.reader.indexDirectory(of: draft.layout) else { return }
        if draft.reader.indexDirectoryReference(of: draft.layout).lies(in: victims) { _ = owned(&draft, place, directory.count) }
    }

    /// Visits the nodes on the path to an entry, and all leaves of the last inner node on this path. Copies each visited node that lies in
    /// a chunk to be emptied.
    ///
    /// Complexity: O(children of a node).
    ///
    /// - Parameter entry: The position of the entry in the index. If the index has fewer entries, the method uses its last entry.
    static func evacuateIndex(_ draft: inout Draft, _ number: Int, _ entry: Int, _ victims: [Bool]) {
        guard let place = draft.layout.indexesPlace, let directory = draft.reader.indexDirectory(of: draft.layout), number < directory.count
        else { return }
        let (tree, count) = (directory[number].tree, directory.count)
        if tree.height == 0 { return }
        var root = tree.root
        guard evacuate(&draft, victims, &root, level: Int(tree.height) - 1, entry) else { return }
        let own = owned(&draft, place, count)
        own[number].tree.root = root
    }

    private static func owned(_ draft: inout Draft, _ place: Int, _ count: Int) -> IndexDirectory {
        let directory = draft.tableWriter.ownedDirectory()
        draft.pageWriter.own(&directory[place], .indexDirectory, byteCount: IndexDirectory.byteCount(count))
        return IndexDirectory(draft.chunks[directory[place]])
    }

    /// Copies a page if the page lies in a chunk to be emptied. Does the same below this page: on the path to an entry, and for all leaves
    /// of the last inner node.
    ///
    /// - Returns: Whether the page was replaced with a copy, which the draft owns. A page is also copied if a page below it was copied.
    private static func evacuate(_ draft: inout Draft, _ victims: [Bool], _ page: inout PageRef, level: Int, _ entry: Int) -> Bool {
        if level > OrderedNode.heightMax { draft.chunks.refuse("the tree of an index has too many levels") }
        let before = page
        if level == 0 {
            if page.lies(in: victims) { draft.pageWriter.own(&page, .indexLeaf) }
            return page != before
        }
        if page.lies(in: victims) { draft.pageWriter.own(&page, .indexInner) }
        var (children, rest) = (0..<draft.chunks.inner(page).count, entry)
        if level > 1 {
            var child = 0
            while child < children.count - 1, rest >= Int(draft.chunks.inner(page).counts[child]) {
                rest -= Int(draft.chunks.inner(page).counts[child])
                child += 1
            }
            children = child..<child + 1
        }
        for child in children {
            var reference = draft.chunks.inner(page).references[child]
            guard evacuate(&draft, victims, &reference, level: level - 1, rest) else { continue }
            draft.pageWriter.own(&page, .indexInner)
            draft.chunks.inner(page).references[child] = reference
        }
        return page != before
    }
}
