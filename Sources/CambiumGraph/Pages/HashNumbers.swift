import CambiumBytes

/// The secret numbers from which the hashes in a graph's indexes are computed: the stored key, and numbers that follow from it.
struct HashNumbers {
    let key: HashKey
    /// The numbers that are added to the words of text and data of 16 to 64 bytes. Each pair is used for 16 bytes.
    let pairs: (SIMD2<UInt64>, SIMD2<UInt64>, SIMD2<UInt64>, SIMD2<UInt64>)
    /// The length of the longest text that is hashed with sums of products. Longer texts are hashed with SipHash-1-3. See decision 28.
    static let pairedByteCountMax = 64

    init(_ key: HashKey) {
        func word(_ number: UInt8) -> UInt64 { withUnsafeBytes(of: number) { SipHash.hash13($0, key: key.bytes.x, key.bytes.y) } }
        func pair(_ number: UInt8) -> SIMD2<UInt64> { SIMD2(word(number), word(number + 1)) }
        self.key = key
        pairs = (pair(0), pair(2), pair(4), pair(6))
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

    var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(numbers) }
}
