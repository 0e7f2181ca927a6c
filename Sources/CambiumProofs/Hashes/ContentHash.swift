import CNettle

/// SHA-256 (FIPS 180-4) of bytes that arrive in parts. The state is a value without allocated memory, and so is the result of `treeHash`.
package struct ContentHash {
    private var context = sha256_ctx()

    package static let byteCount = Int(SHA256_DIGEST_SIZE)

    package init() { nettle_sha256_init(&context) }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        nettle_sha256_update(&context, bytes.count, start.assumingMemoryBound(to: UInt8.self))
    }

    package mutating func add(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { add($0) } }

    package mutating func add(_ byte: UInt8) { withUnsafeBytes(of: byte) { add($0) } }

    /// Adds the 8 bytes of a number, the lowest byte first.
    package mutating func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { add($0) } }

    /// Adds the first `byteCount` bytes of a hash.
    package mutating func add(_ hash: TreeHash, _ byteCount: Int = Self.byteCount) {
        hash.withBytes { add(UnsafeRawBufferPointer(rebasing: $0.prefix(byteCount))) }
    }

    /// Returns the hash of all bytes so far, 32 bytes.
    package func finish() -> [UInt8] { finish(Self.byteCount) }

    /// Returns the first `byteCount` bytes of the hash.
    package func finish(_ byteCount: Int) -> [UInt8] { withDigest { [UInt8]($0.prefix(byteCount)) } }

    /// Returns the hash of all bytes so far, without allocating memory.
    package func treeHash() -> TreeHash { withDigest { TreeHash(digest: $0) } }

    private func withDigest<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var context = context
        return withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 16) { digest in
            cnettle_sha256_digest(&context, digest.baseAddress?.assumingMemoryBound(to: UInt8.self))
            return body(UnsafeRawBufferPointer(digest))
        }
    }

    package static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash = ContentHash()
        hash.add(bytes)
        return hash.finish()
    }
}
