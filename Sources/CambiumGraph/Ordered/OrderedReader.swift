/// Reads the tree of an ordered index. The creator of the reader must keep the version or the draft with the tree alive.
package struct OrderedReader {
    let chunks: Chunks
    let tree: OrderedTree

    init(_ chunks: Chunks, _ tree: OrderedTree) {
        self.chunks = chunks
        self.tree = tree
        if tree.height > UInt32(OrderedNode.heightMax) { chunks.refuse("the tree of an index has too many levels") }
    }

    package init(_ tree: OrderedTree, of draft: borrowing Draft) { self.init(draft.chunks, tree) }

    package var count: Int { Int(clamping: tree.count) }

    /// Returns the number of entries that precede the given bytes. Complexity: O(log entries).
    func rank(of target: OrderedBytes) -> Int {
        if tree.height == 0 { return 0 }
        var (page, rank) = (tree.root, 0)
        for _ in 1..<tree.height {
            let node = chunks.inner(page)
            let child = node.child(of: target)
            for place in 0..<child { rank &+= Int(node.counts[place]) }
            page = node.references[child]
        }
        return rank &+ chunks.leaf(page).lowerBound(target)
    }

    /// Calls `body` with each leaf that has entries in a range, and with the indexes of these entries in the leaf, until `body` returns
    /// `false`.
    ///
    /// - Parameter ranks: The positions of the entries among all entries of the index.
    /// - Parameter isReversed: Whether the leaves come in reverse order.
    ///
    /// Complexity: O(log entries + leaves).
    func forEachLeaf(_ ranks: Range<Int>, isReversed: Bool = false, _ body: (OrderedLeaf, Range<Int>) -> Bool) {
        if tree.height == 0 || ranks.isEmpty { return }
        _ = visit(tree.root, Int(tree.height) - 1, ranks, isReversed, body)
    }

    private func visit(
        _ page: PageRef, _ level: Int, _ ranks: Range<Int>, _ isReversed: Bool, _ body: (OrderedLeaf, Range<Int>) -> Bool
    ) -> Bool {
        if level == 0 {
            let leaf = chunks.leaf(page)
            let part = ranks.clamped(to: 0..<leaf.count)
            return part.isEmpty || body(leaf, part)
        }
        let node = chunks.inner(page)
        let (counts, childCount) = (node.counts, node.count)
        let start = isReversed ? ranks.upperBound &- 1 : ranks.lowerBound
        var (child, first) = (0, 0)
        while child < childCount, first &+ Int(counts[child]) <= start {
            first &+= Int(counts[child])
            child &+= 1
        }
        while child >= 0, child < childCount {
            let end = first &+ Int(counts[child])
            if isReversed ? end <= ranks.lowerBound : first >= ranks.upperBound { break }
            let below = max(ranks.lowerBound, first) &- first..<min(ranks.upperBound, end) &- first
            if !visit(node.references[child], level - 1, below, isReversed, body) { return false }
            child &+= isReversed ? -1 : 1
            first = !isReversed ? end : child < 0 ? 0 : first &- Int(counts[child])
        }
        return true
    }

    /// Calls `body` with the row of each entry in a range of positions, in order. Complexity: O(log entries + rows).
    @inline(__always)
    package func forEachRow(_ ranks: Range<Int>, isReversed: Bool = false, _ body: (UInt32) -> Void) {
        forEachLeaf(ranks, isReversed: isReversed) { leaf, part in
            let stride = leaf.stride
            guard stride > 0, !isReversed else {
                for index in part { body(leaf.row(isReversed ? part.upperBound &- 1 &- (index &- part.lowerBound) : index)) }
                return true
            }
            var end = leaf.entries + (part.lowerBound &+ 1) &* stride
            for _ in 0..<part.count {
                body(OrderedNode.row(end))
                end += stride
            }
            return true
        }
    }

    /// The number of bytes of all nodes. Complexity: O(nodes).
    package var byteCount: Int {
        var pending = tree.height == 0 ? [] : [(tree.root, Int(tree.height) - 1)]
        var nodeCount = 0
        while let (page, level) = pending.popLast() {
            nodeCount += 1
            if level == 0 { continue }
            let node = chunks.inner(page)
            for child in 0..<node.count { pending.append((node.references[child], level - 1)) }
        }
        return nodeCount * OrderedNode.byteCount
    }

    /// Returns the row of the entry at a position, or `nil` if the index has fewer entries. Complexity: O(log entries).
    func row(at rank: Int) -> UInt32? {
        var found: UInt32?
        if rank < 0 || rank >= count { return nil }
        forEachLeaf(rank..<rank + 1) { leaf, part in
            found = leaf.row(part.lowerBound)
            return false
        }
        return found
    }
}
