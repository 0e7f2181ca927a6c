/// A set of the places that a walk has reached.
///
/// A small set is a hash table, so a short walk through a large graph takes little memory. A larger set has one bit for each row of each
/// table that the walk reaches.
struct PlaceMarks {
    /// The maximum number of places in the hash table.
    static let hashedCountMax = 4096
    private static let emptyKey = UInt64.max
    private static let firstSlotCount = 64

    private let reader: Reader
    private let hashedCountMax: Int
    private(set) var count = 0
    /// The slots of the hash table, with linear probing. The number of slots is a power of two. The array is empty if the set has bits
    /// instead.
    private var keys: [UInt64]
    private var shift: UInt64
    /// For each table, one bit for each row. The array of a table without places is empty. The outer array is empty if the set is a hash
    /// table.
    private var bits: [[UInt64]] = []
    private let tableCount: Int

    init(_ reader: Reader, tableCount: Int, hashedCountMax: Int = hashedCountMax) {
        self.reader = reader
        self.tableCount = tableCount
        self.hashedCountMax = hashedCountMax
        keys = [UInt64](repeating: Self.emptyKey, count: Self.firstSlotCount)
        shift = 64 - UInt64(Self.firstSlotCount.trailingZeroBitCount)
    }

    /// Adds a place, which must be a place of the graph. Returns whether the place was not yet in the set.
    @inline(__always) mutating func insert(_ place: ObjectPlace) -> Bool {
        if bits.isEmpty { return insertKey(place) }
        let (table, word) = (Int(place.table), Int(place.row &>> 6))
        if word >= bits[table].count { addTable(table) }
        let mask: UInt64 = 1 &<< UInt64(place.row & 63)
        let old = bits[table][word]
        if old & mask != 0 { return false }
        bits[table][word] = old | mask
        count &+= 1
        return true
    }

    @inline(__always) func contains(_ place: ObjectPlace) -> Bool {
        if bits.isEmpty {
            let key = Self.key(place)
            return keys[slot(of: key)] == key
        }
        let (table, word) = (Int(place.table), Int(place.row &>> 6))
        return word < bits[table].count && bits[table][word] &>> UInt64(place.row & 63) & 1 != 0
    }

    // MARK: The hash table

    @inline(__always) private static func key(_ place: ObjectPlace) -> UInt64 { UInt64(place.table) &<< 32 | UInt64(place.row) }

    /// Returns the slot of a key, or the empty slot in which the key belongs.
    @inline(__always) private func slot(of key: UInt64) -> Int {
        // The multiplier is 2^64 divided by the golden ratio, which spreads consecutive rows over the slots (Knuth, TAOCP 6.4).
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> shift)
        while keys[slot] != key, keys[slot] != Self.emptyKey { slot = (slot &+ 1) & (keys.count &- 1) }
        return slot
    }

    private mutating func insertKey(_ place: ObjectPlace) -> Bool {
        let key = Self.key(place)
        let slot = slot(of: key)
        if keys[slot] == key { return false }
        if count >= hashedCountMax {
            becomeBits()
            return insert(place)
        }
        keys[slot] = key
        count += 1
        if 2 * count > keys.count { grow() }
        return true
    }

    @inline(never) private mutating func grow() {
        let old = keys
        keys = [UInt64](repeating: Self.emptyKey, count: 4 * old.count)
        shift -= 2
        for key in old where key != Self.emptyKey { keys[slot(of: key)] = key }
    }

    // MARK: Bits

    @inline(never) private mutating func becomeBits() {
        let old = keys
        keys = []
        bits = [[UInt64]](repeating: [], count: tableCount)
        count = 0
        for key in old where key != Self.emptyKey {
            _ = insert(ObjectPlace(table: Int(key >> 32), row: UInt32(truncatingIfNeeded: key)))
        }
    }

    @inline(never) private mutating func addTable(_ table: Int) {
        bits[table] = [UInt64](repeating: 0, count: (reader.rowCountEnd(table) + 63) / 64)
    }
}
