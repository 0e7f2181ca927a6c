/// Joins nodes of ordered indexes that have become sparse with the nodes next to them.
extension OrderedWriter {
    static func isSparse(_ draft: borrowing Draft, _ page: PageRef, level: Int) -> Bool {
        level == 0 ? draft.chunks.leaf(page).isSparse : draft.chunks.inner(page).count < Self.childCountMin
    }

    /// The minimum number of children of an inner node. A node with fewer children is joined with the node before or after it.
    private static let childCountMin = 4

    /// Returns the children of a node after some of them were replaced by other nodes.
    ///
    /// - Parameter joinsSparse: Whether a sparse child is joined with the child before or after it. If so, all children are read.
    static func joined(
        _ draft: inout Draft, _ list: OrderedChildren, _ replaced: [(child: Int, list: OrderedChildren)], joinsSparse: Bool, level: Int
    ) -> OrderedChildren {
        var current = OrderedChildren()
        current.reserve(list.count)
        var next = 0
        for child in 0..<list.count {
            if next < replaced.count, replaced[next].child == child {
                current.append(replaced[next].list, boundOf: child, in: list)
                next += 1
            } else {
                current.append(child, of: list)
            }
        }
        if !joinsSparse { return current }
        var result = OrderedChildren()
        result.reserve(current.count)
        var child = 0
        while child < current.count {
            let isPair =
                child + 1 < current.count
                && (isSparse(draft, current.children[child].reference, level: level)
                    || isSparse(draft, current.children[child + 1].reference, level: level))
            if isPair {
                result.append(join(&draft, current, child, level: level), boundOf: child, in: current)
            } else {
                result.append(child, of: current)
            }
            child += isPair ? 2 : 1
        }
        return result
    }

    /// Joins a child with the next child: into one node, or into two nodes of about the same size.
    private static func join(_ draft: inout Draft, _ list: OrderedChildren, _ child: Int, level: Int) -> OrderedChildren {
        var (first, second) = (list.children[child].reference, list.children[child + 1].reference)
        if level == 0 {
            let work = draft.space.orderedWork
            work.removeAll()
            for page in [first, second] { draft.chunks.leaf(page).forEach { work.append($0, $1) } }
            draft.pageWriter.own(&first, .indexLeaf)
            draft.pageWriter.discard(second)
            let count = work.entries.count
            if let leaves = writeLeaves(&draft, work, first, isAppended: false, isBulk: false) { return leaves }
            var one = OrderedChildren()
            one.append(first, count)
            return one
        }
        var children = OrderedChildren()
        let (left, right) = (draft.chunks.inner(first).children(), draft.chunks.inner(second).children())
        children.append(left, boundOf: 0, in: left)
        children.append(right, boundOf: child + 1, in: list)
        draft.pageWriter.own(&first, .indexInner)
        draft.pageWriter.discard(second)
        if let nodes = write(&draft, children, to: first, isAppended: false) { return nodes }
        var one = OrderedChildren()
        one.append(first, children.entryCount)
        return one
    }
}
