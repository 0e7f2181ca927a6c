/// A group of rows of one graph: the rows that share one page. `page` is `nil` if the graph does not have the group.
///
/// SAFETY: the page belongs to a version of the graph that the caller keeps alive.
struct RowGroup {
    private let page: GroupPage?
    private let rows: Rows
    let index: UInt32

    init(_ reference: PageRef, _ index: Int, _ table: Int, _ reader: Reader) {
        page = reference == 0 ? nil : reader.chunks.group(reference)
        rows = reader.rows(table)
        self.index = UInt32(truncatingIfNeeded: index)
    }

    var exists: Bool { page != nil }
    /// The first of the group's rows.
    var first: UInt32 { index << PageLayout.rowShift }

    /// The virtual page (a range of consecutive serials) of all rows of the group. `nil` if there is no group, or if several virtual pages
    /// share the group.
    var virtualPage: UInt32? { page == nil || rows.isShared(index) ? nil : rows.virtualPage(first) }

    /// The virtual pages (ranges of consecutive serials) to which the group's objects belong.
    var virtualPages: Set<UInt32> {
        var found = Set<UInt32>()
        for word in 0..<Self.wordCount { forEachRow(live(word), word) { found.insert(rows.virtualPage($0)) } }
        return found
    }

    // MARK: Bits

    /// The number of 64-bit words that contain a bit for each row of a group: two, or one in builds with small pages.
    static let wordCount = PageLayout.fanOut / 64

    func live(_ word: Int) -> UInt64 { page?.live.word(word) ?? 0 }
    func stubs(_ word: Int) -> UInt64 { page?.stubs.word(word) ?? 0 }

    /// Calls `body` with each row whose bit is set in `bits`. The bits belong to 64 rows of the group: the first 64 if `word` is 0, the
    /// next 64 if it is 1.
    @inline(__always) func forEachRow(_ bits: UInt64, _ word: Int, _ body: (UInt32) -> Void) {
        var rest = bits
        while rest != 0 {
            body(first &+ UInt32(word &<< 6 &+ rest.trailingZeroBitCount))
            rest &= rest &- 1
        }
    }

    // MARK: Columns

    /// Returns the leaf of a column, or 0 if the graph does not have the group.
    func leaf(_ slot: Int) -> PageRef { page?[slot] ?? 0 }
}
