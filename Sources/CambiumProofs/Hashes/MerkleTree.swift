/// The Merkle tree of RFC 6962, section 2.1, built leaf by leaf. It keeps only the roots of complete subtrees: O(log n) hashes for n
/// leaves.
package struct MerkleTree: Sendable, Equatable {
    /// The roots of the complete subtrees, the largest subtree first: one root of 32 bytes for each bit that is 1 in the number of leaves.
    package private(set) var subtrees: [[UInt8]] = []
    package private(set) var leafCount: UInt64 = 0

    package init() {}

    /// Creates a tree that continues an earlier tree. Returns `nil` if the complete subtrees do not fit the number of leaves.
    package init?(leafCount: UInt64, subtrees: [[UInt8]]) {
        guard subtrees.count == leafCount.nonzeroBitCount, subtrees.allSatisfy({ $0.count == Self.hashByteCount }) else { return nil }
        (self.leafCount, self.subtrees) = (leafCount, subtrees)
    }

    package static let hashByteCount = 32

    /// Appends a leaf.
    ///
    /// - Parameter leafHash: the 32-byte hash of a zero byte followed by the content of the leaf.
    package mutating func append(leafHash: [UInt8]) {
        var hash = leafHash
        // Each subtree that is as high as the new subtree becomes a part of the new subtree.
        for _ in 0..<leafCount.trailingOneBitCount { hash = Self.node(subtrees.removeLast(), hash) }
        subtrees.append(hash)
        leafCount += 1
    }

    /// The root of the tree, 32 bytes. For a tree without leaves, the root is the hash of no bytes.
    package var root: [UInt8] {
        guard var hash = subtrees.last else { return ContentHash().finish() }
        for subtree in subtrees.dropLast().reversed() { hash = Self.node(subtree, hash) }
        return hash
    }

    static func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
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
