import CambiumModel

/// One execution of a query on one graph.
///
/// The run chooses how to find objects, finds them, sorts them, and records its steps in a plan.
struct QueryRun: ~Copyable {
    let graph: Graph
    let query: Query
    let entity: Entity
    let table: TableLayout
    let context: QueryContext
    /// The condition of the query, combined with the condition that the object belongs to the entity.
    let node: ConditionNode
    let order: SortSpecification
    private(set) var plan = QueryPlan()
    /// Whether the plan states each part of an `or`.
    private let isExplained: Bool

    init(_ query: Query, _ graph: Graph, isExplained: Bool = false) throws(CambiumError) {
        let layout = graph.layout
        guard let entity = graph.schema.entity(query.entity), let table = layout.table(of: entity.root) else {
            let remedy = graph.schema.newName(ofEntity: query.entity) ?? "Use the name of an entity of the schema."
            throw CambiumError(.unknownName, "The schema has no entity '\(query.entity.excerpt)'. \(remedy)")
        }
        let context = QueryContext(graph.reader, layout)
        try query.check()
        let binder = ConditionBinder(context: context, arguments: query.arguments)
        var parts: [ConditionNode] = []
        let order: SortSpecification
        if let slot = table.entitySlot, !table.entities.allSatisfy(entity.family.contains) { parts.append(EntityNode(slot, entity.family)) }
        if query.isForStubs { parts.append(StubNode()) }
        do throws(QueryMistake) {
            if let condition = query.condition {
                let bound = try binder.bind(condition, entity)
                // The parts of an `and` are added one by one, so that the planner can combine them with the other parts.
                if let all = bound as? AndNode { parts += all.parts } else { parts.append(bound) }
            }
            order = try binder.order(query.sort, entity, table)
        } catch {
            throw error.error(in: query.text)
        }
        if let cursor = query.cursor, cursor.order != order.hash(of: query) {
            throw CambiumError(
                .invalidInput, "The cursor is from a query with another entity or other sort keys. Use the entity and keys of that query.")
        }
        node = parts.count == 1 ? parts[0] : AndNode(parts)
        (self.graph, self.query, self.entity, self.table, self.context, self.order) = (graph, query, entity, table, context, order)
        self.isExplained = isExplained
    }

    // MARK: Results

    /// Returns the number of objects that satisfy the condition. The limit, the offset and the cursor have no effect.
    mutating func count() throws -> Int {
        var count = 0
        try forEachMatch { _, bits in count += bits.count }
        if context.isCancelled { throw CancellationError() }
        return count
    }

    /// Returns the rows of the answer in order.
    mutating func rows() throws -> [UInt32] {
        if query.limit == 0 { return [] }
        let rows = query.sort.isEmpty ? try rowsByID() : try sortedRows()
        if context.isCancelled { throw CancellationError() }
        return rows
    }

    /// The number of objects from the beginning of the answer to the end of the requested part.
    private var wantedCount: Int {
        guard let limit = query.limit else { return .max }
        let (sum, isOverflowing) = limit.addingReportingOverflow(query.offset)
        return isOverflowing ? .max : sum
    }

    private mutating func rowsByID() throws -> [UInt32] {
        let after = query.cursor?.serial ?? 0
        let rows = context.reader.rows(table.index)
        var found: [UInt32] = []
        if let access = access() {
            var serials: [(serial: UInt64, row: UInt32)] = []
            try forEachMatch(access) { group, bits in
                bits.forEach { index in
                    let row = group.row(index)
                    let serial = rows.serial(row)
                    if serial > after { serials.append((serial, row)) }
                    return true
                }
            }
            found = serials.sorted { $0.serial < $1.serial }.map(\.row)
        } else {
            let wanted = wantedCount
            let node = node
            var (read, groupCount) = (0, 0)
            try IDScan(context.reader, table, after: after).forEach { group, candidates in
                // The loop counts groups instead of using their indexes, because a scan may begin at any group and revisit a shared one.
                if groupCount & Self.cancellationMask == 0, Task.isCancelled { throw CancellationError() }
                groupCount += 1
                read += candidates.count
                node.bits(group, candidates).forEach { index in
                    found.append(group.row(index))
                    return found.count < wanted
                }
                return found.count < wanted
            }
            track(.scan, entity.name, context.reader.liveCount(table.index), found.count, read)
        }
        return limited(found)
    }

    private mutating func sortedRows() throws -> [UInt32] {
        if let rows = try rowsInIndexOrder(wantedCount) {
            track(rows.step)
            return limited(rows.rows)
        }
        var entries = FirstEntries(countMax: wantedCount)
        let order = order
        let cursor = cursorEntry
        var count = 0
        func take(_ group: GroupView, _ bits: GroupBits) {
            bits.forEach { index in
                let row = group.row(index)
                count += 1
                if let prefix = order.prefix(row, group), !entries.mayInclude(prefix) { return true }
                let entry = order.entry(row)
                if cursor.map({ $0 < entry }) ?? true { entries.insert(entry) }
                return true
            }
        }
        try forEachMatch(take)
        let sorted = entries.sorted.map(\.row)
        track(.sort, query.sort.map(\.description).joined(separator: ","), nil, sorted.count, count)
        return limited(sorted)
    }

    /// Omits the rows before the offset and after the limit.
    private mutating func limited(_ rows: [UInt32]) -> [UInt32] {
        if query.limit == nil, query.offset == 0 { return rows }
        let isWhole = query.offset == 0 && rows.count <= query.limit ?? .max
        let part = isWhole ? rows : Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
        track(.limit, nil, nil, part.count, rows.count)
        return part
    }

    // MARK: Ways to find rows

    func access() -> AccessPlanner.Candidate? {
        query.accesses == .scan ? nil : AccessPlanner(context: context, graph: graph).access(node, entity)
    }

    /// A bit mask for counting groups: a scan checks at every 64th group whether the task was cancelled.
    static let cancellationMask = 63

    /// Calls `body` with each group of rows of the table until `body` returns `false`. Throws `CancellationError` if the task was
    /// cancelled.
    func scan(_ body: (GroupView) throws -> Bool) throws {
        var groupCount = 0
        try context.forEachGroup(table, prefetchingFor: node) { group in
            // The loop counts groups instead of testing their indexes, because a table may have no group at any index that is a multiple of
            // 64. Then a scan would never check.
            if groupCount & Self.cancellationMask == 0, Task.isCancelled { throw CancellationError() }
            groupCount += 1
            return try body(group)
        }
    }

    /// Calls `body` with all rows that satisfy the condition. Each call receives rows of one group, in ascending order of the groups.
    mutating func forEachMatch(_ body: (GroupView, GroupBits) -> Void) throws {
        if let found = access() { return try forEachMatch(found, body) }
        let node = node
        var (read, count) = (0, 0)
        try scan { group in
            let live = group.live
            let matching = node.bits(group, live)
            read += live.count
            count += matching.count
            body(group, matching)
            return true
        }
        track(.scan, entity.name, context.reader.liveCount(table.index), count, read)
    }

    /// Calls `body` with the rows that `candidate` (a way to find rows without a scan) finds and that also satisfy the condition. Each call
    /// receives rows of one group, in ascending order of the groups.
    private mutating func forEachMatch(_ candidate: AccessPlanner.Candidate, _ body: (GroupView, GroupBits) -> Void) throws {
        let counts = AccessCounts()
        var candidates: [UInt32: GroupBits] = [:]
        var parts = isExplained ? UnionSteps(candidate.access, context) : nil
        if let parts {
            candidates = parts.rows
        } else {
            candidate.access.forEach(context, counts) { candidates[$0 &>> PageLayout.rowShift, default: .none] |= GroupBits($0) }
        }
        if Task.isCancelled { throw CancellationError() }
        let rows = context.reader.rows(table.index)
        var count = 0
        // The groups are sorted, because the order of a dictionary differs between processes. A sum of floating-point numbers depends on
        // the order of the numbers.
        for (index, bits) in candidates.sorted(by: { $0.key < $1.key }) {
            guard let page = rows.group(at: Int(index)) else { continue }
            let group = GroupView(index: Int(index), page: page, chunks: context.reader.chunks)
            let matching = node.bits(group, bits & group.live)
            count += matching.count
            parts?.count(matching, ofGroup: index)
            body(group, matching)
        }
        if let parts {
            plan.steps += parts.steps
            return
        }
        let step = candidate.access.step
        track(step.kind, step.name, candidate.estimate, count, counts.read)
    }

    // MARK: Plan

    private mutating func track(_ kind: QueryPlan.Step.Kind, _ name: String?, _ estimated: Int?, _ count: Int, _ read: Int) {
        track(QueryPlan.Step(kind: kind, name: name, estimatedCount: estimated, objectCount: count, readCount: read))
    }

    private mutating func track(_ step: QueryPlan.Step) { plan.steps.append(step) }
}

/// A condition that is true for stubs: objects of which only the identity is known.
final class StubNode: ConditionNode {
    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { rows & group.stubs }
}

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
