import CambiumBytes

/// How text and data are hashed for a hash index. Values of fixed width are always hashed in the same way. See decision 28.
package enum TextHash: CaseIterable, Sendable {
    /// Sums of products for values of at most 64 bytes, and SipHash-1-3 for longer values.
    case products
    /// SipHash-1-3 for all values. Graphs of earlier builds have indexes with such hashes.
    case sipHash
}

/// The secret numbers from which the hashes in a graph's indexes are computed: the stored key, and numbers that follow from it.
struct HashNumbers {
    let key: HashKey
    let texts: TextHash
    /// The numbers that are added to the words of text and data of 16 to 64 bytes. Each pair is used for 16 bytes.
    let pairs: (SIMD2<UInt64>, SIMD2<UInt64>, SIMD2<UInt64>, SIMD2<UInt64>)
    /// The length of the longest text that is hashed with sums of products; negative if there is no such text.
    let pairedByteCountMax: Int

    init(_ key: HashKey, _ texts: TextHash) {
        func word(_ number: UInt8) -> UInt64 { withUnsafeBytes(of: number) { SipHash.hash13($0, key: key.bytes.x, key.bytes.y) } }
        func pair(_ number: UInt8) -> SIMD2<UInt64> { SIMD2(word(number), word(number + 1)) }
        self.key = key
        self.texts = texts
        pairs = (pair(0), pair(2), pair(4), pair(6))
        pairedByteCountMax = texts == .products ? 64 : -1
    }
}

/// The numbers for hashes, at an address that never changes. Code that keeps this object alive can compute hashes without a graph.
///
/// SENDABLE: nothing changes the numbers after `init`.
package final class OwnedHashNumbers: @unchecked Sendable {
    private let numbers: UnsafeMutablePointer<HashNumbers>

    init(_ value: HashNumbers) {
        numbers = .allocate(capacity: 1)
        numbers.initialize(to: value)
    }

    deinit { numbers.deallocate() }

    /// The function that computes hashes. It is valid as long as this object is alive.
    package var hasher: KeyHasher { KeyHasher(numbers) }

    package var texts: TextHash { numbers.pointee.texts }

    var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(numbers) }
}
