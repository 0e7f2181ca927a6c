import CambiumModel

/// The state that all condition nodes share in one run of a query: the graph, and whether the run was cancelled.
final class QueryContext {
    let reader: Reader
    let layout: GraphLayout
    /// Whether the task was cancelled. If so, the results are incomplete, and the run throws `CancellationError`.
    private(set) var isCancelled = false

    init(_ reader: Reader, _ layout: GraphLayout) {
        self.reader = reader
        self.layout = layout
    }

    /// Checks whether the task was cancelled. A node that takes a long time for one row calls this method, and stops if it returns `true`.
    func checkCancellation() -> Bool {
        if Task.isCancelled { isCancelled = true }
        return isCancelled
    }

    /// Returns all rows of a table that satisfy a condition. Complexity: O(rows).
    func rows(_ table: TableLayout, where node: ConditionNode) -> RowBits {
        var found = RowBits(groupCount: reader.groupCount(table.index))
        forEachGroup(table) { group in
            found[group.index] = node.bits(group, group.live)
            return true
        }
        return found
    }

    /// Calls `body` with each existing group of rows, until `body` returns `false`.
    @inline(__always) func forEachGroup(_ table: TableLayout, _ body: (GroupView) throws -> Bool) rethrows {
        let rows = reader.rows(table.index)
        for index in 0..<reader.groupCount(table.index) {
            guard let page = rows.group(at: index) else { continue }
            if try !body(GroupView(index: index, page: page, chunks: reader.chunks)) { return }
        }
    }

    /// The page of a group is prefetched this many groups before the loop reaches the group.
    private static let pageDistance = 8
    /// The columns that a condition reads in a group are prefetched this many groups before the loop reaches the group.
    private static let columnDistance = 3

    /// With this number of groups or more, columns do not fit into the processor's caches, so they are prefetched. The number is small in
    /// tests with small pages.
    private static let farCountMin = PageLayout.fanOut < 128 ? 2 : 2048

    /// Calls `body` with each group of rows until `body` returns `false`. If the table is large or `node` compares texts, prefetches the
    /// columns that `node` reads.
    @inline(__always) func forEachGroup(
        _ table: TableLayout, prefetchingFor node: ConditionNode, _ body: (GroupView) throws -> Bool
    ) rethrows {
        let rows = reader.rows(table.index)
        let count = reader.groupCount(table.index)
        if count < Self.farCountMin, !node.comparesTexts { return try forEachGroup(table, body) }
        // A ring with the pages of the next groups: the page of group n is at index n modulo `pageDistance`.
        var pages = (0..<Self.pageDistance).map { $0 < count ? rows.group(at: $0) : nil }
        for index in 0..<count {
            let place = index % Self.pageDistance
            let page = pages[place]
            pages[place] = index + Self.pageDistance < count ? rows.group(at: index + Self.pageDistance) : nil
            if let far = pages[place] { GroupView.prefetch(far) }
            if let near = pages[(index + Self.columnDistance) % Self.pageDistance] {
                node.prefetch(GroupView(index: index + Self.columnDistance, page: near, chunks: reader.chunks))
            }
            guard let page else { continue }
            if try !body(GroupView(index: index, page: page, chunks: reader.chunks)) { return }
        }
    }

    /// Returns the group of rows that contains a row.
    @inline(__always) func group(of row: UInt32, _ rows: Rows) -> GroupView {
        GroupView(index: Int(row &>> PageLayout.rowShift), page: rows.group(row), chunks: reader.chunks)
    }
}
