import CambiumModel

/// A table in stored pages, during the proof that these pages are valid.
struct ProvenTable {
    let layout: TableLayout
    let page: UnsafeMutableRawPointer
    /// The pages of the groups of rows; `nil` for a group that was released.
    var groups: [UnsafeMutableRawPointer?] = []
    /// The type of the attribute in each column; `nil` for a column without an attribute.
    let types: [AttributeType?]

    init(_ layout: TableLayout, _ page: UnsafeMutableRawPointer, _ schema: Schema) {
        self.layout = layout
        self.page = page
        var types = [AttributeType?](repeating: nil, count: layout.columns.count)
        for number in layout.entities {
            for attribute in schema.entity(number)?.attributes ?? [] { types[layout.slot(of: attribute.number)] = attribute.type }
        }
        self.types = types
    }

    var isEdges: Bool { layout.root == nil }
    var name: String { layout.root?.name ?? "edges" }

    func field(_ offset: Int) -> UInt64 { page.load(fromByteOffset: offset, as: UInt64.self) }
    func number(_ offset: Int) -> Int { Int(page.load(fromByteOffset: offset, as: UInt32.self)) }
    func vector(_ offset: Int) -> RadixVector { page.load(fromByteOffset: offset, as: RadixVector.self) }

    static func live(_ group: UnsafeMutableRawPointer) -> UInt128 { bits(group, GroupLayout.liveBitsOffset) }

    /// Reads 128 bits, one for each row of a group.
    static func bits(_ page: UnsafeMutableRawPointer, _ offset: Int) -> UInt128 {
        let low = page.load(fromByteOffset: offset, as: UInt64.self)
        if PageLayout.fanOut == 64 { return UInt128(low) }
        return UInt128(low) | UInt128(page.load(fromByteOffset: offset + 8, as: UInt64.self)) << 64
    }

    func isLive(_ row: UInt32) -> Bool {
        let group = Int(row >> PageLayout.rowShift)
        guard group < groups.count, let page = groups[group] else { return false }
        return Rows.bit(page, GroupLayout.liveBitsOffset, row)
    }

    /// Calls `body` with each live row, ascending.
    func forEachRow(_ body: (UInt32) -> Void) {
        for (index, group) in groups.enumerated() {
            guard let group else { continue }
            var bits = Self.live(group)
            while bits != 0 {
                body(UInt32(index) << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount))
                bits &= bits - 1
            }
        }
    }
}
