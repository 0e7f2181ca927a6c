internal import CMachine
import CambiumBytes

/// Changes ordered indexes. Pages of the draft are changed in place, and other pages are copied first.
extension OrderedWriter {
    /// Adds entries to a tree and removes entries from it. In a graph that has not been proven valid, ends the process if an entry to
    /// remove does not exist.
    ///
    /// Complexity: O(n log m) for n changes to a tree of m entries, or O(m) if that is less.
    static func apply(_ draft: inout Draft, _ changes: OrderedChanges, to tree: inout OrderedTree) {
        let all = 0..<changes.records.count
        if all.isEmpty { return }
        var delta = 0
        var list: OrderedChildren?
        if tree.height == 0 {
            list = newLeaves(&draft, changes)
            delta = all.count
        } else {
            list = apply(&draft, changes, all, to: &tree.root, level: Int(tree.height) - 1, &delta)
        }
        tree.count = UInt64(truncatingIfNeeded: Int(truncatingIfNeeded: tree.count) + delta)
        if let list { setRoot(&draft, list, of: &tree) }
        lowerRoot(&draft, &tree)
    }

    /// Releases every node of a tree.
    static func discard(_ draft: inout Draft, _ tree: OrderedTree) {
        guard tree.height > 0 else { return }
        if tree.height > UInt32(OrderedNode.heightMax) { draft.chunks.refuse("the tree of an index has too many levels") }
        var pending = [(tree.root, Int(tree.height) - 1)]
        while let (page, level) = pending.popLast() {
            if level > 0 {
                let node = draft.chunks.inner(page)
                for child in 0..<node.count { pending.append((node.references[child], level - 1)) }
            } else {
                _ = draft.chunks.leaf(page)
            }
            draft.pageWriter.discard(page)
        }
    }

    private static func setRoot(_ draft: inout Draft, _ list: OrderedChildren, of tree: inout OrderedTree) {
        var list = list
        if tree.height == 0 { tree.height = 1 }
        while list.count > 1 {
            tree.height += 1
            list = newInner(&draft, list, isAppended: true)
        }
        tree.root = list.children.first?.reference ?? 0
        if list.count == 0 { tree = OrderedTree() }
    }

    /// As long as the root is an inner node with one child, replaces the root with this child.
    private static func lowerRoot(_ draft: inout Draft, _ tree: inout OrderedTree) {
        while tree.height > 1, draft.chunks.inner(tree.root).count == 1 {
            let child = draft.chunks.inner(tree.root).references[0]
            draft.pageWriter.discard(tree.root)
            tree.root = child
            tree.height -= 1
        }
    }

    // MARK: Nodes

    /// Applies a range of the changes to a node.
    ///
    /// - Returns: The nodes that replace the node, or `nil` if the node stays and has `delta` more entries.
    private static func apply(
        _ draft: inout Draft, _ changes: OrderedChanges, _ range: Range<Int>, to page: inout PageRef, level: Int, _ delta: inout Int
    ) -> OrderedChildren? {
        if level == 0 { return applyToLeaf(&draft, changes, range, to: &page, &delta) }
        draft.pageWriter.own(&page, .indexInner)
        let node = draft.chunks.inner(page)
        var replaced: [(child: Int, list: OrderedChildren)] = []
        var hasSparse = false
        var next = range.lowerBound
        while next < range.upperBound {
            let child = node.child(of: changes.entry(next))
            if level == 1 { prefetch(draft, node.references[child]) }
            let end = child + 1 == node.count ? range.upperBound : node.end(of: child, in: changes, next..<range.upperBound)
            var childDelta = 0
            if let list = apply(&draft, changes, next..<end, to: &node.references[child], level: level - 1, &childDelta) {
                replaced.append((child, list))
            } else {
                node.counts[child] = UInt32(truncatingIfNeeded: Int(node.counts[child]) &+ childDelta)
                if childDelta < 0, isSparse(draft, node.references[child], level: level - 1) { hasSparse = true }
            }
            delta += childDelta
            next = end
        }
        if replaced.isEmpty, !hasSparse || node.count == 1 { return nil }
        if replaced.count == 1, !hasSparse, node.take(replaced[0].list, for: replaced[0].child) { return nil }
        let list = joined(&draft, node.children(), replaced, joinsSparse: hasSparse, level: level - 1)
        return write(&draft, list, to: page, isAppended: replaced.last?.child == node.count - 1)
    }

    /// Prefetches all bytes of a node. A search jumps between distant bytes of the node, and adding an entry moves half of the bytes.
    @inline(__always) static func prefetch(_ draft: borrowing Draft, _ page: PageRef) {
        let start = draft.chunks[page]
        for offset in stride(from: 0, to: OrderedNode.byteCount, by: 64) { cmachine_prefetch(start + offset) }
    }

    private static func applyToLeaf(
        _ draft: inout Draft, _ changes: OrderedChanges, _ range: Range<Int>, to page: inout PageRef, _ delta: inout Int
    ) -> OrderedChildren? {
        draft.pageWriter.own(&page, .indexLeaf)
        let leaf = draft.chunks.leaf(page)
        var next = range.lowerBound
        if range.count <= Self.placeCountMax {
            while next < range.upperBound {
                let entry = changes.entry(next)
                if changes.isAdded(next) {
                    guard leaf.insert(entry) else { break }
                    delta += 1
                } else {
                    if leaf.count == 1 { break }
                    guard leaf.remove(entry) else { draft.chunks.refuse("an index lacks the entry of an object") }
                    delta -= 1
                }
                next += 1
            }
            if next == range.upperBound { return nil }
        }
        let (rest, before) = (next..<range.upperBound, leaf.count)
        if rest.count == 1, changes.isAdded(next), let list = split(&draft, leaf, page, adding: changes.entry(next)) {
            delta += 1
            return list
        }
        let work = draft.space.orderedWork
        work.removeAll()
        guard work.merge(leaf, changes, rest) else { draft.chunks.refuse("an index lacks the entries of objects") }
        delta += work.entries.count - before
        // If the last entries of the leaf are exactly the remaining changes, these changes were added at the end.
        let end = work.entries.count - rest.count
        let isAppended = end >= 0 && end < work.entries.count && work.entries[end].start == changes.entry(rest.lowerBound).start
        return writeLeaves(&draft, work, page, isAppended: isAppended, isBulk: rest.count > Self.placeCountMax)
    }

    /// Splits a full leaf into two halves and adds an entry to one of them, without encoding all entries again.
    ///
    /// - Returns: `nil` if the leaf should be encoded again: the new entry has another length or prefix, a half could have a longer prefix,
    ///   or the new entry comes last.
    private static func split(_ draft: inout Draft, _ leaf: OrderedLeaf, _ page: PageRef, adding entry: OrderedBytes) -> OrderedChildren? {
        let (count, stride) = (leaf.count, leaf.stride)
        guard stride > 0, count >= 4, leaf.lowerBound(entry) < count else { return nil }
        let middle = count / 2
        guard leaf.commonByteCount(0..<middle) == 0, leaf.commonByteCount(middle..<count) == 0, leaf.hasShape(of: entry) else { return nil }
        let isAfter = leaf.lowerBound(entry) > middle
        let new = draft.pageWriter.allocate(OrderedNode.byteCount, .indexLeaf)
        let other = OrderedLeaf(draft.chunks[new])
        leaf.move(from: middle, to: other)
        guard (isAfter ? other : leaf).insert(entry) else { preconditionFailure("Half of a leaf must have space for an entry.") }
        let (last, first) = (leaf.entries + (leaf.count - 1) * stride, other.entries)
        let common = OrderedNode.commonByteCount(last, first, max: stride)
        var list = OrderedChildren()
        list.append(page, leaf.count)
        list.append(new, other.count)
        list.setLastBound(
            leaf.prefix, OrderedBytes(first, min(common + 1, stride)))
        return list
    }

    /// The maximum number of changes to one leaf (a page with the entries of the tree) that are made in place.
    private static let placeCountMax = 8
}

extension OrderedInner {
    /// Replaces one child, in place, with the two children of a list. Returns `false` and changes nothing if the list does not have exactly
    /// two children, or if the new bound does not fit into the node.
    fileprivate func take(_ list: OrderedChildren, for child: Int) -> Bool {
        guard list.count == 2 else { return false }
        let (first, second) = (list.children[0], list.children[1])
        guard list.withBound(1, { insert(second.reference, second.count, bound: $0, after: child) }) else { return false }
        references[child] = first.reference
        counts[child] = UInt32(truncatingIfNeeded: first.count)
        return true
    }

    /// Returns the end of the changes that belong to a child. The changes are sorted, and the child must not be the last child.
    fileprivate func end(of child: Int, in changes: OrderedChanges, _ range: Range<Int>) -> Int {
        range.dropFirst().prefixEnd { isBefore(child + 1, changes.entry($0)) }
    }
}

extension Chunks {
    /// Returns a leaf of an index. In a graph that has not been proven valid, ends the process if the page is not a leaf.
    @inline(__always) func leaf(_ page: PageRef) -> OrderedLeaf {
        let leaf = OrderedLeaf(self[page])
        if !isProven { check(page, .indexLeaf, leaf.isConsistent) }
        return leaf
    }

    /// Returns an inner node of an index. In a graph that has not been proven valid, ends the process if the page is not an inner node.
    @inline(__always) func inner(_ page: PageRef) -> OrderedInner {
        let node = OrderedInner(self[page])
        if !isProven { check(page, .indexInner, node.isConsistent) }
        return node
    }

    @inline(never) private func check(_ page: PageRef, _ kind: PageKind, _ isConsistent: Bool) {
        guard self.kind(page) == kind, granules(page) >= kind.granuleCountMin, isConsistent else {
            refuse("page \(page) is not a valid node of an index")
        }
    }
}

/// Writes nodes of ordered indexes: leaves with entries, and inner nodes with children.
extension OrderedWriter {
    /// Writes the entries of `work` to leaves.
    ///
    /// - Parameters:
    ///   - page: The page for the first leaf; 0 for a new page.
    ///   - isAppended: Whether the new entries are at the end. If so, all leaves except the last are filled.
    ///   - isBulk: Whether there are many new entries. If so, some bytes of each leaf stay free for later entries.
    /// - Returns: The leaves that replace the page, or an empty list if there are no entries; `nil` if the page holds all entries.
    static func writeLeaves(_ draft: inout Draft, _ work: OrderedWork, _ page: PageRef, isAppended: Bool, isBulk: Bool) -> OrderedChildren?
    {
        work.entries.withUnsafeBufferPointer { entries in
            var list = OrderedChildren()
            let parts = entries.parts(limit: isBulk ? Self.bulkByteCount : OrderedNode.byteCount, isAppended: isAppended)
            if parts.isEmpty, page != 0 { draft.pageWriter.discard(page) }
            // `work` has a copy of the page's entries, so the page can be overwritten.
            for part in parts { writeLeaf(&draft, entries, part, to: part.lowerBound == 0 ? page : 0, &list) }
            return parts.count == 1 && page != 0 ? nil : list
        }
    }

    /// The maximum number of bytes in a leaf that is filled with many entries at once. Some bytes stay free, so that the next entries do
    /// not split the leaf.
    private static let bulkByteCount = OrderedNode.byteCount - OrderedNode.byteCount / 20

    /// Writes a part of the entries to a leaf, and adds the leaf to `list`. `page` is 0 for a new page.
    private static func writeLeaf(
        _ draft: inout Draft, _ entries: some OrderedEntries, _ part: Range<Int>, to page: PageRef, _ list: inout OrderedChildren
    ) {
        let target = page != 0 ? page : draft.pageWriter.allocate(OrderedNode.byteCount, .indexLeaf)
        OrderedLeaf(draft.chunks[target]).write(entries, part)
        list.append(target, part.count)
        if part.lowerBound == 0 { return }
        let (last, first) = (entries.entry(part.lowerBound - 1), entries.entry(part.lowerBound))
        let common = OrderedNode.commonByteCount(last.start, first.start, max: min(last.count, first.count))
        // The bound must follow all entries of the leaf before this leaf, and no entry of this leaf. The shortest such bound ends with the
        // first byte in which the two adjacent entries differ.
        list.setLastBound(OrderedBytes(first.start, min(common + 1, first.count)))
    }

    /// Creates leaves from changes. Each change must add an entry.
    static func newLeaves(_ draft: inout Draft, _ changes: OrderedChanges) -> OrderedChildren {
        if !changes.records.allSatisfy(\.isAdded) { draft.chunks.refuse("an index lacks the entry of an object") }
        var list = OrderedChildren()
        var next = 0
        while next < changes.count {
            let part = changes.part(from: next, limit: Self.bulkByteCount)
            writeLeaf(&draft, changes, part, to: 0, &list)
            next = part.upperBound
        }
        return list
    }

    /// Writes children to a page, and to further pages if they do not fit.
    ///
    /// - Returns: The nodes that replace the page, or an empty list if there are no children; `nil` if the page holds all children.
    static func write(_ draft: inout Draft, _ list: OrderedChildren, to page: PageRef, isAppended: Bool) -> OrderedChildren? {
        if list.count == 0 {
            draft.pageWriter.discard(page)
            return list
        }
        let parts = list.parts(isAppended: isAppended)
        if parts.count == 1 {
            OrderedInner(draft.chunks[page]).write(list, parts[0])
            return nil
        }
        return newInner(&draft, list, parts, firstPage: page)
    }

    static func newInner(_ draft: inout Draft, _ list: OrderedChildren, isAppended: Bool) -> OrderedChildren {
        newInner(&draft, list, list.parts(isAppended: isAppended), firstPage: 0)
    }

    private static func newInner(
        _ draft: inout Draft, _ list: OrderedChildren, _ parts: [Range<Int>], firstPage: PageRef
    ) -> OrderedChildren {
        var nodes = OrderedChildren()
        for (number, part) in parts.enumerated() {
            let page = number == 0 && firstPage != 0 ? firstPage : draft.pageWriter.allocate(OrderedNode.byteCount, .indexInner)
            OrderedInner(draft.chunks[page]).write(list, part)
            nodes.append(page, part.reduce(0) { $0 + list.children[$1].count })
            if number > 0 { list.withBound(part.lowerBound) { nodes.setLastBound($0) } }
        }
        return nodes
    }
}

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
