import Crypto

/// SHA-256 of bytes that come in pieces.
package struct ContentHash {
    private var hash = SHA256()

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    /// 32 bytes.
    package func finish() -> [UInt8] { Array(hash.finalize()) }
}
