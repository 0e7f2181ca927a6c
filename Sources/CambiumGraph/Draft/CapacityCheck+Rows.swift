import CambiumModel

extension CapacityCheck {
    /// Throws `.limitExceeded` if a table cannot have rows for the given serials, which must ascend. A table has at most 2^32 - 128 rows.
    ///
    /// Complexity: O(ranges), unless the table is nearly full.
    @inline(__always)
    static func checkRows(
        _ draft: borrowing Draft, _ table: TableLayout, _ serials: some Collection<ClosedRange<UInt64>>
    ) throws(CambiumError) {
        let pageCount = serials.reduce(0) { $0 + Self.virtualPages(of: $1).count }
        // Usually, the groups that the table has not used yet are enough for all serials.
        if draft.reader.groupCount(table.index) &+ pageCount <= TableLayout.groupCountMax { return }
        if spareGroupCount(draft, table) < pageCount { try checkGroups(draft, table, serials) }
    }

    private static func virtualPages(of serials: ClosedRange<UInt64>) -> ClosedRange<UInt64> {
        serials.lowerBound >> UInt64(PageLayout.fanOutShift)...serials.upperBound >> UInt64(PageLayout.fanOutShift)
    }

    private static func spareGroupCount(_ draft: borrowing Draft, _ table: TableLayout) -> Int {
        let page = draft.reader.tablePage(table.index)
        let freeCount = page.freeCount
        return Int(freeCount) + TableLayout.groupCountMax - draft.reader.groupCount(table.index)
    }

    /// Counts the virtual pages (ranges of consecutive serials) that need a new group of rows. Throws `.limitExceeded` if the table has
    /// fewer spare groups than these pages need.
    private static func checkGroups(
        _ draft: borrowing Draft, _ table: TableLayout, _ serials: some Collection<ClosedRange<UInt64>>
    ) throws(CambiumError) {
        let map = draft.reader.tablePage(table.index).virtualPages
        let rows = draft.reader.rows(table.index)
        var newCount = 0
        var last: UInt64?
        for page in serials.lazy.flatMap(Self.virtualPages) where page != last {
            let mapped = map.get(Int(page), draft.chunks)
            if mapped == 0 || rows.isShared(mapped - 1) { newCount += 1 }
            last = page
        }
        guard newCount > spareGroupCount(draft, table) else { return }
        throw CambiumError(
            .limitExceeded, "The hierarchy of '\(table.root?.name ?? "")' is full: it has at most 2^32 - 128 rows. Delete objects.")
    }
}
