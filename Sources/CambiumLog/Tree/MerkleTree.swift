import CambiumBytes
import Crypto

/// The tree of RFC 6962, section 2.1, built leaf by leaf; it keeps the roots of complete subtrees only, O(log n) of them.
struct MerkleTree: Sendable {
    private var subtrees: [(height: Int, hash: [UInt8])] = []
    private(set) var leafCount: UInt64 = 0

    /// - Parameter leafHash: 32 bytes, the hash of the leaf with its prefix of zero.
    mutating func append(leafHash: [UInt8]) {
        leafCount += 1
        var hash = leafHash
        var height = 0
        while let last = subtrees.last, last.height == height {
            hash = Self.node(last.hash, hash)
            height += 1
            subtrees.removeLast()
        }
        subtrees.append((height, hash))
    }

    /// 32 bytes. That of a tree without leaves is the hash of nothing.
    var root: [UInt8] {
        guard var hash = subtrees.last?.hash else { return Array(SHA256.hash(data: [UInt8]())) }
        for subtree in subtrees.dropLast().reversed() { hash = Self.node(subtree.hash, hash) }
        return hash
    }

    private static func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: [1] + left + right))
    }
}

/// Bytes as text, for people.
public enum HexText {
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(HexPacking.digits[Int(byte >> 4)])
            text.append(HexPacking.digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil where the text is not pairs of lower-case hexadecimal digits.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0, digits.allSatisfy({ HexPacking.values[Int($0)] < 16 }) else { return nil }
        return HexPacking.pack(digits)
    }
}
