package import CambiumModel

/// The result of a live query. The result can be updated to later graphs, and returns each difference as an update.
///
/// If the query has a limit, the result keeps further entries in reserve. So the query usually need not run again after a deletion.
package struct LiveResult {
    /// The query. If the result has sections, the section key was added as the first sort key.
    private let query: Query
    private let hasSections: Bool
    private var dependencies: LiveDependencies
    private var root: EntityNumber
    private var entries: LiveEntries
    /// The entry up to which `entries` is complete. Objects of the query that come after this entry may be missing. `nil` if `entries`
    /// contains all objects of the query.
    private var boundary: LiveEntry?
    private var sections = LiveSections()
    /// The number of times that the whole query ran.
    package private(set) var runCount = 0

    /// The minimum number of entries that are kept beyond the limit.
    private static let reserveMin = 16

    /// Runs a query.
    ///
    /// Throws as `Graph.find(_:)` does. Throws `.invalidInput` if the query has a cursor, or if the section key ignores case or diacritics.
    package init(_ query: Query, sections key: SortKey? = nil, in graph: Graph) throws {
        if query.cursor != nil {
            throw CambiumError(.invalidInput, "A live query begins at the first object. Remove the cursor, and use a limit or an offset.")
        }
        if let key, !key.folding.isEmpty {
            throw CambiumError(.invalidInput, "The section key '\(key)' ignores case or diacritics. Remove the option in brackets.")
        }
        self.query = query.sorted(firstBy: key)
        hasSections = key != nil
        entries = LiveEntries([], isInOrderOfSerials: true)
        let run = try QueryRun(self.query, graph)
        (dependencies, root) = (LiveDependencies(self.query, run.entity, graph.layout), run.entity.root)
        try evaluate(graph)
    }

    /// The properties on which the result depends.
    package var keys: [LiveKey] { Array(dependencies.keys) }

    /// Whether the result depends only on the existence and the attributes of the objects of the query.
    package var dependsOnlyOnAttributes: Bool { dependencies.keys.allSatisfy(dependencies.ownKeys.contains) }

    /// The objects of the result, in order.
    package var ids: [ObjectID] { visible.map { ObjectID(root: root, serial: $0.serial) } }

    // MARK: The window

    private var isWindow: Bool { query.limit != nil || query.offset > 0 }

    /// The number of entries up to the end of the window, the part that limit and offset select; `nil` if there is no limit.
    private var endCount: Int? { query.limit.map { Self.sum($0, query.offset) } }

    /// The number of entries that a run of the query keeps: the window and a reserve. `nil` if there is no limit.
    private var keptCount: Int? {
        query.limit.map { limit in Self.sum(Self.sum(limit, query.offset), limit / 2 + Self.reserveMin) }
    }

    private var visibleCount: Int { max(0, min(entries.count - query.offset, query.limit ?? .max)) }
    private var visible: [LiveEntry] { visibleCount > 0 ? entries[query.offset..<query.offset + visibleCount] : [] }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, isOverflowing) = left.addingReportingOverflow(right)
        return isOverflowing ? .max : sum
    }

    // MARK: Running the query

    private mutating func evaluate(_ graph: Graph) throws {
        var bounded = query
        (bounded.limit, bounded.offset) = (keptCount, 0)
        let found = try graph.measuring(bounded) {
            var run = try QueryRun(bounded, graph)
            let found = try run.rows().map { run.liveEntry($0, hasSections: hasSections) }
            if run.context.isCancelled { throw CancellationError() }
            return found
        }
        entries = LiveEntries(found, isInOrderOfSerials: query.sort.isEmpty)
        boundary = found.count == keptCount ? found.last : nil
        runCount += 1
    }

    /// Returns the whole result as an update.
    package mutating func whole(in graph: Graph) throws -> LiveUpdate {
        let run = try QueryRun(query, graph)
        sections = LiveSections()
        let difference = LiveDifference([], visible)
        let changed = hasSections ? sections.update(difference) { run.sectionValue($0) } : ([], [])
        if run.context.isCancelled { throw CancellationError() }
        return update(graph, difference, [], changed, isWhole: true)
    }

    /// Runs the query again, and returns the whole result as an update.
    package mutating func reload(in graph: Graph) throws -> LiveUpdate {
        let run = try QueryRun(query, graph)
        (dependencies, root) = (LiveDependencies(query, run.entity, graph.layout), run.entity.root)
        try evaluate(graph)
        return try whole(in: graph)
    }

    // MARK: Following a graph

    /// Updates the result to a later graph. Returns `nil` if neither the result nor any of its objects has changed.
    ///
    /// Complexity: O(candidates x (cost of the condition + log objects + chunks of the result) + window). The candidates are the objects
    /// that may have entered the result, left it or moved in it. If there are too many candidates, the whole query runs again instead. The
    /// complexity is then the complexity of the query.
    ///
    /// - Parameter touched: All objects that differ between the graph of the last result and `graph`, and possibly other objects.
    /// - Throws: `CancellationError` if the task was cancelled. The result is then incomplete and must not be used again.
    package mutating func advance(_ touched: [TouchedObjects], to graph: Graph) throws -> LiveUpdate? {
        if touched.contains(where: \.changesSchema) { return try reload(in: graph) }
        var run = try QueryRun(query, graph)
        let countMax = max(Self.candidateCountMin, graph.reader.liveCount(run.table.index) / Self.candidateShare)
        let difference: LiveDifference
        if let candidates = dependencies.candidates(touched, graph.reader, countMax: countMax) {
            difference = try replace(candidates, &run, graph)
        } else {
            let old = visible
            try evaluate(graph)
            difference = LiveDifference(old, visible)
        }
        let changed = hasSections && !difference.isEmpty ? sections.update(difference) { run.sectionValue($0) } : ([], [])
        if run.context.isCancelled { throw CancellationError() }
        let update = update(graph, difference, ownSerials(touched), changed, isWhole: false)
        return update.isEmpty ? nil : update
    }

    /// The candidates are the objects that may have entered the result, left it or moved in it. If there are at most this many, they are
    /// evaluated one by one, and the query does not run again.
    private static let candidateCountMin = 256
    /// If there are more candidates than `candidateCountMin`, the query runs again only if more than one in this many objects is a
    /// candidate.
    private static let candidateShare = 8

    /// Evaluates the condition for the candidates (the objects that may have entered, left or moved), and replaces their entries in the
    /// result.
    private mutating func replace(_ candidates: Set<UInt64>, _ run: inout QueryRun, _ graph: Graph) throws -> LiveDifference {
        var (removed, added): ([LiveEntry], [LiveEntry]) = ([], [])
        for serial in candidates {
            let old = entries.entry(serial)
            var new = run.liveEntry(of: serial, hasSections: hasSections)
            if let entry = new, let boundary, boundary < entry { new = nil }
            if old == new { continue }
            if let old { removed.append(old) }
            if let new { added.append(new) }
        }
        removed.sort()
        added.sort()
        guard isWindow else {
            let difference = LiveDifference(replacing: removed, by: added, in: entries)
            entries.replace(removed, by: added)
            return difference
        }
        let old = visible
        entries.replace(removed, by: added)
        if boundary != nil, let endCount, entries.count < endCount {
            try evaluate(graph)
        } else if let keptCount, entries.count > Self.sum(keptCount, Self.reserveMin) {
            entries.truncate(to: keptCount)
            boundary = entries.last
        }
        return LiveDifference(old, visible)
    }

    // MARK: Updates

    /// Returns the serials of the objects of the query that were inserted or deleted, or that have a changed attribute. Omits objects whose
    /// values are as before, because one transaction has undone the changes of another one.
    private func ownSerials(_ touched: [TouchedObjects]) -> Set<UInt64> {
        var serials: Set<UInt64> = []
        for (key, own) in touched.lazy.flatMap(\.serials) where dependencies.ownKeys.contains(key) { serials.formUnion(own) }
        if touched.count == 1 { return serials }
        return serials.filter { serial in TouchedObjects.mayDiffer(ObjectID(root: root, serial: serial), touched) }
    }

    private func update(
        _ graph: Graph, _ difference: LiveDifference, _ changed: Set<UInt64>, _ sections: (deleted: [Int], inserted: [Int]), isWhole: Bool
    ) -> LiveUpdate {
        let (deleted, inserted, moved) = difference.resolved()
        let visibleCount = visibleCount
        var other = Set(moved.map(\.serial))
        if !changed.isEmpty { for item in inserted { other.insert(item.entry.serial) } }
        let updated = changed.subtracting(other).compactMap { serial -> LiveUpdate.Place? in
            guard let entry = entries.entry(serial) else { return nil }
            let index = entries.index(of: entry) - query.offset
            return (0..<visibleCount).contains(index) ? place(index, serial) : nil
        }
        return LiveUpdate(
            graph: graph, isWhole: isWhole, count: visibleCount, deleted: deleted.map { place($0.index, $0.entry.serial) },
            inserted: inserted.map { place($0.index, $0.entry.serial) },
            moved: moved.map { LiveUpdate.Move(from: $0.from, to: $0.to, id: ObjectID(root: root, serial: $0.serial)) },
            updated: updated.sorted { $0.index < $1.index }, sections: hasSections ? self.sections.list : [],
            deletedSections: sections.deleted, insertedSections: sections.inserted)
    }

    private func place(_ index: Int, _ serial: UInt64) -> LiveUpdate.Place {
        (index, ObjectID(root: root, serial: serial))
    }
}

extension LiveUpdate {
    /// Whether the update changes neither the result nor any of its objects.
    fileprivate var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }
}

extension Query {
    /// Returns the query with an additional first sort key.
    fileprivate func sorted(firstBy key: SortKey?) -> Query {
        guard let key else { return self }
        var sorted = self
        sorted.sort.insert(key, at: 0)
        return sorted
    }
}

extension QueryRun {
    /// Returns the entry of an object, or `nil` if the object does not exist or does not satisfy the condition.
    fileprivate func liveEntry(of serial: UInt64, hasSections: Bool) -> LiveEntry? {
        guard let row = context.reader.row(table.index, serial: serial) else { return nil }
        let group = context.group(of: row, context.reader.rows(table.index))
        return node.bits(group, GroupBits(row)).isEmpty ? nil : liveEntry(row, hasSections: hasSections)
    }

    /// Returns the value of the section key, which is the first sort key, for an object.
    fileprivate func sectionValue(_ entry: LiveEntry) -> QueryValue {
        guard let row = context.reader.row(table.index, serial: entry.serial) else { return .null }
        return order.keys.first?.reader.value(row) ?? .null
    }
}
