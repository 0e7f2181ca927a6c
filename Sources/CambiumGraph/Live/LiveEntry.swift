/// An object of a live query: its place in the order, and its section.
struct LiveEntry: Comparable {
    let sort: SortEntry
    /// The first sort key, which divides the objects into sections. Empty if there are no sections.
    let section: [UInt8]

    var serial: UInt64 { sort.serial }

    static func < (left: Self, right: Self) -> Bool { left.sort < right.sort }
    static func == (left: Self, right: Self) -> Bool { left.sort == right.sort }
}

extension QueryRun {
    /// Returns the entry of a row.
    ///
    /// - Parameter hasSections: Whether the first sort key is the section key.
    func liveEntry(_ row: UInt32, hasSections: Bool) -> LiveEntry {
        LiveEntry(sort: order.entry(row), section: hasSections ? order.key(row, count: 1) : [])
    }
}
