/// The Merkle tree of RFC 6962, section 2.1, built leaf by leaf. It keeps only the roots of complete subtrees: O(log n) hashes for n
/// leaves.
package struct MerkleTree: Sendable, Equatable {
    /// The roots of the complete subtrees, the largest subtree first: one root for each bit that is 1 in the number of leaves.
    package private(set) var subtrees: [TreeHash] = []
    package private(set) var leafCount: UInt64 = 0

    package init() {}

    /// Creates a tree that continues an earlier tree. Returns `nil` if the complete subtrees do not fit the number of leaves.
    package init?(leafCount: UInt64, subtrees: [TreeHash]) {
        guard subtrees.count == leafCount.nonzeroBitCount else { return nil }
        (self.leafCount, self.subtrees) = (leafCount, subtrees)
    }

    /// Appends a leaf.
    ///
    /// - Parameter leafHash: the hash of a zero byte followed by the content of the leaf.
    package mutating func append(leafHash: TreeHash) {
        var hash = leafHash
        // Each subtree that is as high as the new subtree becomes a part of the new subtree.
        for _ in 0..<leafCount.trailingOneBitCount { hash = .node(subtrees.removeLast(), hash) }
        subtrees.append(hash)
        leafCount += 1
    }

    /// The root of the tree. For a tree without leaves, the root is the hash of no bytes.
    package var root: TreeHash {
        guard var hash = subtrees.last else { return .ofEmptyTree }
        for subtree in subtrees.dropLast().reversed() { hash = .node(subtree, hash) }
        return hash
    }
}

extension UInt64 {
    fileprivate var trailingOneBitCount: Int { (~self).trailingZeroBitCount }
}
