import CambiumBytes
import CambiumModel

/// Reads the first objects of a sorted answer from an ordered index.
///
/// Objects with equal keys are in the index in the order of their ids. So if the index has exactly the order of the query, the walk reads
/// only the objects that it returns. In the reverse order, it reads each run of equal keys from its beginning. If the directions of the
/// sort keys differ, the walk visits the values of the first key one after another, and the objects of each value in the same way.
struct IndexOrderWalk {
    private let plan: IndexOrder
    private let reader: OrderedReader
    private let layout: OrderedIndexLayout
    private let rows: Rows
    private let isProven: Bool
    /// Whether a key may have been cut to the maximum length. The objects with the same cut key are sorted by their whole values.
    private let mayCutKeys: Bool
    private let context: QueryContext
    /// The condition; `nil` if all objects that the walk reads satisfy it.
    private let node: ConditionNode?
    private let order: SortSpecification
    private let wantedCount: Int
    /// The position after which the answer begins; `nil` after the walk has passed it.
    private var cursor: QueryCursor?
    /// The number of bytes of a sort key that also the index contains, even if it has cut the key.
    private let visibleByteCount: Int
    private(set) var found: [UInt32] = []
    private(set) var limit: ReadLimit

    /// The maximum number of rows for which memory is allocated before they are found.
    private static let reservedCountMax = 1024

    init(_ plan: IndexOrder, _ run: borrowing QueryRun, _ wantedCount: Int, _ limit: ReadLimit) {
        self.plan = plan
        layout = plan.index.layout
        (reader, rows, isProven) = (plan.index.reader, run.context.reader.rows(run.table.index), run.graph.isProven)
        mayCutKeys = !layout.hasShortKeys
        (context, order, cursor) = (run.context, run.order, run.query.cursor)
        node = plan.isExact && layout.hasShortKeys ? nil : run.node
        let leadingByteCount = plan.leading.isEmpty ? 0 : plan.index.key(plan.leading)?.count ?? 0
        visibleByteCount = max(0, OrderedNode.keyByteCountMax - leadingByteCount)
        (self.wantedCount, self.limit) = (wantedCount, limit)
        found.reserveCapacity(min(wantedCount, plan.count, Self.reservedCountMax))
    }

    private var isDone: Bool { found.count >= wantedCount || limit.isOver }

    mutating func run() {
        for range in plan.levels.first?.isReversed == true ? plan.ranges.reversed() : plan.ranges { visit(range.outer, at: 0) }
    }

    /// Visits the entries at some positions, which have equal values in the components before a level.
    ///
    /// - Parameter isSplit: Whether either all of these entries or none of them have null at this level.
    private mutating func visit(_ places: Range<Int>, at level: Int, isSplit: Bool = false) {
        if places.isEmpty || isDone { return }
        guard level < plan.levels.count else { return plan.isWhole ? walk(places) : sort(places) }
        let (first, others) = (plan.levels[level], plan.levels[(level + 1)...])
        let isSimple = (isSplit || !first.isNullMoved) && others.allSatisfy { !$0.isNullMoved && $0.isReversed == first.isReversed }
        if plan.isWhole, isSimple { return first.isReversed ? walkBack(places) : walk(places) }
        if isSplit || !first.isNullMoved { step(places, at: level) } else { split(places, at: level) }
    }

    /// Visits the entries with null and the other entries one after the other.
    private mutating func split(_ places: Range<Int>, at level: Int) {
        let componentCount = plan.leading.count + level
        let isDescending = layout.components[componentCount].isDescending
        let key = layout.wholeKey(row(at: places.lowerBound), rows, componentCount: componentCount) + [isDescending ? 0xFF : 0]
        if key.count > OrderedNode.keyByteCountMax { return sort(places) }
        let nulls = self.places(beginningWith: key).clamped(to: places)
        let others = isDescending ? places.lowerBound..<nulls.lowerBound : nulls.upperBound..<places.upperBound
        for part in plan.levels[level].nullsFirst ? [nulls, others] : [others, nulls] { visit(part, at: level, isSplit: true) }
    }

    /// Visits the values of a level one after another.
    private mutating func step(_ places: Range<Int>, at level: Int) {
        let isReversed = plan.levels[level].isReversed
        var rest = afterCursor(places, keyCount: plan.levels[level].keyCount, isReversed: isReversed)
        while !rest.isEmpty, !isDone {
            let place = isReversed ? rest.upperBound - 1 : rest.lowerBound
            let key = layout.wholeKey(row(at: place), rows, componentCount: plan.leading.count + level + 1)
            let isCut = key.count > OrderedNode.keyByteCountMax
            let part = self.places(beginningWith: Array(key.prefix(OrderedNode.keyByteCountMax))).clamped(to: rest)
            // A sound index has the entry of the row at this position.
            guard part.contains(place) else { return }
            if isCut { sort(part) } else { visit(part, at: level + 1) }
            rest = isReversed ? rest.lowerBound..<part.lowerBound : part.upperBound..<rest.upperBound
        }
    }

    // MARK: Entries

    /// Reads entries in the order of the index, which is the order of the query.
    private mutating func walk(_ places: Range<Int>) {
        var rest = afterCursor(places, keyCount: order.keys.count, isReversed: false, comparesSerials: true)
        while !rest.isEmpty, !isDone {
            var cutKey: [UInt8]?
            reader.forEachLeaf(rest) { leaf, part in
                for entry in part {
                    if mayCutKeys, leaf.isCut(entry) {
                        cutKey = leaf.key(entry)
                        return false
                    }
                    guard limit.allowsNext(), take(leaf.row(entry)) else { return false }
                }
                return true
            }
            guard let cutKey else { return }
            let run = self.places(beginningWith: cutKey).clamped(to: rest)
            if run.isEmpty { return }
            sort(run)
            rest = run.upperBound..<rest.upperBound
        }
    }

    /// Reads entries in the reverse order of the index, but entries with equal keys in the order of their ids.
    private mutating func walkBack(_ places: Range<Int>) {
        var rest = afterCursor(places, keyCount: order.keys.count, isReversed: true)
        while !rest.isEmpty, !isDone {
            // The last entry that was read. It may be the last entry of a run of equal keys, so it is not taken yet.
            var last: (leaf: OrderedLeaf, entry: Int)?
            var runKey: [UInt8]?
            var isCut = false
            reader.forEachLeaf(rest, isReversed: true) { leaf, part in
                for entry in part.reversed() {
                    guard limit.allowsNext() else { return false }
                    if let last {
                        if leaf.hasKey(at: entry, of: last.leaf, at: last.entry) {
                            runKey = leaf.key(entry)
                            return false
                        }
                        if !take(last.leaf.row(last.entry)) { return false }
                    }
                    last = (leaf, entry)
                    isCut = mayCutKeys && leaf.isCut(entry)
                    if isCut {
                        runKey = leaf.key(entry)
                        return false
                    }
                }
                return true
            }
            if isDone { return }
            guard let runKey else {
                if let last { _ = take(last.leaf.row(last.entry)) }
                return
            }
            let run = self.places(beginningWith: runKey).clamped(to: rest)
            if run.isEmpty { return }
            if isCut { sort(run) } else { walk(run) }
            // These entries were read twice.
            if !isDone { limit.uncount(isCut ? 1 : 2) }
            rest = rest.lowerBound..<run.lowerBound
        }
    }

    /// Reads all entries at some positions, and sorts them.
    private mutating func sort(_ places: Range<Int>) {
        if !limit.allows(places.count) { return }
        var entries = FirstEntries(countMax: wantedCount - found.count)
        reader.forEachLeaf(places) { leaf, part in
            for place in part {
                guard limit.allowsNext() else { return false }
                let row = leaf.row(place)
                if !isProven { rows.requireLive(row) }
                if !satisfies(row) { continue }
                let entry = order.entry(row)
                if isAfterCursor(entry) { entries.insert(entry) }
            }
            return true
        }
        if limit.isOver { return }
        found += entries.sorted.map(\.row)
    }

    /// Adds a row to the answer if it belongs to it. Returns whether more rows are wanted.
    @inline(__always) private mutating func take(_ row: UInt32) -> Bool {
        if !isProven { rows.requireLive(row) }
        // Only the objects of the answer are in its order.
        if !satisfies(row) { return true }
        if cursor != nil {
            guard isAfterCursor(order.entry(row)) else { return true }
            cursor = nil
        }
        found.append(row)
        return found.count < wantedCount
    }

    @inline(__always) private func satisfies(_ row: UInt32) -> Bool {
        guard let node else { return true }
        return !node.bits(context.group(of: row, rows), GroupBits(row)).isEmpty
    }

    private func row(at place: Int) -> UInt32 {
        guard let row = reader.row(at: place) else { rows.chunks.refuse("an index has fewer entries than it states") }
        if !isProven { rows.requireLive(row) }
        return row
    }

    private func places(beginningWith key: [UInt8]) -> Range<Int> {
        IndexRange(plan.index, IndexRange.Edge(key, isAfter: false), IndexRange.Edge(key, isAfter: true)).outer
    }

    // MARK: Cursor

    private func isAfterCursor(_ entry: SortEntry) -> Bool {
        cursor.map { SortEntry(key: $0.key, serial: $0.serial, row: 0) < entry } ?? true
    }

    /// Returns the positions from the first one that may follow the cursor in the order of the first `keyCount` sort keys.
    private func afterCursor(_ places: Range<Int>, keyCount: Int, isReversed: Bool, comparesSerials: Bool = false) -> Range<Int> {
        guard let cursor, plan.hasSameKeys else { return places }
        let count = (0..<places.count).prefixEnd { place in
            let row = row(at: isReversed ? places.upperBound - 1 - place : places.lowerBound + place)
            return isBefore(cursor, row, keyCount, comparesSerials)
        }
        return isReversed ? places.dropLast(count) : places.dropFirst(count)
    }

    private func isBefore(_ cursor: QueryCursor, _ row: UInt32, _ keyCount: Int, _ comparesSerials: Bool) -> Bool {
        let key = order.key(row, count: keyCount)
        // The index sorts long keys only by their first bytes.
        if key.count > visibleByteCount {
            return key.prefix(visibleByteCount).lexicographicallyPrecedes(cursor.key.prefix(visibleByteCount))
        }
        if cursor.key.starts(with: key) { return comparesSerials && rows.serial(row) <= cursor.serial }
        return key.lexicographicallyPrecedes(cursor.key)
    }
}

/// Counts the entries that a walk through an index reads, and ends the walk if there are too many or the task was cancelled.
struct ReadLimit {
    private(set) var readCount = 0
    private(set) var (isExceeded, isCancelled) = (false, false)
    private let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    var isOver: Bool { isExceeded || isCancelled }

    /// Returns whether the walk may read another entry.
    @inline(__always) mutating func allowsNext() -> Bool {
        readCount += 1
        if readCount & QueryRun.cancellationMask == 0, Task.isCancelled { isCancelled = true }
        isExceeded = readCount > countMax
        return !isOver
    }

    /// Returns whether the walk may read this number of entries, all of which it needs. Otherwise, the walk ends without reading them.
    mutating func allows(_ count: Int) -> Bool {
        if count > countMax - readCount { isExceeded = true }
        return !isOver
    }

    /// Corrects the count for entries that were read twice.
    mutating func uncount(_ count: Int) { readCount -= count }
}
