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
