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

    /// The position of the cursor in the order of the query; `nil` without a cursor.
    var cursorEntry: SortEntry? { query.cursor.map { SortEntry(key: $0.key, serial: $0.serial, row: 0) } }

    /// Returns the first rows of the answer. Returns `nil` if no index has the order of the query, or if the query has no limit. Also
    /// returns `nil` if too few of the objects that were read from the index satisfy the condition.
    func rowsInIndexOrder(_ wantedCount: Int) throws -> FirstRows? {
        guard wantedCount < .max, query.accesses != .scan else { return nil }
        let parts = (node as? AndNode)?.parts ?? [node]
        let matches = parts.compactMap(\.match)
        var best: IndexOrder?
        for index in graph.orderedIndexes(of: entity) {
            guard let plan = IndexOrder(index, order.keys, parts, matches) else { continue }
            if best.map(plan.isBetter) ?? true { best = plan }
        }
        guard let best else { return nil }
        let rangeCount = best.count
        if !best.isExact, isWalkExpensive(rangeCount, wantedCount) { return nil }
        let isSure = best.isExact && best.isWhole
        let countMax = isSure ? Int.max : Self.readCountMax(rangeCount, wantedCount) + Self.cancellationMask
        var walk = IndexOrderWalk(best, self, wantedCount, ReadLimit(countMax: countMax))
        walk.run()
        if walk.limit.isCancelled { throw CancellationError() }
        if walk.limit.isExceeded { return nil }
        let step = QueryPlan.Step(
            kind: .index, name: best.index.layout.name, estimatedCount: min(wantedCount, rangeCount), objectCount: walk.found.count,
            readCount: walk.limit.readCount)
        return FirstRows(rows: walk.found, step: step)
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
}
