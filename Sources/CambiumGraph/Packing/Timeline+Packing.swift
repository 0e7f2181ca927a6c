package import CambiumModel

/// What is worth packing, and how much of it at a time.
package struct PackingLimits: Sendable {
    /// A table is gathered when fewer rows than one in so many are live, in groups with as few each.
    package var sparseness = 4
    /// Tables with fewer groups are left alone.
    package var groupCountMin = 32
    /// Rows that are moved in one step.
    package var rowCountMax = 2048
    /// Chunks are emptied when they hold so many bytes that are of no use, and in percent of those that are, so many.
    package var wasteByteCountMin = 4 << 20
    package var wastePercentMin = 50
    /// What of a chunk is in use at most for it to be emptied, in percent.
    package var usedPercentMax = 50
    /// Bytes that are copied in one step.
    package var byteCountMax = 2 << 20

    package init() {}

    /// All that is worth its while where somebody waits for it.
    package static let thorough: PackingLimits = {
        var limits = PackingLimits()
        (limits.sparseness, limits.groupCountMin) = (2, 4)
        (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (256 << 10, 5, 80)
        return limits
    }()
}

/// Packing changes where things are, not what is there: the version that it makes has the number of the one before.
extension Timeline {
    /// Does one step of what there is to do. No draft may be under way, and the newest version must not be taken back any more.
    ///
    /// - Returns: whether something was done; then there may be more.
    package func pack(_ limits: PackingLimits = PackingLimits(), show: (Graph) -> Void = { _ in }) throws(CambiumError) -> Bool {
        reclaim()
        // A step copies pages before it frees any.
        if space.freeChunkCount < 2 * limits.byteCountMax / PageLayout.chunkByteCount { return false }
        if try gather(limits, show) { return true }
        return try evacuate(limits, show)
    }

    /// A draft of the same transaction.
    func packingDraft() -> Draft {
        var draft = draft()
        draft.transaction = draft.original.transaction.rawValue
        return draft
    }

    // MARK: Rows

    private func gather(_ limits: PackingLimits, _ show: (Graph) -> Void) throws(CambiumError) -> Bool {
        let (reader, layout) = (head.version.reader, head.version.layout)
        for table in layout.tables where layout.isGatherable(table) {
            let groupCount = reader.groupCount(table.index) - reader.freeGroupCount(table.index)
            let live = reader.liveCount(table.index)
            guard groupCount >= limits.groupCountMin, live * limits.sparseness < groupCount << PageLayout.fanOutShift else { continue }
            let sources = reader.sparseGroups(table.index, sparseness: limits.sparseness)
            // Where nothing fits together, as little will until some have come that may, or there is less of all.
            if let vain = packing.vainCounts[table.index], 4 * sources.count < 5 * vain.sparseGroups, 2 * live > vain.live { continue }
            var draft = packingDraft()
            let gained = draft.gather(table, sources, rowCountMax: limits.rowCountMax)
            if gained == 0 {
                packing.vainCounts[table.index] = (sources.count, live)
                continue
            }
            packing.vainCounts[table.index] = nil
            try publish(draft, show: show)
            return true
        }
        return false
    }

    // MARK: Chunks

    private func evacuate(_ limits: PackingLimits, _ show: (Graph) -> Void) throws(CambiumError) -> Bool {
        var live = (0..<space.chunkCount).map { Int(space.live[$0]) }
        // What only older versions reach is not copied.
        for older in pinnedVersions {
            for page in older.dead.elements { live[Int(page >> 12)] -= space.chunks.granules(page) }
        }
        for open in space.openChunks { live[Int(open)] = 0 }
        let frozen = live.indices.filter { $0 > 0 && live[$0] > 0 }
        let used = frozen.reduce(0) { $0 + live[$1] } * PageLayout.granule
        let waste = frozen.count * PageLayout.chunkByteCount - used
        guard waste >= limits.wasteByteCountMin, 100 * waste >= limits.wastePercentMin * used else { return false }
        let sparse = frozen.filter { 100 * live[$0] <= limits.usedPercentMax * PageLayout.chunkGranules }.sorted { live[$0] < live[$1] }
        for withBlobs in [false, true] {
            // What could not be emptied holds blobs; or nodes without elements, which wait for some.
            let stuck = withBlobs ? packing.hopelessChunks : packing.stuckChunks
            var victims = [Bool](repeating: false, count: live.count)
            var byteCount = 0
            for chunk in sparse where stuck[chunk] != live[chunk] && byteCount < limits.byteCountMax {
                victims[chunk] = true
                byteCount += live[chunk] * PageLayout.granule
            }
            if byteCount == 0 { continue }
            var draft = packingDraft()
            draft.evacuate(victims)
            if withBlobs { draft.evacuateBlobs(victims) }
            let moved = draft.supersededCounts(victims)
            try publish(draft, show: show)
            for chunk in victims.indices where victims[chunk] {
                let rest = live[chunk] - moved[chunk]
                packing.stuckChunks[chunk] = rest > 0 ? rest : nil
                packing.hopelessChunks[chunk] = withBlobs && rest > 0 ? rest : nil
            }
            return true
        }
        return false
    }
}

/// What packing found that it cannot do.
struct PackingMemory {
    /// For tables of which nothing could be gathered, their sparse groups and live rows then.
    var vainCounts: [Int: (sparseGroups: Int, live: Int)] = [:]
    /// For chunks that could not be emptied, the granules that are left.
    var stuckChunks: [Int: Int] = [:]
    /// And with their blobs.
    var hopelessChunks: [Int: Int] = [:]
}

extension Reader {
    func freeGroupCount(_ table: Int) -> Int {
        Int(tablePage(table).load(fromByteOffset: TablePage.freeCountOffset, as: UInt32.self))
    }

    /// Groups of which few rows are live, by ascending virtual page, but for the one that the next object goes to.
    fileprivate func sparseGroups(_ table: Int, sparseness: Int) -> [UInt32] {
        let rows = rows(table)
        let next = UInt32(truncatingIfNeeded: nextSerial(table) >> UInt64(PageLayout.fanOutShift))
        var found: [(virtualPage: UInt32, group: UInt32)] = []
        for index in 0..<groupCount(table) {
            guard let group = rows.group(at: index) else { continue }
            let live = Int(group.load(fromByteOffset: GroupLayout.liveCountOffset, as: UInt32.self))
            let virtualPage = group.load(fromByteOffset: GroupLayout.virtualPageOffset, as: UInt32.self)
            if live > 0, live * sparseness <= PageLayout.fanOut, virtualPage != next { found.append((virtualPage, UInt32(index))) }
        }
        return found.sorted { $0.virtualPage < $1.virtualPage }.map(\.group)
    }
}

extension Draft {
    /// For each chunk, the granules of it that the draft no longer reaches.
    fileprivate func supersededCounts(_ victims: [Bool]) -> [Int] {
        var counts = [Int](repeating: 0, count: victims.count)
        for page in supersededPages where Int(page >> 12) < counts.count { counts[Int(page >> 12)] += chunks.granules(page) }
        return counts
    }
}
