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
