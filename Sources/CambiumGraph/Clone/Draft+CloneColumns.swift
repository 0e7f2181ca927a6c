import CambiumModel
import Glibc

extension Draft {
    /// Creates the rows of a table's copies and copies their attributes, one group of copies after another.
    ///
    /// - Parameters:
    ///   - columns: The contents of each column, except the columns of `chains`.
    ///   - chains: The relationships whose lists of members are copied as a whole.
    ///   - lonely: Receives the numbers of those links in `chains` in which a member is copied but its owner is not.
    mutating func copyColumns(
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
        var spans = CloneSpans(rows, reader.rows(table.index))
        var current: [CloneSpan] = []
        for target in rows.targets {
            spans.next(&current)
            let group = tableWriter.ownedGroup(table.index, target << PageLayout.rowShift)
            makeLive(table, group, target, current)
            for column in columns {
                if case .members(let chain) = column.content {
                    if copyMembers(chain, group, target, current) { lonely.insert(chain.link) }
                } else {
                    copy(column, table, group, target, current)
                }
            }
        }
    }

    private mutating func makeLive(_ table: TableLayout, _ group: GroupPage, _ target: UInt32, _ spans: [CloneSpan]) {
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
        guard group.provenance != transaction else { return }
        for span in spans {
            for place in span.start..<span.end {
                let row = target << PageLayout.rowShift | UInt32(place)
                tableWriter.setProvenance(table.index, row, TableLayout.createdSlot)
                tableWriter.setProvenance(table.index, row, TableLayout.changedSlot)
            }
        }
    }

    // MARK: One column

    private mutating func copy(
        _ column: CloneColumn, _ table: TableLayout, _ group: GroupPage, _ target: UInt32, _ spans: [CloneSpan]
    ) {
        switch column.content {
        case .copy:
            guard case .fixed(let width) = column.kind else { return copyStrings(group, column.slot, spans) }
            switch width {
            case 1: copyFixed(UInt8.self, group, column.slot, spans)
            case 2: copyFixed(UInt16.self, group, column.slot, spans)
            case 4: copyFixed(UInt32.self, group, column.slot, spans)
            case 8: copyFixed(UInt64.self, group, column.slot, spans)
            default: copyFixed(SIMD2<UInt64>.self, group, column.slot, spans)
            }
        case .fill(let cell):
            forEachCopy(column, table, target, spans) { draft, row in
                cell.withCell { draft.tableWriter.store(table.index, row, column.slot, column.kind, $0) }
            }
        case .uuid(let uuids): putUUIDs(uuids, column, table, group, target, spans)
        case .source: copySerials(group, spans)
        case .owners(let chain): copyOwners(chain, group, spans)
        case .members: break
        }
    }

    /// Calls `body` with the row of each copy that has the attribute.
    @inline(__always)
    private mutating func forEachCopy(
        _ column: CloneColumn, _ table: TableLayout, _ target: UInt32, _ spans: [CloneSpan], _ body: (inout Draft, UInt32) -> Void
    ) {
        guard let first = spans.first, let last = spans.last else { return }
        for place in first.start..<last.end {
            let row = target << PageLayout.rowShift | UInt32(place)
            if let family = column.family, !family.contains(reader.rows(table.index).entity(row, table)) { continue }
            body(&self, row)
        }
    }

    private mutating func copyFixed<T: BitwiseCopyable>(
        _ type: T.Type, _ group: GroupPage, _ slot: Int, _ spans: [CloneSpan]
    ) {
        if spans.allSatisfy({ chunks.birth($0.source[slot]) == 0 }) { return }
        let leaf = FixedLeaf(tableWriter.ownedLeaf(group, slot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: MemoryLayout<T>.stride)))
        var presence = leaf.presence.all
        let target = leaf.values.assumingMemoryBound(to: T.self)
        for span in spans {
            let page = FixedLeaf(chunks[span.source[slot]])
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

    private mutating func putUUIDs(
        _ uuids: CloneUUIDs, _ column: CloneColumn, _ table: TableLayout, _ group: GroupPage, _ target: UInt32,
        _ spans: [CloneSpan]
    ) {
        let base = UInt64(group.virtualPage) << PageLayout.fanOutShift
        if column.family != nil {
            return forEachCopy(column, table, target, spans) { draft, row in
                draft.tableWriter.setFixed(table.index, row, column.slot, uuids[base | UInt64(row & PageLayout.rowMask)])
            }
        }
        let leaf = FixedLeaf(tableWriter.ownedLeaf(group, column.slot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: 16)))
        let values = leaf.values.assumingMemoryBound(to: SIMD2<UInt64>.self)
        var presence = leaf.presence.all
        for span in spans {
            presence |= span.moved(.max)
            for place in span.start..<span.end { values[place] = uuids[base | UInt64(truncatingIfNeeded: place)] }
        }
        leaf.presence.all = presence
    }

    /// Stores in each copy the serial of its original.
    private mutating func copySerials(_ group: GroupPage, _ spans: [CloneSpan]) {
        let leaf = FixedLeaf(tableWriter.ownedLeaf(group, TableLayout.sourceSlot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: 8)))
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
    private mutating func copyStrings(_ group: GroupPage, _ slot: Int, _ spans: [CloneSpan]) {
        var byteCount = 0
        for span in spans {
            let cells = StringLeaf(chunks[span.source[slot]]).cells
            span.forEach { row, _ in byteCount &+= Int(cells[row] &>> 16 & 0xFF) }
        }
        let reference = group.reference(slot)
        // A value of zero bytes also takes a cell, so `byteCount` does not show whether all values are null.
        let isNull = spans.allSatisfy { chunks.birth($0.source[slot]) == 0 }
        if isNull { return }
        pageWriter.own(&reference.pointee, .stringLeaf)
        let leaf = tableWriter.ownedLeaf(reference, withSpaceFor: byteCount)
        var used = leaf.heapUsed
        for span in spans {
            let source = StringLeaf(chunks[span.source[slot]])
            let (cells, targetCells) = (source.cells, leaf.cells)
            span.forEach { row, place in
                let cell = cells[row]
                if cell == 0 { return }
                let count = Int(cell &>> 16 & 0xFF)
                targetCells[place] = leaf.copy(cell, of: source, to: used)
                used &+= count
                if StringLeaf.isBlob(cell) { tableWriter.shareBlob(source.blob(cell).page) }
            }
        }
        leaf.heapUsed = used
    }
}
