import CambiumBytes

/// Computes the hash of a key in an index from the values of the key, one by one. A log contains no hashes, so the function may change.
/// Stored pages contain hashes and the fingerprint of the function, so a program with another function does not use these pages.
///
/// Words are multiplied by secret factors, and the high half of the 128-bit sum of the products is kept. For two keys that are chosen
/// without knowledge of the secret, all pairs of hashes are equally likely. Source: M. Thorup, "High Speed Hashing for Integers and
/// Strings", the vector multiply-shift. Then the bits are mixed. Mixing is invertible, so the hashes keep this property. The property does
/// not hold for two keys of one `UUIDSeries`: the distance between their hashes is known. See decisions 0021 and 0028.
package struct KeyHasher {
    /// The address of the secret numbers. A copy of them would cost more than the hash of a short text.
    let key: UnsafePointer<HashKey>

    @inline(__always) init(_ key: UnsafePointer<HashKey>) { self.key = key }

    /// A value that identifies this hash function. If another function filled the buckets of a page file, the pages of this file cannot be
    /// used.
    static let fingerprint: UInt64 = {
        let key = HashKeyCopy(HashKey(secret: Array("cambium".utf8)))
        let hasher = key.hasher
        var hash = hasher.hash(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)
        hash = hasher.hash(0x0123_4567_89AB_CDEF, 0, after: hash)
        hash = hasher.hash(UUIDSeries.tagged(0x0123_4567_0000_0000, bitCount: 20) | 5, 1, after: hash)
        for count in [0, 1, 7, 15, 16, 36, 64, 65] {
            (0..<UInt8(count)).map(\.self).withUnsafeBytes { hash = hasher.hash($0, after: hash) }
        }
        return withExtendedLifetime(key) { hash }
    }()

    /// Returns the hash of a value of fixed width.
    ///
    /// - Parameter before: The hash of the preceding values of the key; 0 for the first value.
    @inline(__always) func hash(_ low: UInt64, _ high: UInt64, after before: UInt64 = 0) -> UInt64 {
        let series = UUIDSeries(low, high)
        return series.hash(from: mixedSum(low ^ series.number, high, before))
    }

    /// Returns the hash of a value that is not null.
    ///
    /// - Parameter before: The hash of the preceding values of the key; 0 for the first value.
    @inline(__always) func hash(_ cell: Cell, after before: UInt64 = 0) -> UInt64 {
        cell.kind == .bytes ? hash(cell.bytes, after: before) : hash(cell.low, cell.high, after: before)
    }

    /// Returns the mixed bits of the sum of three products. Each product has a secret factor.
    @inline(__always) func mixedSum(_ low: UInt64, _ high: UInt64, _ before: UInt64) -> UInt64 {
        let sum =
            UInt128(low) &* key.pointee.low &+ UInt128(high) &* key.pointee.high &+ UInt128(before) &* key.pointee.before
            &+ key.pointee.offset
        return Mixing.mixed(UInt64(truncatingIfNeeded: sum &>> 64))
    }
}

/// A copy of the key of a graph's hashes, for code that does not keep the graph alive.
///
/// Threads may share a copy: nothing changes the key.
package final class HashKeyCopy: @unchecked Sendable {
    private let key: UnsafeMutablePointer<HashKey>

    init(_ value: HashKey) {
        key = .allocate(capacity: 1)
        key.initialize(to: value)
    }

    deinit { key.deallocate() }

    /// The function that computes hashes. It is valid as long as the copy is alive.
    package var hasher: KeyHasher { KeyHasher(key) }
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
