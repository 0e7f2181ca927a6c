import CambiumModel

/// A table in stored pages, during the proof that these pages are valid.
struct ProvenTable {
    let layout: TableLayout
    let page: TablePage
    /// The pages of the groups of rows; `nil` for a group that was released.
    var groups: [GroupPage?] = []
    /// The type of the attribute in each column; `nil` for a column without an attribute.
    let types: [AttributeType?]

    init(_ layout: TableLayout, _ page: UnsafeMutableRawPointer, _ schema: Schema) {
        self.layout = layout
        self.page = TablePage(page)
        var types = [AttributeType?](repeating: nil, count: layout.columns.count)
        for number in layout.entities {
            for attribute in schema.entity(number)?.attributes ?? [] { types[layout.slot(of: attribute.number)] = attribute.type }
        }
        self.types = types
    }

    var isEdges: Bool { layout.root == nil }
    var name: String { layout.root?.name ?? "edges" }

    func isLive(_ row: UInt32) -> Bool {
        let group = Int(row >> PageLayout.rowShift)
        guard group < groups.count, let page = groups[group] else { return false }
        return page.isLive(row)
    }

    /// Calls `body` with each live row, ascending.
    func forEachRow(_ body: (UInt32) -> Void) {
        for (index, group) in groups.enumerated() {
            guard let group else { continue }
            var bits = group.live.all
            while bits != 0 {
                body(UInt32(index) << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount))
                bits &= bits - 1
            }
        }
    }
}
