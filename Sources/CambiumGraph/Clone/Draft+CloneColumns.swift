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
            let group = ownedGroup(table.index, target << PageLayout.rowShift)
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

    private mutating func makeLive(_ table: TableLayout, _ group: UnsafeMutableRawPointer, _ target: UInt32, _ spans: [CloneSpan]) {
        var live = load(group, GroupLayout.liveBitsOffset)
        var stubs = load(group, GroupLayout.stubBitsOffset)
        var count: UInt32 = 0
        for span in spans {
            live |= span.moved(.max)
            stubs |= span.moved(load(span.source, GroupLayout.stubBitsOffset))
            count += UInt32(span.count)
        }
        store(live, group, GroupLayout.liveBitsOffset)
        store(stubs, group, GroupLayout.stubBitsOffset)
        (group + GroupLayout.liveCountOffset).assumingMemoryBound(to: UInt32.self).pointee += count
        // A row without its own provenance has the provenance of its group: the transaction that created the group. If the current
        // transaction created the group, the copies need no provenance of their own.
        guard group.load(fromByteOffset: GroupLayout.provenanceOffset, as: UInt64.self) != transaction else { return }
        for span in spans {
            for place in span.start..<span.end {
                let row = target << PageLayout.rowShift | UInt32(place)
                setProvenance(table.index, row, TableLayout.createdSlot)
                setProvenance(table.index, row, TableLayout.changedSlot)
            }
        }
    }

    /// Reads 128 bits, one for each row of a group.
    @inline(__always) private func load(_ page: UnsafeMutableRawPointer, _ offset: Int) -> UInt128 {
        PageLayout.fanOut == 128
            ? page.loadUnaligned(fromByteOffset: offset, as: UInt128.self)
            : UInt128(truncatingIfNeeded: page.load(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always) private func store(_ bits: UInt128, _ page: UnsafeMutableRawPointer, _ offset: Int) {
        page.storeBytes(of: UInt64(truncatingIfNeeded: bits), toByteOffset: offset, as: UInt64.self)
        if PageLayout.fanOut == 128 {
            page.storeBytes(of: UInt64(truncatingIfNeeded: bits &>> 64), toByteOffset: offset + 8, as: UInt64.self)
        }
    }

    // MARK: One column

    private mutating func copy(
        _ column: CloneColumn, _ table: TableLayout, _ group: UnsafeMutableRawPointer, _ target: UInt32, _ spans: [CloneSpan]
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
                cell.withCell { draft.store(table.index, row, column.slot, column.kind, $0) }
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
        _ type: T.Type, _ group: UnsafeMutableRawPointer, _ slot: Int, _ spans: [CloneSpan]
    ) {
        let column = GroupLayout.columnsOffset &+ 4 &* slot
        if spans.allSatisfy({ chunks.birth($0.source.load(fromByteOffset: column, as: PageRef.self)) == 0 }) { return }
        let leaf = ownedLeaf(group, slot, .fixedLeaf, byteCount: PageLayout.fixedLeafByteCount(width: MemoryLayout<T>.stride))
        var presence = load(leaf, PageLayout.presenceOffset)
        let target = (leaf + PageLayout.valuesOffset).assumingMemoryBound(to: T.self)
        for span in spans {
            let page = chunks[span.source.load(fromByteOffset: column, as: PageRef.self)]
            presence |= span.moved(load(page, PageLayout.presenceOffset))
            let source = (page + PageLayout.valuesOffset).assumingMemoryBound(to: T.self)
            if span.isRun {
                memcpy(target + span.start, source + span.first, span.count &* MemoryLayout<T>.stride)
            } else {
                span.forEach { row, place in target[place] = source[row] }
            }
        }
        store(presence, leaf, PageLayout.presenceOffset)
    }

    private mutating func putUUIDs(
        _ uuids: CloneUUIDs, _ column: CloneColumn, _ table: TableLayout, _ group: UnsafeMutableRawPointer, _ target: UInt32,
        _ spans: [CloneSpan]
    ) {
        let base = UInt64(group.load(fromByteOffset: GroupLayout.virtualPageOffset, as: UInt32.self)) << PageLayout.fanOutShift
        if column.family != nil {
            return forEachCopy(column, table, target, spans) { draft, row in
                draft.setFixed(table.index, row, column.slot, uuids[base | UInt64(row & PageLayout.rowMask)])
            }
        }
        let leaf = ownedLeaf(group, column.slot, .fixedLeaf, byteCount: PageLayout.fixedLeafByteCount(width: 16))
        let values = (leaf + PageLayout.valuesOffset).assumingMemoryBound(to: SIMD2<UInt64>.self)
        var presence = load(leaf, PageLayout.presenceOffset)
        for span in spans {
            presence |= span.moved(.max)
            for place in span.start..<span.end { values[place] = uuids[base | UInt64(truncatingIfNeeded: place)] }
        }
        store(presence, leaf, PageLayout.presenceOffset)
    }

    /// Stores in each copy the serial of its original.
    private mutating func copySerials(_ group: UnsafeMutableRawPointer, _ spans: [CloneSpan]) {
        let leaf = ownedLeaf(group, TableLayout.sourceSlot, .fixedLeaf, byteCount: PageLayout.fixedLeafByteCount(width: 8))
        var presence = load(leaf, PageLayout.presenceOffset)
        let target = (leaf + PageLayout.valuesOffset).assumingMemoryBound(to: UInt64.self)
        for span in spans {
            presence |= span.moved(.max)
            let base = UInt64(span.virtualPage) << PageLayout.fanOutShift
            span.forEach { row, place in target[place] = base | UInt64(row) }
        }
        store(presence, leaf, PageLayout.presenceOffset)
    }

    // MARK: Strings

    /// Copies values of any length. The copies share values of more than 255 bytes with the originals.
    private mutating func copyStrings(_ group: UnsafeMutableRawPointer, _ slot: Int, _ spans: [CloneSpan]) {
        let column = GroupLayout.columnsOffset &+ 4 &* slot
        var byteCount = 0
        for span in spans {
            let cells = StringLeaf.cells(chunks[span.source.load(fromByteOffset: column, as: PageRef.self)])
            span.forEach { row, _ in byteCount &+= Int(cells[row] &>> 16 & 0xFF) }
        }
        let reference = (group + column).assumingMemoryBound(to: PageRef.self)
        // A value of zero bytes also takes a cell, so `byteCount` does not show whether all values are null.
        let isNull = spans.allSatisfy { chunks.birth($0.source.load(fromByteOffset: column, as: PageRef.self)) == 0 }
        if isNull { return }
        own(&reference.pointee, .stringLeaf)
        var leaf = chunks[reference.pointee]
        var used = StringLeaf.heapUsed(leaf)
        if PageLayout.heapOffset + used + byteCount > chunks.granules(reference.pointee) * PageLayout.granule {
            leaf = repack(reference, adding: byteCount)
            used = StringLeaf.heapUsed(leaf)
        }
        for span in spans {
            let source = chunks[span.source.load(fromByteOffset: column, as: PageRef.self)]
            let cells = StringLeaf.cells(source)
            let targetCells = StringLeaf.cells(leaf)
            span.forEach { row, place in
                let cell = cells[row]
                if cell == 0 { return }
                let count = Int(cell &>> 16 & 0xFF)
                let offset = PageLayout.heapOffset &+ used
                memcpy(leaf + offset, source + Int(cell & 0xFFFF), count)
                targetCells[place] = cell & 0xFFFF_0000 | UInt32(truncatingIfNeeded: offset)
                used &+= count
                if StringLeaf.isBlob(cell) { shareBlob(StringLeaf.blob(source, cell).page) }
            }
        }
        leaf.storeBytes(of: UInt32(used), toByteOffset: PageLayout.heapUsedOffset, as: UInt32.self)
    }
}
