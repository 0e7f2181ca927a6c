import CambiumBytes
import CambiumModel

/// A hash of the Merkle tree over a log: SHA-256, 32 bytes (RFC 6962, section 2.1).
///
/// ```swift
/// let empty = TreeHash(hex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
/// ```
public struct TreeHash: Hashable, Sendable, CustomStringConvertible {
    /// The two halves of the hash, as their bytes are in memory. A hash is a value without allocated memory.
    private let first: UInt128
    private let second: UInt128

    /// The 32 bytes of the hash.
    public var bytes: [UInt8] { withBytes { [UInt8]($0) } }

    /// The number of bytes of a hash.
    public static let byteCount = 32

    /// Creates a hash from its bytes. Returns `nil` unless there are 32 of them.
    public init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        if bytes.count != Self.byteCount { return nil }
        self.init(unchecked: bytes)
    }

    /// Creates a hash from 64 hexadecimal digits. Returns `nil` for any other text.
    public init?(hex text: String) {
        guard let bytes = HexText.decode(text.lowercased()) else { return nil }
        self.init(bytes)
    }

    /// Creates a hash from its canonical base64. Returns `nil` for any other text.
    init?(base64 text: some Sequence<UInt8>) {
        guard let bytes = Base64.bytes(text) else { return nil }
        self.init(bytes)
    }

    init(hashing hash: ContentHash) { self = hash.treeHash() }

    /// Creates a hash from the 32 bytes at an address.
    init(digest: UnsafeRawBufferPointer) {
        first = digest.loadUnaligned(as: UInt128.self)
        second = digest.loadUnaligned(fromByteOffset: MemoryLayout<UInt128>.size, as: UInt128.self)
    }

    /// Calls `body` with the 32 bytes of the hash.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: (first, second), body)
    }

    /// The root of a tree without leaves.
    public static let ofEmptyTree = TreeHash(hashing: ContentHash())

    /// Returns the hash of a leaf with this content.
    public static func leaf(_ content: [UInt8]) -> TreeHash {
        var hash = ContentHash()
        hash.add(0 as UInt8)
        hash.add(content[...])
        return hash.treeHash()
    }

    /// Returns the hash of a node with these children.
    package static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
        var hash = ContentHash()
        hash.add(1 as UInt8)
        hash.add(left)
        hash.add(right)
        return hash.treeHash()
    }

    /// Creates a hash from the result of a function that always returns 32 bytes.
    init(unchecked bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        precondition(bytes.count == Self.byteCount, "A hash has \(Self.byteCount) bytes.")
        self = bytes.withUnsafeBytes { TreeHash(digest: $0) }
    }

    /// The hash as 64 hexadecimal digits.
    public var description: String { HexText.encode(bytes) }

    var base64: String { Base64.text(bytes) }
}
