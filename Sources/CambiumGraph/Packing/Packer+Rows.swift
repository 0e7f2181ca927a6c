import CambiumModel

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
