import CNettle

/// SHA-256 (FIPS 180-4) of bytes that arrive in parts. The state is a value without allocated memory, so hashing a few bytes allocates only
/// the result.
package struct ContentHash {
    private var context = sha256_ctx()

    package static let byteCount = Int(SHA256_DIGEST_SIZE)

    package init() { nettle_sha256_init(&context) }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        nettle_sha256_update(&context, bytes.count, start.assumingMemoryBound(to: UInt8.self))
    }

    package mutating func add(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { add($0) } }

    /// Returns the hash of all bytes so far, 32 bytes.
    package func finish() -> [UInt8] { finish(Self.byteCount) }

    /// Returns the first `byteCount` bytes of the hash.
    package func finish(_ byteCount: Int) -> [UInt8] {
        var context = context
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.byteCount) { digest in
            cnettle_sha256_digest(&context, digest.baseAddress)
            return [UInt8](UnsafeBufferPointer(rebasing: digest.prefix(byteCount)))
        }
    }

    package static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash = ContentHash()
        hash.add(bytes)
        return hash.finish()
    }
}
