import CambiumBytes
import CambiumModel

/// A hash of the Merkle tree over a log: SHA-256, 32 bytes (RFC 6962, section 2.1).
///
/// ```swift
/// let empty = TreeHash(hex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
/// ```
public struct TreeHash: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes of the hash.
    public let bytes: [UInt8]

    /// The number of bytes of a hash.
    public static let byteCount = 32

    /// Creates a hash from its bytes. Returns `nil` unless there are 32 of them.
    public init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        if self.bytes.count != Self.byteCount { return nil }
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

    package init(hashing hash: ContentHash) { bytes = hash.finish() }

    /// The root of a tree without leaves.
    public static let ofEmptyTree = TreeHash(hashing: ContentHash())

    /// Returns the hash of a leaf with this content.
    public static func leaf(_ content: [UInt8]) -> TreeHash {
        var hash = ContentHash()
        hash.add([0])
        hash.add(content[...])
        return TreeHash(hashing: hash)
    }

    /// Returns the hash of a node with these children.
    package static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
        TreeHash(unchecked: MerkleTree.node(left.bytes, right.bytes))
    }

    /// Creates a hash from the result of a function that always returns 32 bytes.
    init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// The hash as 64 hexadecimal digits.
    public var description: String { HexText.encode(bytes) }

    var base64: String { Base64.text(bytes) }
}
