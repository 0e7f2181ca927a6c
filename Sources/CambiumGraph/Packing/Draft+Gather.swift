import CambiumModel

/// The rows of a table are divided into groups of 128 rows. A group is sparse if few of its rows contain an object. Packing gathers these
/// rows: it moves the rows of several sparse groups into one shared group. Each row keeps its position within the group. So even if only
/// one in a hundred objects remains, the objects take little space. See Docs/Formats/CHECKPOINTS.md.
extension Draft {
    /// Runs one step of a plan: moves the rows of sparse groups into shared groups. A group that is no longer sparse stays in place.
    ///
    /// - Returns: The number of rows that were moved.
    mutating func gather(_ plan: inout RowGathering, rowCountMax: Int) -> Int {
        let table = plan.table
        let lists = layout.movedLists(of: table)
        var targets: [(group: UInt32, live: UInt128)] = plan.targets.compactMap { group in
            let live = reader.rows(table.index).liveBits(group)
            return live != 0 && reader.rows(table.index).isShared(group) ? (group, live) : nil
        }
        // If the rows of a group fit into no shared group, the group waits for a second group. Both groups move into a new shared group.
        // Moving the waiting group alone would save nothing.
        var waiting = plan.waiting.flatMap { reader.isSparse($0, table, sparseness: plan.sparseness) ? $0 : nil }
        let memberCountMax = PackingLimits.memberFactorMax * rowCountMax
        // The members are counted again, because objects of the waiting group may have gained members since the last step.
        var waitingCount = waiting.map { memberCount(of: $0, reader.rows(table.index).liveBits($0), lists) } ?? 0
        if waitingCount > memberCountMax { waiting = nil }
        var (rowCount, work, lookCount) = (0, 0, 0)
        while !plan.isDone, work < rowCountMax, lookCount < PackingLimits.lookCountMax {
            let source = plan.sources[plan.next]
            plan.next += 1
            lookCount += 1
            guard reader.isSparse(source, table, sparseness: plan.sparseness), source != waiting,
                !targets.contains(where: { $0.group == source })
            else { continue }
            let live = reader.rows(table.index).liveBits(source)
            let memberCount = memberCount(of: source, live, lists)
            if memberCount > memberCountMax { continue }
            if let place = targets.firstIndex(where: { $0.live & live == 0 }) {
                move(table, from: source, to: targets[place].group)
                targets[place].live |= live
            } else if let other = waiting, reader.rows(table.index).liveBits(other) & live == 0 {
                let otherLive = reader.rows(table.index).liveBits(other)
                let target = newGroup(table, virtualPage: GroupPage.isShared, like: other)
                move(table, from: other, to: target)
                move(table, from: source, to: target)
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
    private func memberCount(of group: UInt32, _ live: UInt128, _ lists: [ListLayout]) -> Int {
        var (count, bits) = (0, live)
        while bits != 0 {
            let row = group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)
            for list in lists { count += reader.memberCount(list, owner: row) }
            bits &= bits - 1
        }
        return count
    }

    /// Creates a group for the rows of `source`. Provenance is stored relative to a transaction that the group states, so both groups must
    /// state the same transaction.
    private mutating func newGroup(_ table: TableLayout, virtualPage: UInt32, like source: UInt32) -> UInt32 {
        let base = reader.rows(table.index).group(source << PageLayout.rowShift).provenance
        let index = tableWriter.newGroup(table, virtualPage: virtualPage)
        tableWriter.ownedGroup(table.index, index << PageLayout.rowShift).provenance = base
        return index
    }

    /// Moves all rows of a group to the same positions in another group. These positions must be free. Releases the emptied group.
    private mutating func move(_ table: TableLayout, from source: UInt32, to target: UInt32) {
        let rows = reader.rows(table.index)
        var bits = rows.liveBits(source)
        var virtualPages = Set<UInt32>()
        while bits != 0 {
            let place = UInt32(bits.trailingZeroBitCount)
            virtualPages.insert(rows.virtualPage(source << PageLayout.rowShift | place))
            move(table, row: source << PageLayout.rowShift | place, to: target << PageLayout.rowShift | place)
            bits &= bits - 1
        }
        let page = tableWriter.ownedTable(table.index)
        for virtualPage in virtualPages { pageWriter.slot(&page.virtualPages, Int(virtualPage)).pointee = target + 1 }
        tableWriter.releaseMovedGroup(table, source)
    }

    /// Moves the objects of a virtual page (a range of consecutive serials) from a shared group into a new group. Releases the shared group
    /// if no other virtual page has objects there. Returns the new group.
    mutating func separate(_ table: TableLayout, virtualPage: UInt32, from source: UInt32) -> UInt32 {
        let rows = reader.rows(table.index)
        let places = (0..<UInt32(PageLayout.fanOut)).filter {
            let row = source << PageLayout.rowShift | $0
            return rows.isLive(row) && rows.virtualPage(row) == virtualPage
        }
        let target = newGroup(table, virtualPage: virtualPage, like: source)
        for place in places {
            move(table, row: source << PageLayout.rowShift | place, to: target << PageLayout.rowShift | place)
            tableWriter.clearMoved(table, source << PageLayout.rowShift | place)
            recordMoved(table, target << PageLayout.rowShift | place)
        }
        if reader.rows(table.index).liveBits(source) == 0 { tableWriter.releaseMovedGroup(table, source) }
        return target
    }

    /// Records that an object may have changed in any way. The earlier records of this transaction name the row that the object had before
    /// it was moved. Checks and comparisons of an object that has not changed find nothing.
    private mutating func recordMoved(_ table: TableLayout, _ row: UInt32) {
        pending.noteObject(table.index, row)
        touched?.markAttributes(table.index, row)
        for end in layout.endsByTable[table.index] { touched?.markEnd(end.link, end.end, row) }
        if layout.derived.isEmpty { return }
        noteDerived(ofObject: table.index, row)
        for column in layout.derived.readingTable[table.index] {
            derived.noteSource(column, row, of: layout.derived.columns.count)
        }
    }
}

extension GraphLayout {
    /// Whether the rows of a table can move. The rows cannot move if an ordered relationship of the table is its own inverse. A move would
    /// exchange the ends of an edge, which would change the position of the edge in the ordered lists.
    func isGatherable(_ table: TableLayout) -> Bool {
        guard table.root != nil else { return false }
        return !links.contains { link in
            guard case .edges(_, let lists, let isSymmetric) = link else { return false }
            return isSymmetric && lists[0].ownerTable == table.index && (lists[0].isOrdered || lists[1].isOrdered)
        }
    }

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

extension Rows {
    /// Divides the given rows of a shared group by virtual page (a range of consecutive serials). In `bits` and in the result, each row is
    /// a bit.
    func shares(_ group: UInt32, of bits: UInt128) -> [UInt32: UInt128] {
        var shares: [UInt32: UInt128] = [:]
        var bits = bits
        while bits != 0 {
            let place = bits.trailingZeroBitCount
            shares[virtualPage(group << PageLayout.rowShift | UInt32(place)), default: 0] |= UInt128(1) << UInt128(place)
            bits &= bits - 1
        }
        return shares
    }

    /// Whether a group contains a live row of a virtual page (a range of consecutive serials).
    func hasLiveRow(_ group: UInt32, of virtualPage: UInt32) -> Bool {
        var bits = liveBits(group)
        while bits != 0 {
            if self.virtualPage(group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)) == virtualPage { return true }
            bits &= bits - 1
        }
        return false
    }

    /// Returns a bit for each live row of a group.
    func liveBits(_ group: UInt32) -> UInt128 {
        self.group(at: Int(group))?.live.all ?? 0
    }
}
