import CambiumModel

/// Finds the first objects of a sorted answer by walking through an ordered index that has the same order.
struct IndexOrderWalk {
    struct Found {
        let rows: [UInt32]
        let step: QueryPlan.Step
    }

    private let run: QueryRun

    init(_ run: QueryRun) { self.run = run }

    /// The part of the objects that the walk reads before it gives up, because a scan is cheaper then.
    private static let readShare = 16

    /// Returns the first rows of the answer; `nil` if no index has the order, or if too few of the first objects satisfy the condition.
    func rows(_ wantedCount: Int) throws -> Found? {
        let run = run
        guard wantedCount < .max, run.query.accesses != .scan, run.query.cursor == nil else { return nil }
        for index in run.graph.orderedIndexes(of: run.entity) {
            guard let isReversed = direction(of: index), let range = range(of: index) else { continue }
            if let found = try walk(index, range, isReversed, wantedCount) { return found }
        }
        return nil
    }

    /// Returns whether the index must be read backwards to have the order of the query; `nil` if it has another order.
    private func direction(of index: OrderedIndex) -> Bool? {
        let keys = run.order.keys
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

    /// Returns the part of the index that the condition allows in its first component.
    private func range(of index: OrderedIndex) -> IndexRange? {
        guard let first = index.components.first else { return nil }
        let parts = (run.node as? AndNode)?.parts ?? [run.node]
        for match in parts.compactMap(\.match) where match.attribute == first.attribute && match.isFolded == (first.comparison == .folded) {
            let ranges = index.ranges(match.values, after: [], isDescending: first.direction == .descending)
            if let ranges, ranges.count == 1 { return ranges[0] }
        }
        return index.all
    }

    private func walk(_ index: OrderedIndex, _ range: IndexRange, _ isReversed: Bool, _ wantedCount: Int) throws -> Found? {
        let (context, node) = (run.context, run.node)
        let rows = context.reader.rows(run.table.index)
        // A small range is read as a whole, whatever part of its objects satisfies the condition.
        let readMax = max(range.outer.count / Self.readShare, wantedCount * 2) + QueryRun.cancellationMask
        var read = 0
        var (isExhausted, isCancelled) = (false, false)
        var found = OrderedRows(run.order)
        range.forEach(isReversed: isReversed) { place in
            read += 1
            if read & QueryRun.cancellationMask == 0, Task.isCancelled { isCancelled = true }
            if read > readMax || isCancelled {
                isExhausted = true
                return false
            }
            let row = place.row
            let group = context.group(of: row, rows)
            if node.bits(group, GroupBits(row)).isEmpty { return true }
            return found.append(row, group, wantedCount)
        }
        if isCancelled { throw CancellationError() }
        if isExhausted { return nil }
        let kept = Array(found.finished().prefix(wantedCount))
        let step = QueryPlan.Step(
            kind: .index, name: index.name, estimatedCount: min(wantedCount, range.outer.count), objectCount: kept.count, readCount: read)
        return Found(rows: kept, step: step)
    }
}

/// Rows in the order of an index. Rows with the same key are put into the order of their serials.
private struct OrderedRows {
    private let order: SortSpecification
    private var rows: [UInt32] = []
    /// The last rows, which have the same key.
    private var tied: [UInt32] = []
    /// The key of these rows, in one of two forms.
    private var key: (prefix: UInt128?, entry: SortEntry?)

    init(_ order: SortSpecification) { self.order = order }

    /// Appends a row. Returns whether more rows are needed to have `wantedCount` rows in order.
    mutating func append(_ row: UInt32, _ group: GroupView, _ wantedCount: Int) -> Bool {
        let prefix = order.prefix(row, group)
        let entry = prefix == nil ? order.entry(row) : nil
        let isTied = prefix.map { $0 == key.prefix } ?? entry.flatMap { key.entry?.hasSameKey(as: $0) } ?? false
        if !isTied {
            finish()
            if rows.count >= wantedCount { return false }
            key = (prefix, entry)
        }
        tied.append(row)
        return true
    }

    private mutating func finish() {
        rows += tied.count > 1 ? tied.map(order.entry).sorted().map(\.row) : tied
        tied.removeAll(keepingCapacity: true)
    }

    /// Returns the rows in order.
    mutating func finished() -> [UInt32] {
        finish()
        return rows
    }
}
