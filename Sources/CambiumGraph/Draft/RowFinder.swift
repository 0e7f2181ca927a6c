/// Finds the rows of many serials of one table. The finder keeps the last group that it found, because consecutive serials usually lie in
/// one group.
///
/// A finder is valid until something writes to the table.
struct RowFinder {
    let rows: Rows
    private let virtualPages: RadixVector
    private var virtualPage = UInt64.max
    /// The group with the rows of `virtualPage` (a range of consecutive serials), or `nil` if there is no such group.
    private var group: GroupPage?
    private var firstRow: UInt32 = 0
    /// Whether all rows of the group belong to `virtualPage`, a range of consecutive serials.
    private var isWhole = false

    init(_ reader: Reader, _ table: Int) {
        rows = reader.rows(table)
        virtualPages = reader.tablePage(table).virtualPages
    }

    /// Returns the row of the live object with a serial, or `nil` if there is no such object, as `Reader.row(_:serial:)` does.
    @inline(__always) mutating func row(serial: UInt64) -> UInt32? {
        let page = serial &>> UInt64(PageLayout.fanOutShift)
        if page != virtualPage { find(page) }
        guard let group else { return nil }
        let row = firstRow | UInt32(truncatingIfNeeded: serial) & PageLayout.rowMask
        guard group.isLive(row) else { return nil }
        return isWhole || rows.virtualPage(row) == UInt32(truncatingIfNeeded: page) ? row : nil
    }

    @inline(never) private mutating func find(_ page: UInt64) {
        virtualPage = page
        group = nil
        let number = virtualPages.get(Int(page), rows.chunks)
        guard number != 0 else { return }
        firstRow = (number &- 1) &<< PageLayout.rowShift
        guard let found = rows.group(at: Int(number &- 1)) else { return }
        group = found
        let own = found.virtualPage
        isWhole = own == UInt32(truncatingIfNeeded: page) && own != GroupPage.isShared
    }
}
