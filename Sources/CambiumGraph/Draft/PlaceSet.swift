/// A set of places of objects. A large set keeps most rows as bits, because a hash table would cost a cache miss for each row. A small set
/// takes little memory, however many rows its tables have.
struct PlaceSet {
    private var rows: [RowSet] = []
    private var others: Set<ObjectPlace> = []
    private let tableCount: Int
    /// The maximum number of 64-bit words in a set of `rows`. Rows beyond these words are in `others`.
    private var wordCountMax: UInt32 = 0
    /// If `others` reaches this number of places, the set is larger than expected. The set then moves rows from `others` to `rows`, and
    /// raises this number.
    private var otherCountMax = 1024

    /// - Parameters:
    ///   - placeCount: The approximate number of places that will be added. The set takes a few bytes for each of them.
    ///   - tableCount: The number of tables. The table of each place must be less than this number.
    init(placeCount: Int, tableCount: Int) {
        self.tableCount = tableCount
        expect(placeCount)
    }

    /// Adds the place of an object. Returns whether the place was not yet in the set.
    mutating func insert(_ place: ObjectPlace) -> Bool {
        if place.row >> 6 < wordCountMax { return rows[Int(place.table)].insert(place.row) }
        guard others.insert(place).inserted else { return false }
        if others.count == otherCountMax { grow() }
        return true
    }

    private mutating func expect(_ placeCount: Int) {
        wordCountMax = max(wordCountMax, UInt32(clamping: placeCount / max(1, tableCount)))
        if wordCountMax > 0, rows.isEmpty { rows = [RowSet](repeating: RowSet(), count: tableCount) }
    }

    @inline(never)
    private mutating func grow() {
        otherCountMax *= 4
        expect(otherCountMax)
        let places = others
        others = []
        for place in places {
            if place.row >> 6 < wordCountMax { rows[Int(place.table)].insert(place.row) } else { others.insert(place) }
        }
    }
}
