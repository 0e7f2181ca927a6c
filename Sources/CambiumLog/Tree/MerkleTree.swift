import CambiumBytes

/// The tree of RFC 6962, section 2.1, built leaf by leaf; it keeps the roots of complete subtrees only, O(log n) of them.
public struct MerkleTree: Sendable, Equatable {
    /// Of the complete subtrees, the largest one first: one for each bit of the number of leaves. 32 bytes each.
    private(set) var subtrees: [[UInt8]] = []
    public private(set) var leafCount: UInt64 = 0

    public init() {}

    /// A tree that is gone on with; nil if no tree of so many leaves has so many complete subtrees.
    init?(leafCount: UInt64, subtrees: [[UInt8]]) {
        guard subtrees.count == leafCount.nonzeroBitCount, subtrees.allSatisfy({ $0.count == Self.hashByteCount }) else { return nil }
        (self.leafCount, self.subtrees) = (leafCount, subtrees)
    }

    static let hashByteCount = 32

    /// - Parameter leafHash: 32 bytes, the hash of the leaf with its prefix of zero.
    mutating func append(leafHash: [UInt8]) {
        var hash = leafHash
        // Each subtree that is as high as the new one becomes a part of it.
        for _ in 0..<leafCount.trailingOneBitCount { hash = Self.node(subtrees.removeLast(), hash) }
        subtrees.append(hash)
        leafCount += 1
    }

    /// 32 bytes. That of a tree without leaves is the hash of nothing.
    var root: [UInt8] {
        guard var hash = subtrees.last else { return ContentHash().finish() }
        for subtree in subtrees.dropLast().reversed() { hash = Self.node(subtree, hash) }
        return hash
    }

    private static func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        withUnsafeTemporaryAllocation(byteCount: 1 + 2 * hashByteCount, alignment: 8) { bytes in
            bytes.storeBytes(of: 1, as: UInt8.self)
            left.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[1...hashByteCount]).copyMemory(from: $0) }
            right.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[(1 + hashByteCount)...]).copyMemory(from: $0) }
            var hash = ContentHash()
            hash.add(UnsafeRawBufferPointer(bytes))
            return hash.finish()
        }
    }
}

extension UInt64 {
    fileprivate var trailingOneBitCount: Int { (~self).trailingZeroBitCount }
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
