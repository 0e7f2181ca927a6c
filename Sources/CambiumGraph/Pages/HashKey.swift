import CambiumBytes

/// The secret numbers from which the hashes in a graph's indexes are computed. The directory page contains the key, so stored pages are
/// never separated from the key of their hashes. See decision 0021.
package struct HashKey: BitwiseCopyable, Sendable {
    /// The factor for the low word of a fixed-width value.
    let low: UInt128
    /// The factor for the high word of a fixed-width value.
    let high: UInt128
    /// The factor for the hash of the preceding values of an index key that has several values.
    let before: UInt128
    /// The number that is added to the products.
    let offset: UInt128
    /// The SipHash key for text and data, from which `HashNumbers` computes further numbers.
    let bytes: SIMD2<UInt64>

    /// - Parameter secret: Random bytes; 16 bytes are enough. The same secret produces the same key.
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
