import CambiumModel
import Glibc

extension CloneWriter {
    /// Creates the rows of a table's copies and copies their attributes, one group of copies after another.
    ///
    /// - Parameters:
    ///   - columns: The contents of each column, except the columns of `chains`.
    ///   - chains: The relationships whose lists of members are copied as a whole.
    ///   - lonely: Receives the numbers of those links in `chains` in which a member is copied but its owner is not.
    static func copyColumns(
        _ draft: inout Draft,
        _ table: TableLayout, _ plan: borrowing ClonePlan, _ columns: [CloneColumn], _ chains: [CloneChain], lonely: inout Set<Int>
    ) {
        let rows = plan.rows[table.index]
        var columns = columns
        for chain in chains where chain.chain.members == table.index {
            columns.append(CloneColumn(slot: chain.ownerSlot, kind: .rows, content: .members(chain), family: nil))
        }
        for chain in chains where chain.chain.owners == table.index {
            columns.append(CloneColumn(slot: chain.chain.first, kind: .rows, content: .owners(chain), family: nil))
        }
        var spans = CloneSpans(rows, draft.reader.rows(table.index))
        var current: [CloneSpan] = []
        for target in rows.targets {
            spans.next(&current)
            let group = draft.tableWriter.ownedGroup(table.index, target << PageLayout.rowShift)
            makeLive(&draft, table, group, target, current)
            for column in columns {
                if case .members(let chain) = column.content {
                    if copyMembers(&draft, chain, group, target, current) { lonely.insert(chain.link) }
                } else {
                    copy(&draft, column, table, group, target, current)
                }
            }
        }
    }

    private static func makeLive(_ draft: inout Draft, _ table: TableLayout, _ group: GroupPage, _ target: UInt32, _ spans: [CloneSpan]) {
        var (live, stubs) = (group.live.all, group.stubs.all)
        var count: UInt32 = 0
        for span in spans {
            live |= span.moved(.max)
            stubs |= span.moved(span.source.stubs.all)
            count += UInt32(span.count)
        }
        (group.live.all, group.stubs.all) = (live, stubs)
        group.liveCount += count
        // A row without its own provenance has the provenance of its group: the transaction that created the group. If the current
        // transaction created the group, the copies need no provenance of their own.
        guard group.provenance != draft.transaction else { return }
        for span in spans {
            for place in span.start..<span.end {
                let row = target << PageLayout.rowShift | UInt32(place)
                draft.tableWriter.setProvenance(table.index, row, TableLayout.createdSlot)
                draft.tableWriter.setProvenance(table.index, row, TableLayout.changedSlot)
            }
        }
    }

    // MARK: One column

    private static func copy(
        _ draft: inout Draft, _ column: CloneColumn, _ table: TableLayout, _ group: GroupPage, _ target: UInt32, _ spans: [CloneSpan]
    ) {
        switch column.content {
        case .copy:
            guard case .fixed(let width) = column.kind else { return copyStrings(&draft, group, column.slot, spans) }
            switch width {
            case 1: copyFixed(&draft, UInt8.self, group, column.slot, spans)
            case 2: copyFixed(&draft, UInt16.self, group, column.slot, spans)
            case 4: copyFixed(&draft, UInt32.self, group, column.slot, spans)
            case 8: copyFixed(&draft, UInt64.self, group, column.slot, spans)
            default: copyFixed(&draft, SIMD2<UInt64>.self, group, column.slot, spans)
            }
        case .fill(let cell):
            forEachCopy(&draft, column, table, target, spans) { draft, row in
                cell.withCell { draft.tableWriter.store(table.index, row, column.slot, column.kind, $0) }
            }
        case .uuid(let uuids): putUUIDs(&draft, uuids, column, table, group, target, spans)
        case .source: copySerials(&draft, group, spans)
        case .owners(let chain): copyOwners(&draft, chain, group, spans)
        case .members: break
        }
    }

    /// Calls `body` with the row of each copy that has the attribute.
    @inline(__always)
    private static func forEachCopy(
        _ draft: inout Draft,
        _ column: CloneColumn, _ table: TableLayout, _ target: UInt32, _ spans: [CloneSpan], _ body: (inout Draft, UInt32) -> Void
    ) {
        guard let first = spans.first, let last = spans.last else { return }
        for place in first.start..<last.end {
            let row = target << PageLayout.rowShift | UInt32(place)
            if let family = column.family, !family.contains(draft.reader.rows(table.index).entity(row, table)) { continue }
            body(&draft, row)
        }
    }

    private static func copyFixed<T: BitwiseCopyable>(
        _ draft: inout Draft, _ type: T.Type, _ group: GroupPage, _ slot: Int, _ spans: [CloneSpan]
    ) {
        if spans.allSatisfy({ draft.chunks.birth($0.source[slot]) == 0 }) { return }
        let leaf = FixedLeaf(
            draft.tableWriter.ownedLeaf(group, slot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: MemoryLayout<T>.stride)))
        var presence = leaf.presence.all
        let target = leaf.values.assumingMemoryBound(to: T.self)
        for span in spans {
            let page = FixedLeaf(draft.chunks[span.source[slot]])
            presence |= span.moved(page.presence.all)
            let source = page.values.assumingMemoryBound(to: T.self)
            if span.isRun {
                memcpy(target + span.start, source + span.first, span.count &* MemoryLayout<T>.stride)
            } else {
                span.forEach { row, place in target[place] = source[row] }
            }
        }
        leaf.presence.all = presence
    }

    private static func putUUIDs(
        _ draft: inout Draft, _ uuids: CloneUUIDs, _ column: CloneColumn, _ table: TableLayout, _ group: GroupPage, _ target: UInt32,
        _ spans: [CloneSpan]
    ) {
        let base = UInt64(group.virtualPage) << PageLayout.fanOutShift
        if column.family != nil {
            return forEachCopy(&draft, column, table, target, spans) { draft, row in
                draft.tableWriter.setFixed(table.index, row, column.slot, uuids[base | UInt64(row & PageLayout.rowMask)])
            }
        }
        let leaf = FixedLeaf(draft.tableWriter.ownedLeaf(group, column.slot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: 16)))
        let values = leaf.values.assumingMemoryBound(to: SIMD2<UInt64>.self)
        var presence = leaf.presence.all
        for span in spans {
            presence |= span.moved(.max)
            for place in span.start..<span.end { values[place] = uuids[base | UInt64(truncatingIfNeeded: place)] }
        }
        leaf.presence.all = presence
    }

    /// Stores in each copy the serial of its original.
    private static func copySerials(_ draft: inout Draft, _ group: GroupPage, _ spans: [CloneSpan]) {
        let leaf = FixedLeaf(
            draft.tableWriter.ownedLeaf(group, TableLayout.sourceSlot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: 8)))
        var presence = leaf.presence.all
        let target = leaf.values.assumingMemoryBound(to: UInt64.self)
        for span in spans {
            presence |= span.moved(.max)
            let base = UInt64(span.virtualPage) << PageLayout.fanOutShift
            span.forEach { row, place in target[place] = base | UInt64(row) }
        }
        leaf.presence.all = presence
    }

    // MARK: Strings

    /// Copies values of any length. The copies share values of more than 255 bytes with the originals.
    private static func copyStrings(_ draft: inout Draft, _ group: GroupPage, _ slot: Int, _ spans: [CloneSpan]) {
        var byteCount = 0
        for span in spans {
            let cells = StringLeaf(draft.chunks[span.source[slot]]).cells
            span.forEach { row, _ in byteCount &+= Int(cells[row] &>> 16 & 0xFF) }
        }
        let reference = group.reference(slot)
        // A value of zero bytes also takes a cell, so `byteCount` does not show whether all values are null.
        let isNull = spans.allSatisfy { draft.chunks.birth($0.source[slot]) == 0 }
        if isNull { return }
        draft.pageWriter.own(&reference.pointee, .stringLeaf)
        let leaf = draft.tableWriter.ownedLeaf(reference, withSpaceFor: byteCount)
        var used = leaf.heapUsed
        for span in spans {
            let source = StringLeaf(draft.chunks[span.source[slot]])
            let (cells, targetCells) = (source.cells, leaf.cells)
            span.forEach { row, place in
                let cell = cells[row]
                if cell == 0 { return }
                let count = Int(cell &>> 16 & 0xFF)
                targetCells[place] = leaf.copy(cell, of: source, to: used)
                used &+= count
                if StringLeaf.isBlob(cell) { draft.tableWriter.shareBlob(source.blob(cell).page) }
            }
        }
        leaf.heapUsed = used
    }
}
