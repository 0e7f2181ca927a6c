import CambiumModel

/// Finds the first objects of a sorted answer in an ordered index that has the same order, without sorting.
extension QueryRun {
    /// The first rows of a sorted answer, and the step that found them.
    struct FirstRows {
        let rows: [UInt32]
        let step: QueryPlan.Step
    }

    /// The walk gives up after it has read one in this many objects, because a scan is cheaper then.
    private static let readShare = 16
    /// The maximum number of rows for which memory is allocated before they are found.
    private static let reservedCountMax = 1024

    /// Returns the first rows of the answer. Returns `nil` if no index has the order of the query, or if too few of the objects that the
    /// walk reads satisfy the condition.
    func rowsInIndexOrder(_ wantedCount: Int) throws -> FirstRows? {
        guard wantedCount < .max, query.accesses != .scan, query.cursor == nil else { return nil }
        for index in graph.orderedIndexes(of: entity) {
            guard let isReversed = direction(of: index), let range = range(of: index) else { continue }
            if let found = try walk(index, range, isReversed, wantedCount) { return found }
        }
        return nil
    }

    /// Returns whether the index has the order of the query if it is read backwards (`true`) or forwards (`false`); `nil` if it has another
    /// order.
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

    /// Returns the range of the index in which the first component satisfies the condition.
    private func range(of index: OrderedIndex) -> IndexRange? {
        guard let first = index.components.first else { return nil }
        let parts = (node as? AndNode)?.parts ?? [node]
        for case let match? in parts.lazy.map(\.match)
        where match.attribute == first.attribute && match.isFolded == (first.comparison == .folded) {
            let ranges = index.ranges(match.values, after: [], isDescending: first.direction == .descending)
            if let ranges, ranges.count == 1 { return ranges[0] }
        }
        return index.all
    }

    private func walk(_ index: OrderedIndex, _ range: IndexRange, _ isReversed: Bool, _ wantedCount: Int) throws -> FirstRows? {
        // The closure uses these constants. If it used the properties of the run, it would copy the run for each row.
        let (context, node, order) = (context, node, order)
        let rows = context.reader.rows(table.index)
        // A small range is read completely, even if few of its objects satisfy the condition.
        let readMax = max(range.outer.count / Self.readShare, min(wantedCount, range.outer.count) * 2) + Self.cancellationMask
        var read = 0
        var (isExhausted, isCancelled) = (false, false)
        var found = OrderedRows(capacity: min(wantedCount, range.outer.count, Self.reservedCountMax))
        range.forEach(isReversed: isReversed) { place in
            read += 1
            if read & Self.cancellationMask == 0, Task.isCancelled { isCancelled = true }
            if read > readMax || isCancelled {
                isExhausted = true
                return false
            }
            let row = place.row
            let group = context.group(of: row, rows)
            if node.bits(group, GroupBits(row)).isEmpty { return true }
            return found.append(row, group, order, wantedCount)
        }
        if isCancelled { throw CancellationError() }
        if isExhausted { return nil }
        let kept = found.finished(order, wantedCount)
        let step = QueryPlan.Step(
            kind: .index, name: index.layout.name, estimatedCount: min(wantedCount, range.outer.count), objectCount: kept.count,
            readCount: read)
        return FirstRows(rows: kept, step: step)
    }
}

/// Collects rows in the order of an index. An index sorts objects with the same key by row, so these rows are sorted by serial here.
private struct OrderedRows {
    private var rows: [UInt32] = []
    /// The index of the first of the rows at the end that all have the same key.
    private var tiedPlace = 0
    /// The key of these rows. One of the two properties has it: the number if the key is short, otherwise the entry.
    private var lastPrefix: UInt128?
    private var lastEntry: SortEntry?

    init(capacity: Int) { rows.reserveCapacity(capacity) }

    /// Appends a row. Returns whether more rows are needed before the first `wantedCount` rows are known in order.
    mutating func append(_ row: UInt32, _ group: GroupView, _ order: SortSpecification, _ wantedCount: Int) -> Bool {
        if !hasLastKey(row, group, order) {
            finish(order)
            if rows.count >= wantedCount { return false }
        }
        rows.append(row)
        return true
    }

    /// Stores the key of a row as the last key. Returns whether the row before has the same key.
    private mutating func hasLastKey(_ row: UInt32, _ group: GroupView, _ order: SortSpecification) -> Bool {
        if let prefix = order.prefix(row, group) {
            if prefix == lastPrefix { return true }
            lastPrefix = prefix
            return false
        }
        let entry = order.entry(row)
        if let lastEntry, lastEntry.hasSameKey(as: entry) { return true }
        lastEntry = entry
        return false
    }

    private mutating func finish(_ order: SortSpecification) {
        if rows.count - tiedPlace > 1 {
            rows.replaceSubrange(tiedPlace..., with: rows[tiedPlace...].map(order.entry).sorted().map(\.row))
        }
        tiedPlace = rows.count
    }

    /// Returns the first rows in order.
    mutating func finished(_ order: SortSpecification, _ wantedCount: Int) -> [UInt32] {
        finish(order)
        return rows.count > wantedCount ? Array(rows.prefix(wantedCount)) : rows
    }
}
