import CambiumModel

/// A plan to gather the rows of one table. The rows of sparse groups, in which few rows contain an object, move into shared groups.
struct RowGathering {
    let table: TableLayout
    let sparseness: Int
    /// The groups that were sparse when the plan was made, in the order of their serials.
    let sources: [UInt32]
    /// The number of rows of `table` that contained an object when the plan was made.
    let liveCount: Int
    /// The index in `sources` of the next group to move.
    var next = 0
    /// The shared groups into which the next rows may move.
    var targets: [UInt32] = []
    /// A group that waits for a second group whose live rows have other positions, so that both groups fit into one shared group.
    var waiting: UInt32?
    /// The number of groups that the moves have released, minus the number that they created.
    var gainedCount = 0

    var isDone: Bool { next == sources.count }

    /// Chooses the first table in which gathering the rows of sparse groups is worthwhile. Complexity: O(groups).
    init?(_ graph: Graph, _ survey: PackingSurvey) {
        let (reader, layout, limits) = (graph.reader, graph.layout, survey.limits)
        for table in layout.tables where Self.isGatherable(table, layout) {
            guard reader.isThin(table, limits) else { continue }
            let live = reader.liveCount(table.index)
            let sources = reader.sparseGroups(table, sparseness: limits.sparseness)
            // `vain` is not `nil` if the last plan for this table found no two groups that fit together. After such a plan, another plan is
            // made only if there are a quarter more sparse groups, or half of the live rows have disappeared.
            let vain = survey.memory.vainCounts[layout.root(ofTable: table.index)]
            if let vain, 4 * sources.count < 5 * vain.sparseGroups, 2 * live > vain.live { continue }
            if sources.isEmpty { continue }
            (self.table, sparseness, self.sources, liveCount) = (table, limits.sparseness, sources, live)
            return
        }
        return nil
    }

    /// Whether the rows of a table can move. The rows cannot move if an ordered relationship of the table is its own inverse. A move would
    /// exchange the ends of an edge, which would change the position of the edge in the ordered lists.
    static func isGatherable(_ table: TableLayout, _ layout: GraphLayout) -> Bool {
        guard table.root != nil else { return false }
        return !layout.links.contains { link in
            guard case .edges(_, let lists, let isSymmetric) = link else { return false }
            return isSymmetric && lists[0].ownerTable == table.index && (lists[0].isOrdered || lists[1].isOrdered)
        }
    }

    /// Returns whether a group contains few live rows. The group of the next new object does not count as sparse.
    static func isSparse(_ index: UInt32, _ table: TableLayout, _ reader: Reader, sparseness: Int) -> Bool {
        guard let group = reader.rows(table.index).group(at: Int(index)) else { return false }
        let live = Int(group.liveCount)
        let virtualPage = group.virtualPage
        let next = UInt32(truncatingIfNeeded: reader.nextSerial(table.index) >> UInt64(PageLayout.fanOutShift))
        return live > 0 && live * sparseness <= PageLayout.fanOut && virtualPage != next
    }
}

extension Graph {
    /// Whether some table has so few live rows that packing may gather them. Complexity: O(tables x relationships).
    package func hasThinTable(_ limits: PackingLimits) -> Bool {
        layout.tables.contains { RowGathering.isGatherable($0, layout) && reader.isThin($0, limits) }
    }
}

extension Reader {
    /// Whether a table has many groups and few live rows.
    fileprivate func isThin(_ table: TableLayout, _ limits: PackingLimits) -> Bool {
        let groupCount = groupCount(table.index) - freeGroupCount(table.index)
        return groupCount >= limits.groupCountMin && liveCount(table.index) * limits.sparseness < groupCount << PageLayout.fanOutShift
    }

    /// Returns the groups with few live rows, in the order of their virtual pages (ranges of consecutive serials).
    fileprivate func sparseGroups(_ table: TableLayout, sparseness: Int) -> [UInt32] {
        let rows = rows(table.index)
        var found: [(virtualPage: UInt32, group: UInt32)] = []
        for index in 0..<groupCount(table.index) {
            guard let group = rows.group(at: index) else { continue }
            let virtualPage = group.virtualPage
            if RowGathering.isSparse(UInt32(index), table, self, sparseness: sparseness) { found.append((virtualPage, UInt32(index))) }
        }
        return found.sorted { $0.virtualPage < $1.virtualPage }.map(\.group)
    }
}
