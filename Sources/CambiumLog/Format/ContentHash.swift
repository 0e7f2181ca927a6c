import Crypto

/// SHA-256 of bytes that arrive in parts.
package struct ContentHash {
    private var hash = SHA256()

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    mutating func add(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { hash.update(bufferPointer: $0) } }

    /// Returns the hash, 32 bytes.
    package func finish() -> [UInt8] { finish(32) }

    /// Returns the first bytes of the hash.
    func finish(_ byteCount: Int) -> [UInt8] {
        // A conversion of the digest as a sequence would copy it twice, byte by byte.
        hash.finalize().withUnsafeBytes { [UInt8](UnsafeRawBufferPointer(rebasing: $0.prefix(byteCount))) }
    }

    static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash = ContentHash()
        hash.add(bytes)
        return hash.finish()
    }
}
