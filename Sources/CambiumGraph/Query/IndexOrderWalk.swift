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
        let context = run.context
        let rows = context.reader.rows(run.table.index)
        // A small range is read as a whole, whatever part of its objects satisfies the condition.
        let readMax = max(range.outer.count / Self.readShare, wantedCount * 2) + QueryRun.cancellationMask
        var (read, found, tied) = (0, [SortEntry](), [SortEntry]())
        var (isExhausted, isCancelled) = (false, false)
        range.forEach(isReversed: isReversed) { place in
            read += 1
            if read & QueryRun.cancellationMask == 0, Task.isCancelled { isCancelled = true }
            if read > readMax || isCancelled {
                isExhausted = true
                return false
            }
            let row = place.row
            if run.node.bits(context.group(of: row, rows), GroupBits(row)).isEmpty { return true }
            let entry = run.order.entry(row)
            if let last = tied.last, !last.hasSameKey(as: entry) {
                found += tied.sorted()
                tied = []
                if found.count >= wantedCount { return false }
            }
            tied.append(entry)
            return true
        }
        if isCancelled { throw CancellationError() }
        if isExhausted { return nil }
        found += tied.sorted()
        let kept = found.prefix(wantedCount).map(\.row)
        let step = QueryPlan.Step(
            kind: .index, name: index.name, estimatedCount: min(wantedCount, range.outer.count), objectCount: kept.count, readCount: read)
        return Found(rows: kept, step: step)
    }
}
