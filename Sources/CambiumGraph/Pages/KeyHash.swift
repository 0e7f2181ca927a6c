import CambiumBytes

/// The hash of a key, computed from its values one by one. A log contains no hashes, so the function may change. Stored pages contain
/// hashes and the fingerprint of the function, so a program with another function does not use these pages.
///
/// Words are multiplied by secret factors, and the high half of the 128-bit sum of the products is kept. For two keys that are chosen
/// without knowledge of the secret, all pairs of hashes are equally likely. Source: M. Thorup, "High Speed Hashing for Integers and
/// Strings", the vector multiply-shift. Then the bits are mixed. Mixing is invertible, so the hashes keep this property. The property does
/// not hold for two keys of one `UUIDSeries`: the distance between their hashes is known. Bytes are hashed by SipHash-1-3. See decision
/// 0021.
struct KeyHash {
    private let key: HashKey
    private(set) var value: UInt64 = 0

    @inline(__always) init(_ key: HashKey) { self.key = key }

    /// A value that identifies this hash function. If another function filled the buckets of a page file, the pages of this file cannot be
    /// used.
    static let fingerprint: UInt64 = {
        var hash = KeyHash(HashKey(secret: Array("cambium".utf8)))
        hash.add(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)
        hash.add(0x0123_4567_89AB_CDEF, 0)
        hash.add(UUIDSeries.tagged(0x0123_4567_0000_0000, bitCount: 20) | 5, 1)
        Array("cambium".utf8).withUnsafeBytes { hash.add($0) }
        return hash.value
    }()

    @inline(__always) mutating func add(_ low: UInt64, _ high: UInt64) {
        let series = UUIDSeries(low, high)
        let sum =
            UInt128(low ^ series.number) &* key.low &+ UInt128(high) &* key.high &+ UInt128(value) &* key.before &+ key.offset
        value = series.hash(from: Mixing.mixed(UInt64(truncatingIfNeeded: sum &>> 64)))
    }

    @inline(__always) mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = SipHash.hash13(bytes, key: key.bytes.x, key.bytes.y ^ value)
    }

    @inline(__always) mutating func add(_ cell: Cell) {
        if cell.kind == .bytes { add(cell.bytes) } else { add(cell.low, cell.high) }
    }
}

/// An invertible way to mix 64 bits. Source: the finalizer of SplitMix64 (S. Vigna), "mix 13" of D. Stafford.
enum Mixing {
    /// The odd number that is closest to 2^64 divided by the golden ratio.
    static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always) static func mixed(_ word: UInt64) -> UInt64 {
        var word = (word ^ word &>> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word &>> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word &>> 31
    }

    /// Returns the number for which `mixed` returns `word`.
    @inline(__always) static func unmixed(_ word: UInt64) -> UInt64 {
        var word = (word ^ word &>> 31 ^ word &>> 62) &* 0x3196_42B2_D24D_8EC3
        word = (word ^ word &>> 27 ^ word &>> 54) &* 0x96DE_1B17_3F11_9089
        return word ^ word &>> 30 ^ word &>> 60
    }
}
