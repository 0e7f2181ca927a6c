/// Copied rows of one group and one virtual page (a range of consecutive serials). The copies of these rows lie side by side in another
/// group.
struct CloneSpan {
    let source: GroupPage
    let virtualPage: UInt32
    let low: UInt64
    let high: UInt64
    /// The position of the first copied row in its group. If `isRun`, the copied rows are the `count` rows from this position on.
    let first: Int
    let count: Int
    /// The position of the first copy in its group of rows.
    let start: Int
    /// The number of the first copied row in its table.
    let firstRow: UInt32
    /// Whether the copied rows are consecutive.
    let isRun: Bool

    init(source: GroupPage, _ page: CloneRows.Page, bits: UInt128, start: Int) {
        self.source = source
        virtualPage = page.virtualPage
        firstRow = page.group &<< PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)
        low = UInt64(truncatingIfNeeded: bits)
        high = UInt64(truncatingIfNeeded: bits &>> 64)
        first = bits.trailingZeroBitCount
        count = bits.nonzeroBitCount
        self.start = start
        isRun = 128 - bits.leadingZeroBitCount - first == count
    }

    var end: Int { start &+ count }

    /// Calls `body` with the position of each copied row in its group, and with the position of the copy in the group of copies.
    @inline(__always) func forEach(_ body: (_ row: Int, _ place: Int) -> Void) {
        var place = start
        var bits = low
        while bits != 0 {
            body(bits.trailingZeroBitCount, place)
            place &+= 1
            bits &= bits &- 1
        }
        bits = high
        while bits != 0 {
            body(64 &+ bits.trailingZeroBitCount, place)
            place &+= 1
            bits &= bits &- 1
        }
    }

    /// Moves the bit of each copied row to the position of its copy. `bits` has one bit for each row of the source group; the bits of rows
    /// that are not copied are dropped.
    @inline(__always) func moved(_ bits: UInt128) -> UInt128 {
        let mask = count == 128 ? UInt128.max : (UInt128(1) &<< UInt128(truncatingIfNeeded: count)) &- 1
        if isRun { return ((bits &>> UInt128(truncatingIfNeeded: first)) & mask) &<< UInt128(truncatingIfNeeded: start) }
        let chosen = UInt128(truncatingIfNeeded: low) | UInt128(truncatingIfNeeded: high) &<< 64
        if bits & chosen == chosen { return mask &<< UInt128(truncatingIfNeeded: start) }
        if bits & chosen == 0 { return 0 }
        var moved: UInt128 = 0
        forEach { row, place in
            if bits &>> UInt128(truncatingIfNeeded: row) & 1 != 0 { moved |= 1 &<< UInt128(truncatingIfNeeded: place) }
        }
        return moved
    }
}

/// Iterates over the copied rows, one group of copies at a time.
struct CloneSpans {
    private let rows: CloneRows
    private let tableRows: Rows
    private var page = 0
    private var rest: UInt128
    private var serial: UInt64

    init(_ rows: CloneRows, _ tableRows: Rows) {
        self.rows = rows
        self.tableRows = tableRows
        rest = rows.pages.first?.bits ?? 0
        serial = rows.firstSerial
    }

    /// Replaces `spans` with the spans of originals that are copied to the next group of rows.
    mutating func next(_ spans: inout [CloneSpan]) {
        spans.removeAll(keepingCapacity: true)
        var start = Int(serial & UInt64(PageLayout.fanOutMask))
        while start < PageLayout.fanOut, page < rows.pages.count {
            let bits = Self.lowest(PageLayout.fanOut - start, of: rest)
            guard let source = tableRows.group(at: Int(rows.pages[page].group)) else {
                tableRows.chunks.refuse("a copied row has no group")
            }
            spans.append(CloneSpan(source: source, rows.pages[page], bits: bits, start: start))
            start += bits.nonzeroBitCount
            rest &= ~bits
            if rest == 0 {
                page += 1
                if page < rows.pages.count { rest = rows.pages[page].bits }
            }
        }
        serial = (serial & ~UInt64(PageLayout.fanOutMask)) + UInt64(start)
    }

    private static func lowest(_ count: Int, of bits: UInt128) -> UInt128 {
        if bits.nonzeroBitCount <= count { return bits }
        var rest = bits
        for _ in 0..<count { rest &= rest &- 1 }
        return bits & ~rest
    }
}
