/// A complete subtree of a Merkle tree: 2^level leaves, beginning with the leaf index * 2^level.
package struct Subtree: Hashable, Sendable {
    package var level: Int
    package var index: UInt64

    package init(level: Int, index: UInt64) { (self.level, self.index) = (level, index) }
}

/// The proofs of RFC 6962, sections 2.1.1 and 2.1.2: how they are made from the hashes of complete subtrees.
enum MerkleProof {
    /// The largest size of a tree. No log of Cambium has more transactions.
    static let sizeMax = UInt64(1) << 62
    /// The largest number of hashes in a proof for a tree of at most `sizeMax` leaves.
    static let hashCountMax = 63

    /// Returns the root of the leaves in a range that begins where a complete subtree begins.
    static func root<E: Error>(
        _ range: Range<UInt64>, _ hash: (Subtree) throws(E) -> TreeHash
    ) throws(E) -> TreeHash {
        var parts: [TreeHash] = []
        var first = range.lowerBound
        while first < range.upperBound {
            let level = 63 - (range.upperBound - first).leadingZeroBitCount
            parts.append(try hash(Subtree(level: level, index: first >> UInt64(level))))
            first += 1 << UInt64(level)
        }
        guard var root = parts.last else { return .ofEmptyTree }
        for part in parts.dropLast().reversed() { root = .node(part, root) }
        return root
    }

    /// Returns the number of leaves in the left subtree of a tree of 2 leaves or more: the largest power of two below the size.
    private static func leftCount(_ size: UInt64) -> UInt64 { 1 << UInt64(63 - (size - 1).leadingZeroBitCount) }

    /// Returns the hashes beside the path from a leaf to the root, the sibling of the leaf first.
    static func inclusion<E: Error>(
        of index: UInt64, in size: UInt64, _ hash: (Subtree) throws(E) -> TreeHash
    ) throws(E) -> [TreeHash] {
        var (first, end, path) = (UInt64(0), size, [TreeHash]())
        while end - first > 1 {
            let middle = first + leftCount(end - first)
            if index < middle {
                path.append(try root(middle..<end, hash))
                end = middle
            } else {
                path.append(try root(first..<middle, hash))
                first = middle
            }
        }
        return path.reversed()
    }

    /// Returns the hashes that show that a tree of `old` leaves is the beginning of a tree of `size` leaves.
    static func consistency<E: Error>(
        from old: UInt64, to size: UInt64, _ hash: (Subtree) throws(E) -> TreeHash
    ) throws(E) -> [TreeHash] {
        if old == 0 || old == size { return [] }
        var (first, end, path) = (UInt64(0), size, [TreeHash]())
        while end > old {
            let middle = first + leftCount(end - first)
            if old <= middle {
                path.append(try root(middle..<end, hash))
                end = middle
            } else {
                path.append(try root(first..<middle, hash))
                first = middle
            }
        }
        // The verifier knows the old root, so a subtree that is the whole old tree is left out.
        if first > 0 { path.append(try root(first..<end, hash)) }
        return path.reversed()
    }

    /// Returns whether a proof leads from the root of a subtree to itself and to the root of the tree. With a subtree that begins with the
    /// first leaf, this is the algorithm of RFC 9162, section 2.1.4.2.
    ///
    /// Requires a range that is not empty, ends within the tree, and begins where a complete subtree of its size begins.
    static func holds(_ path: [TreeHash], _ range: Range<UInt64>, _ part: TreeHash, in size: UInt64, _ root: TreeHash) -> Bool {
        var rest = path[...]
        var (first, place, last) = (range.lowerBound, range.upperBound - 1, size - 1)
        func shift() {
            first >>= 1
            place >>= 1
            last >>= 1
        }
        while first != place, place == last || place & 1 == 1 { shift() }
        // If the subtree is complete, the proof does not repeat its root.
        guard let beginning = first == place ? part : rest.popFirst() else { return false }
        var (old, new) = (beginning, beginning)
        for sibling in rest {
            if last == 0 { return false }
            if place & 1 == 1 || place == last {
                if first < place { old = .node(sibling, old) }
                new = .node(sibling, new)
                // A node without a sibling is its own parent.
                while place & 1 == 0 { shift() }
            } else {
                new = .node(new, sibling)
            }
            shift()
        }
        return last == 0 && old == part && new == root
    }
}

/// A proof that a leaf is in a tree: the hashes beside the path from the leaf to the root (RFC 6962, section 2.1.1).
///
/// ```swift
/// let proof = InclusionProof(index: 0, size: 1, path: [])
/// print(proof.root(of: .leaf([1, 2, 3])) == .leaf([1, 2, 3]))
/// ```
public struct InclusionProof: Hashable, Sendable {
    /// The index of the leaf, from 0.
    public let index: UInt64
    /// The number of leaves of the tree.
    public let size: UInt64
    /// The hashes, the sibling of the leaf first.
    public let path: [TreeHash]

    /// Creates a proof, without checking it.
    public init(index: UInt64, size: UInt64, path: [TreeHash]) { (self.index, self.size, self.path) = (index, size, path) }

    /// Makes the proof for a leaf of a tree. Requires an index below the size.
    ///
    /// - Parameter hash: returns the hash of a complete subtree.
    package static func make<E: Error>(
        index: UInt64, size: UInt64, _ hash: (Subtree) throws(E) -> TreeHash
    ) throws(E) -> InclusionProof {
        InclusionProof(index: index, size: size, path: try MerkleProof.inclusion(of: index, in: size, hash))
    }

    /// Returns the root of the only tree in which the proof can hold. Returns `nil` if the number of hashes does not fit, or the index is
    /// not below the size. Complexity: O(log size).
    public func root(of leaf: TreeHash) -> TreeHash? {
        guard index < size, size <= MerkleProof.sizeMax, path.count <= MerkleProof.hashCountMax else { return nil }
        var (hash, place, last) = (leaf, index, size - 1)
        for sibling in path {
            if last == 0 { return nil }
            if place & 1 == 1 || place == last {
                hash = .node(sibling, hash)
                // A node without a sibling is its own parent.
                while place & 1 == 0 {
                    place >>= 1
                    last >>= 1
                }
            } else {
                hash = .node(hash, sibling)
            }
            place >>= 1
            last >>= 1
        }
        return last == 0 ? hash : nil
    }
}

/// A proof that a tree is the beginning of a larger tree: the log only grew in between (RFC 6962, section 2.1.2).
///
/// ```swift
/// let proof = ConsistencyProof(oldSize: 1, size: 1, path: [])
/// print(proof.holds(from: .leaf([]), to: .leaf([])))
/// ```
public struct ConsistencyProof: Hashable, Sendable {
    /// The number of leaves of the old tree.
    public let oldSize: UInt64
    /// The number of leaves of the new tree.
    public let size: UInt64
    /// The hashes, in the order of RFC 6962.
    public let path: [TreeHash]

    /// Creates a proof, without checking it.
    public init(oldSize: UInt64, size: UInt64, path: [TreeHash]) { (self.oldSize, self.size, self.path) = (oldSize, size, path) }

    /// Makes the proof for two sizes of a tree. Requires an old size of at most the new size.
    ///
    /// - Parameter hash: returns the hash of a complete subtree.
    package static func make<E: Error>(
        oldSize: UInt64, size: UInt64, _ hash: (Subtree) throws(E) -> TreeHash
    ) throws(E) -> ConsistencyProof {
        ConsistencyProof(oldSize: oldSize, size: size, path: try MerkleProof.consistency(from: oldSize, to: size, hash))
    }

    /// Returns whether the tree with `root` begins with the tree with `oldRoot`. The empty tree is the beginning of every tree; it has
    /// exactly one root and an empty proof. Complexity: O(log size).
    public func holds(from oldRoot: TreeHash, to root: TreeHash) -> Bool {
        guard oldSize <= size, size <= MerkleProof.sizeMax, path.count <= MerkleProof.hashCountMax else { return false }
        if size == 0, root != .ofEmptyTree { return false }
        if oldSize == 0 { return path.isEmpty && oldRoot == .ofEmptyTree }
        if oldSize == size { return path.isEmpty && oldRoot == root }
        return MerkleProof.holds(path, 0..<oldSize, oldRoot, in: size, root)
    }
}
