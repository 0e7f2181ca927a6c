import CambiumModel

/// Finds the first objects of a sorted answer in an ordered index that has the same order, without sorting.
extension QueryRun {
    /// The first rows of a sorted answer, and the step that found them.
    struct FirstRows {
        let rows: [UInt32]
        let step: QueryPlan.Step
    }

    /// A walk through an index stops without a result if it has read 1/16 of the objects in its range without finding enough rows. A scan
    /// is then cheaper.
    private static let readShare = 16
    /// The maximum number of rows for which memory is allocated before they are found.
    private static let reservedCountMax = 1024

    /// The position of the cursor in the order of the query; `nil` without a cursor.
    var cursorEntry: SortEntry? { query.cursor.map { SortEntry(key: $0.key, serial: $0.serial, row: 0) } }

    /// Returns the first rows of the answer. Returns `nil` if no index has the order of the query, or if the query has no limit. Also
    /// returns `nil` if too few of the objects that were read from the index satisfy the condition.
    func rowsInIndexOrder(_ wantedCount: Int) throws -> FirstRows? {
        guard wantedCount < .max, query.accesses != .scan else { return nil }
        for index in graph.orderedIndexes(of: entity) {
            guard let isReversed = direction(of: index) else { continue }
            let part = range(of: index)
            if !part.isExact, isWalkExpensive(part.range.outer.count, wantedCount) { return nil }
            if let found = try walk(index, part, isReversed, wantedCount) { return found }
        }
        return nil
    }

    /// Returns whether a walk through a range of an index probably costs more than finding all objects in another way and sorting them. For
    /// example, the condition may state an identity.
    private func isWalkExpensive(_ rangeCount: Int, _ wantedCount: Int) -> Bool {
        guard let found = access(), found.isUpperBound else { return false }
        // If the wanted objects are spread evenly over the range, the walk reads this many objects before it has found enough.
        let expected = Double(rangeCount) * Double(wantedCount) / Double(max(found.estimate, 1))
        let walkCount = min(expected, Double(Self.readCountMax(rangeCount, wantedCount)))
        return Double(found.estimate) * Double(AccessPlanner.singleCost) < walkCount
    }

    /// The maximum number of objects that a walk through a range reads. A small range is read completely, even if few of its objects
    /// satisfy the condition.
    private static func readCountMax(_ rangeCount: Int, _ wantedCount: Int) -> Int {
        max(rangeCount / readShare, min(wantedCount, rangeCount) * 2)
    }

    /// Returns `false` if the index has the order of the query, and `true` if the index has the reverse order. Returns `nil` if the index
    /// has another order.
    private func direction(of index: OrderedIndex) -> Bool? {
        let keys = order.keys
        guard keys.count <= index.components.count else { return nil }
        var isReversed: Bool?
        for (key, component) in zip(keys, index.components) {
            let isOpposite = key.isDescending != (component.direction == .descending)
            guard let field = key.field, field.property == component.attribute, isReversed ?? isOpposite == isOpposite,
                key.nullsFirst != key.isDescending, key.folding == (component.comparison == .folded ? .caseInsensitive : [])
            else { return nil }
            isReversed = isOpposite
        }
        return isReversed
    }

    /// Returns the part of the index that the condition allows for the first attribute. Also returns whether all objects of this part
    /// satisfy the whole condition.
    private func range(of index: OrderedIndex) -> (range: IndexRange, isExact: Bool) {
        let parts = (node as? AndNode)?.parts ?? [node]
        guard let first = index.components.first else { return (index.all, parts.isEmpty) }
        for case let match? in parts.lazy.map(\.match)
        where match.attribute == first.attribute && match.isFolded == (first.comparison == .folded) {
            let values = parts.count == 1 ? match.values : match.values(within: parts.compactMap(\.match))
            let ranges = index.ranges(values, after: [], isDescending: first.direction == .descending)
            if let ranges, ranges.count == 1 { return (ranges[0], parts.count == 1) }
        }
        return (index.all, parts.isEmpty)
    }

    /// Returns the part of a range that begins near the cursor of the query. The part has all objects after the cursor, and may also have
    /// objects before it. The sort keys of all these objects begin with the same bytes as the cursor.
    private func afterCursor(_ range: IndexRange, isReversed: Bool) -> IndexRange {
        guard let cursor = query.cursor else { return range }
        // The index sorts long texts only by their first bytes, so no other bytes are compared.
        func beginning(_ key: [UInt8]) -> SortEntry { SortEntry(key: Array(key.prefix(OrderedNode.keyByteCountMax)), serial: 0, row: 0) }
        let (start, places) = (beginning(cursor.key), range.outer)
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            let place = isReversed ? places.upperBound - 1 - middle : places.lowerBound + middle
            guard let row = IndexRange(range.index, place..<place + 1).first?.row else { return range }
            if beginning(order.key(row)) < start { low = middle + 1 } else { high = middle }
        }
        return IndexRange(
            range.index, isReversed ? places.lowerBound..<places.upperBound - low : places.lowerBound + low..<places.upperBound)
    }

    private func walk(
        _ index: OrderedIndex, _ part: (range: IndexRange, isExact: Bool), _ isReversed: Bool, _ wantedCount: Int
    ) throws -> FirstRows? {
        // The loops read these constants. If they read the properties of the run instead, the run would be copied for each row.
        let (context, node, order, cursor) = (context, node, order, cursorEntry)
        let range = afterCursor(part.range, isReversed: isReversed)
        var limit = ReadLimit(countMax: Self.readCountMax(range.outer.count, wantedCount))
        var found = OrderedRows(capacity: min(wantedCount, range.outer.count, Self.reservedCountMax))
        if part.isExact, index.layout.hasShortKeys, order.keys.count == index.components.count {
            // All objects in the range satisfy the condition, and the index gives their order. So the objects themselves are not read.
            range.forEachRow(isReversed: isReversed) { row, hasLastKey in
                guard limit.allowsNext() else { return false }
                if let cursor, cursor >= order.entry(row) { return true }
                return found.append(row, hasLastKey: hasLastKey, order, wantedCount)
            }
        } else {
            let rows = context.reader.rows(table.index)
            var lastKey = LastKey()
            range.forEach(isReversed: isReversed) { place in
                guard limit.allowsNext() else { return false }
                if let cursor, cursor >= order.entry(place.row) { return true }
                let group = context.group(of: place.row, rows)
                if node.bits(group, GroupBits(place.row)).isEmpty { return true }
                return found.append(place.row, hasLastKey: lastKey.replace(place.row, group, order), order, wantedCount)
            }
        }
        if limit.isCancelled { throw CancellationError() }
        if limit.isExceeded { return nil }
        let kept = found.finished(order, wantedCount)
        let step = QueryPlan.Step(
            kind: .index, name: index.layout.name, estimatedCount: min(wantedCount, range.outer.count), objectCount: kept.count,
            readCount: limit.readCount)
        return FirstRows(rows: kept, step: step)
    }
}

/// Counts the objects that a walk through an index reads, and ends the walk if there are too many or the task was cancelled.
private struct ReadLimit {
    private(set) var readCount = 0
    private(set) var (isExceeded, isCancelled) = (false, false)
    private let countMax: Int

    init(countMax: Int) { self.countMax = countMax + QueryRun.cancellationMask }

    /// Returns whether the walk may read another object.
    @inline(__always) mutating func allowsNext() -> Bool {
        readCount += 1
        if readCount & QueryRun.cancellationMask == 0, Task.isCancelled { isCancelled = true }
        isExceeded = readCount > countMax
        return !isExceeded && !isCancelled
    }
}

/// The sort key of the row that was read last, in one of two forms.
private struct LastKey {
    private var prefix: UInt128?
    private var entry: SortEntry?

    /// Replaces the key with the key of another row, and returns whether the two keys are equal.
    mutating func replace(_ row: UInt32, _ group: GroupView, _ order: SortSpecification) -> Bool {
        if let next = order.prefix(row, group) {
            if next == prefix { return true }
            prefix = next
            return false
        }
        let next = order.entry(row)
        if let entry, entry.hasSameKey(as: next) { return true }
        entry = next
        return false
    }
}

/// Rows in the order of an index. Rows with the same key are put into the order of their serials.
private struct OrderedRows {
    private var rows: [UInt32] = []
    /// The rows from this index to the end of `rows` have the same key. They are not sorted yet.
    private var tiedPlace = 0

    init(capacity: Int) { rows.reserveCapacity(capacity) }

    /// Appends a row. Returns whether more rows are needed to get `wantedCount` rows in order.
    ///
    /// - Parameter hasLastKey: Whether the row has the same key as the row before it.
    mutating func append(_ row: UInt32, hasLastKey: Bool, _ order: SortSpecification, _ wantedCount: Int) -> Bool {
        if !hasLastKey {
            finish(order)
            if rows.count >= wantedCount { return false }
        }
        rows.append(row)
        return true
    }

    private mutating func finish(_ order: SortSpecification) {
        if rows.count - tiedPlace > 1 {
            rows.replaceSubrange(tiedPlace..., with: rows[tiedPlace...].map(order.entry).sorted().map(\.row))
        }
        tiedPlace = rows.count
    }

    /// Returns the first `wantedCount` rows in order.
    mutating func finished(_ order: SortSpecification, _ wantedCount: Int) -> [UInt32] {
        finish(order)
        return rows.count > wantedCount ? Array(rows.prefix(wantedCount)) : rows
    }
}
