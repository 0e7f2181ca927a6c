internal import CMachine

/// A hash table with linear probing, which finds the number of a group by the key of the group. An aggregate query puts rows with the same
/// key into one group.
struct GroupTable {
    static let fixedTag: UInt64 = 2
    static let longTag: UInt64 = 3
    /// The tag of a text of less than 8 bytes.
    private static let shortTag = UInt64(CMACHINE_TEXT_TAG)
    /// A word that is not the key of a short text, because the highest byte of such a key is the length of the text.
    private static let notShort = UInt64.max
    /// The number of slots for each group. For few groups, this number is large, to avoid collisions. A collision makes the processor
    /// predict a branch wrongly, which costs more than the rest of a search. For many groups, the number is small, so that the slots fit
    /// into the processor's cache.
    private static func placesPerGroup(_ count: Int) -> Int { count < 512 ? 32 : count < 4096 ? 8 : 2 }

    /// One row of each group. If the key of the group is a hash, another row with this key may have another value. So the values of both
    /// rows are compared.
    private(set) var examples: [UInt32] = []
    private var keys: [cmachine_key] = []
    /// At index n + 1, the key of group n if it is a text of less than 8 bytes, otherwise `notShort`.
    private var shortKeys = [Self.notShort]
    /// For each slot, the number of the group that is stored there; -1 for a free slot.
    private var places = [Int32](repeating: -1, count: 64)

    /// The secret that determines the hashes. Swift's `Hasher` provides a different secret in each process. Without a secret, an attacker
    /// could choose values with the same hash, and each search would read all groups.
    static let seed: (low: UInt64, high: UInt64) = (word(1), word(2))
    private let seed = cmachine_seed(low: Self.seed.low, high: Self.seed.high)

    private static func word(_ number: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(number)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    @inline(__always) private func hash(_ key: cmachine_key) -> Int { Int(truncatingIfNeeded: cmachine_key_hash(key, seed)) }

    /// Calls `body` with pointers to the table, in the form that the C functions for short texts need.
    @inline(__always) func withGroups(_ body: (cmachine_groups) -> Void) {
        keys.withUnsafeBufferPointer { keys in
            shortKeys.withUnsafeBufferPointer { shortKeys in
                places.withUnsafeBufferPointer { places in
                    body(
                        cmachine_groups(
                            keys: keys.baseAddress, short_keys: shortKeys.baseAddress, places: places.baseAddress,
                            mask: UInt64(places.count - 1), seed: seed))
                }
            }
        }
    }

    /// Returns the number of a row's group. If no group has this key, adds a group.
    ///
    /// - Parameter hasSameValue: Returns whether the row of a known group has the same value as `row`. Called only if the keys of both rows
    ///   are hashes and are equal.
    @inline(__always) mutating func code(_ key: cmachine_key, _ row: UInt32, _ hasSameValue: (UInt32) -> Bool) -> Int32 {
        var place = hash(key) & (places.count &- 1)
        while places[place] >= 0 {
            let code = places[place]
            if keys[Int(code)] == key, key.tag != Self.longTag || hasSameValue(examples[Int(code)]) { return code }
            place = (place &+ 1) & (places.count &- 1)
        }
        return add(key, row, at: place)
    }

    @inline(never) private mutating func add(_ key: cmachine_key, _ row: UInt32, at place: Int) -> Int32 {
        let code = Int32(truncatingIfNeeded: examples.count)
        examples.append(row)
        keys.append(key)
        shortKeys.append(key.tag == Self.shortTag ? key.low : Self.notShort)
        places[place] = code
        if examples.count * Self.placesPerGroup(examples.count) > places.count { grow() }
        return code
    }

    private mutating func grow() {
        places = [Int32](repeating: -1, count: 4 * places.count)
        for (code, key) in keys.enumerated() {
            var place = hash(key) & (places.count - 1)
            while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
            places[place] = Int32(truncatingIfNeeded: code)
        }
    }
}

extension cmachine_key {
    static var null: cmachine_key { cmachine_key(low: 0, high: 0, tag: 1) }

    init(_ text: ShortText, count: Int) { self = cmachine_text_key(text.low, text.high, UInt32(count)) }

    @inline(__always) static func == (left: Self, right: Self) -> Bool {
        left.low == right.low && left.high == right.high && left.tag == right.tag
    }
}
