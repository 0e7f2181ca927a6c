import CambiumModel

/// Visits the rows of a table in the order of their serials.
struct IDScan {
    private let reader: Reader
    private let table: TableLayout
    private let after: UInt64

    /// - Parameter after: Only rows with a greater serial are visited.
    init(_ reader: Reader, _ table: TableLayout, after: UInt64) {
        self.reader = reader
        self.table = table
        self.after = after
    }

    /// Calls `body` with the rows of each virtual page (a range of consecutive serials), and with the group of these rows, until `body`
    /// returns `false`.
    ///
    /// The rows of one call ascend by serial, and all of them precede the rows of the next call.
    func forEach(_ body: (GroupView, GroupBits) throws -> Bool) rethrows {
        let rows = reader.rows(table.index)
        let pages = reader.tablePage(table.index).virtualPages
        let firstPage = Int(truncatingIfNeeded: (after &+ 1) >> UInt64(PageLayout.fanOutShift))
        var next = pages.firstIndex(from: firstPage, reader.chunks)
        while let page = next {
            let index = pages.get(page, reader.chunks) &- 1
            if let address = rows.group(at: Int(index)) {
                let group = GroupView(index: Int(index), page: address, chunks: reader.chunks)
                var candidates = group.live
                if rows.isShared(index) {
                    candidates = candidates.filter { rows.virtualPage(group.row($0)) == UInt32(truncatingIfNeeded: page) }
                }
                if page == firstPage { candidates = candidates.filter { rows.serial(group.row($0)) > after } }
                if !candidates.isEmpty, try !body(group, candidates) { return }
            }
            next = pages.firstIndex(from: page + 1, reader.chunks)
        }
    }
}
