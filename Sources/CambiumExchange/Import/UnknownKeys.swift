/// How often each unknown key occurred in the rows of a batch, or in one row. An unknown key maps to no property.
struct UnknownKeys: Sendable {
    /// The number of occurrences of each key, for at most as many keys as a limit allows.
    private(set) var counts: [String: Int] = [:]
    /// The number of occurrences of all other keys.
    private(set) var leftOut = 0

    /// The maximum number of keys of a refused row that are kept by name. The limit is small, because a batch may have many such rows.
    private static let countMaxOfRow = 256

    mutating func track(_ key: String) { add(key, 1, countMax: ImportReport.unknownKeyCountMax) }

    /// Adds the keys of a row that an earlier run of the batch refused.
    mutating func track(_ row: UnknownKeys) {
        for (key, count) in row.counts { add(key, count, countMax: ImportReport.unknownKeyCountMax) }
        leftOut += row.leftOut
    }

    private mutating func add(_ key: String, _ count: Int, countMax: Int) {
        if counts[key] == nil, counts.count >= countMax { leftOut += count } else { counts[key, default: 0] += count }
    }

    /// Returns the keys of one row, which `note` has already counted here.
    ///
    /// The result has only keys that are also kept by name here, and shares their texts. So even many such results need little memory.
    func part(_ keys: [String]) -> UnknownKeys {
        var part = UnknownKeys()
        for key in keys {
            if let place = counts.index(forKey: key) {
                part.add(counts[place].key, 1, countMax: Self.countMaxOfRow)
            } else {
                part.leftOut += 1
            }
        }
        return part
    }
}
