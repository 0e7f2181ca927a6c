/// A hash of the content of a request. The store uses the digest to distinguish a repeated request from another request with the same id.
///
/// `RequestHasher` makes digests. The store only compares them.
package struct RequestDigest: Sendable, Hashable, CustomStringConvertible {
    package static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    /// Creates a digest from its bytes. Returns `nil` unless there are 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 16 bytes of the digest.
    package var bytes: [UInt8] {
        [high, low].flatMap { half in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) } }
    }

    /// The digest as 32 hexadecimal digits.
    package var description: String { GraphDigest(high: high, low: low).description }
}
