/// An object of a live query: its position in the order, and its section.
struct LiveEntry: Comparable {
    let sort: SortEntry
    /// The bytes of the first sort key, which determines the section of the object. Empty if there are no sections.
    let section: [UInt8]

    var serial: UInt64 { sort.serial }

    static func < (left: Self, right: Self) -> Bool { left.sort < right.sort }
    static func == (left: Self, right: Self) -> Bool { left.sort == right.sort }
}

extension QueryRun {
    /// Returns the entry of a row.
    ///
    /// - Parameter hasSections: Whether the first sort key determines the section.
    func liveEntry(_ row: UInt32, hasSections: Bool) -> LiveEntry {
        LiveEntry(sort: order.entry(row), section: hasSections ? order.key(row, count: 1) : [])
    }
}
