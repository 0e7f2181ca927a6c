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
