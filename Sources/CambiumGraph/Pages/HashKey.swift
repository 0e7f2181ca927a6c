import CambiumBytes

/// The secret numbers that the hashes of one graph's indexes are computed with. They stand in the directory page, so that pages always
/// have the key that they were filled by. Decision 21.
package struct HashKey: BitwiseCopyable, Sendable {
    /// Factors of the words of a key of fixed width, and of the hash of the components before it.
    let low: UInt128
    let high: UInt128
    let before: UInt128
    let offset: UInt128
    /// The key of SipHash, for text and data.
    let bytes: SIMD2<UInt64>

    /// - Parameter secret: random bytes, 16 of which are enough. The same secret gives the same key.
    package init(secret: [UInt8]) {
        let seed = secret.withUnsafeBytes { XXH3.hash128($0, seed: 0) }
        func word(_ number: UInt8) -> UInt64 {
            withUnsafeBytes(of: number) { SipHash.hash13($0, key: seed.low, seed.high) }
        }
        func wide(_ number: UInt8) -> UInt128 { UInt128(word(number)) << 64 | UInt128(word(number + 1)) }
        (low, high, before, offset) = (wide(0), wide(2), wide(4), wide(6))
        bytes = SIMD2(word(8), word(9))
    }
}
