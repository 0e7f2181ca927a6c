extension RadixVector {
    /// Calls `body` with each index at which the vectors refer to different pages, and with both references, by ascending index.
    ///
    /// Complexity: O(nodes that are not shared).
    static func forEachDifference(
        _ before: (vector: RadixVector, chunks: Chunks), _ after: (vector: RadixVector, chunks: Chunks), _ sharing: PageSharing,
        _ body: (Int, PageRef, PageRef) -> Void
    ) {
        let level = max(before.vector.height, after.vector.height)
        if level == 0 { return }
        let walk = VectorWalk(old: before.chunks, new: after.chunks, sharing: sharing)
        walk.visit(before.vector.lifted(to: level), after.vector.lifted(to: level), level: Int(level), first: 0, body)
    }

    /// Returns the root as a node at this level. If the tree has fewer levels, the result is an imaginary node whose leftmost descendant is
    /// the root.
    private func lifted(to level: UInt32) -> VectorWalk.Node {
        VectorWalk.Node(reference: height == 0 ? 0 : root, missingLevels: height == 0 ? 0 : Int(level - height))
    }
}

/// Walks through two vectors side by side. The recursion is at most five levels deep, because a vector has at most five levels.
private struct VectorWalk {
    /// A node at a level of the walk. If the node's tree has fewer levels, `missingLevels` is the number of levels between the walk's level
    /// and the node.
    struct Node {
        var reference: PageRef
        var missingLevels: Int
    }

    let old: Chunks
    let new: Chunks
    let sharing: PageSharing

    func visit(_ before: Node, _ after: Node, level: Int, first: Int, _ body: (Int, PageRef, PageRef) -> Void) {
        if before.missingLevels == after.missingLevels, sharing.isOnePage(before.reference, after.reference) { return }
        let areNodes = before.missingLevels == 0 && after.missingLevels == 0 && before.reference != 0 && after.reference != 0
        guard areNodes, sharing.isOneSpace else {
            for slot in 0..<PageLayout.fanOut { visit(slot, of: before, after, level: level, first: first, body) }
            return
        }
        let (left, right) = (old[before.reference] + PageLayout.header, new[after.reference] + PageLayout.header)
        // Compares two references at a time, because most references are the same.
        for slot in stride(from: 0, to: PageLayout.fanOut, by: 2)
        where left.load(fromByteOffset: 4 &* slot, as: UInt64.self) != right.load(fromByteOffset: 4 &* slot, as: UInt64.self) {
            visit(slot, of: before, after, level: level, first: first, body)
            visit(slot + 1, of: before, after, level: level, first: first, body)
        }
    }

    private func visit(
        _ slot: Int, of before: Node, _ after: Node, level: Int, first: Int, _ body: (Int, PageRef, PageRef) -> Void
    ) {
        let (left, right) = (child(before, slot, old), child(after, slot, new))
        if level > 1 {
            let index = first + slot << ((level - 1) * PageLayout.fanOutShift)
            if left.reference != 0 || right.reference != 0 { visit(left, right, level: level - 1, first: index, body) }
        } else if !sharing.isOnePage(left.reference, right.reference) {
            body(first + slot, left.reference, right.reference)
        }
    }

    @inline(__always) private func child(_ node: Node, _ slot: Int, _ chunks: Chunks) -> Node {
        if node.reference == 0 { return node }
        if node.missingLevels > 0 {
            return slot == 0 ? Node(reference: node.reference, missingLevels: node.missingLevels - 1) : Node(reference: 0, missingLevels: 0)
        }
        let reference = VectorNode(chunks[node.reference])[slot]
        return Node(reference: reference, missingLevels: 0)
    }
}
