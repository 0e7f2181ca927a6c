/// A set of places of objects. It keeps most rows of a large change as bits, because a hash table would cost a cache miss for each row.
struct PlaceSet {
    private var rows: [RowSet]
    private var others: Set<ObjectPlace> = []
    /// The maximum number of 64-bit words in a set of `rows`. Rows beyond these words are in `others`.
    private let wordCountMax: UInt32

    /// - Parameters:
    ///   - placeCount: The approximate number of places that will be added. The set takes a few bytes for each of them.
    ///   - tableCount: The number of tables. The table of each place must be less than this number.
    init(placeCount: Int, tableCount: Int) {
        wordCountMax = UInt32(clamping: placeCount / max(1, tableCount))
        rows = wordCountMax == 0 ? [] : [RowSet](repeating: RowSet(), count: tableCount)
    }

    /// Adds a place. Returns whether the place was not in the set before.
    mutating func insert(_ place: ObjectPlace) -> Bool {
        if place.row >> 6 < wordCountMax { return rows[Int(place.table)].insert(place.row) }
        return others.insert(place).inserted
    }
}
