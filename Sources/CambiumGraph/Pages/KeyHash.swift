import CambiumBytes

/// The hash of a key, one component after the other. It is in no log; what is stored names its fingerprint.
///
/// `CloneUUIDs` chooses keys of 16 bytes whose hashes lie side by side. Another hash here would make clones slower and stored
/// pages useless, and change nothing else; another choice there would change what a log means.
struct KeyHash {
    private(set) var value: UInt64 = 0

    /// What the function makes of certain values: another one has other hashes in stored pages.
    static let fingerprint: UInt64 = {
        var hash = KeyHash()
        hash.add(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)
        Array("cambium".utf8).withUnsafeBytes { hash.add($0) }
        return hash.value
    }()

    @inline(__always) mutating func add(_ low: UInt64, _ high: UInt64) {
        value = Mixing.mixed(low ^ Self.folded(high) ^ value)
    }

    @inline(__always) mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = XXH3.hash64(bytes, seed: value)
    }

    @inline(__always) mutating func add(_ cell: Cell) {
        if cell.kind == .bytes { add(cell.bytes) } else { add(cell.low, cell.high) }
    }

    /// The bits of a high half that only move, at the place of a UUID's version in the low half.
    static let plainBits: UInt64 = 0xF << 52

    @inline(__always) static func folded(_ high: UInt64) -> UInt64 {
        (high & ~plainBits) &* Mixing.step ^ high & plainBits
    }
}

/// A way to mix 64 bits that can be taken back. Source: the finalizer of SplitMix64 (S. Vigna), "mix 13" of D. Stafford.
enum Mixing {
    /// The odd number next to 2^64 divided by the golden ratio.
    static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always) static func mixed(_ word: UInt64) -> UInt64 {
        var word = (word ^ word &>> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word &>> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word &>> 31
    }

    /// What `mixed` makes `word` of.
    @inline(__always) static func unmixed(_ word: UInt64) -> UInt64 {
        var word = (word ^ word &>> 31 ^ word &>> 62) &* 0x3196_42B2_D24D_8EC3
        word = (word ^ word &>> 27 ^ word &>> 54) &* 0x96DE_1B17_3F11_9089
        return word ^ word &>> 30 ^ word &>> 60
    }
}
