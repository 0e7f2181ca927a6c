/// An ordered index: its root, its height and its number of entries.
package struct OrderedTree: Equatable {
    /// The page of the root; 0 if the tree is empty.
    var root: PageRef = 0
    /// The number of levels: 0 if the tree is empty, 1 if the root is a leaf.
    var height: UInt32 = 0
    package var count: UInt64 = 0

    package init() {}

    /// Whether the numbers fit each other and the limits of a tree.
    var isPossible: Bool {
        height == 0 ? self == OrderedTree() : root != 0 && height <= UInt32(OrderedNode.heightMax) && count <= TableLayout.rowCountMax
    }

    init(root: PageRef, height: UInt32, count: UInt64) {
        self.root = root
        self.height = height
        self.count = count
    }
}

/// The memory of a leaf's entries while the leaf is rewritten. The page space keeps it, so that it is used again.
final class OrderedWork {
    /// More bytes than the entries of two leaves take, with their prefixes.
    static let byteCount = 2 * (OrderedNode.byteCount / OrderedNode.rowByteCount) * OrderedNode.entryByteCountMax
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount + OrderedNode.slackByteCount, alignment: 8)
    var used = 0
    var entries: [OrderedBytes] = []

    deinit { memory.deallocate() }

    func removeAll() {
        used = 0
        entries.removeAll(keepingCapacity: true)
    }

    func append(_ prefix: OrderedBytes, _ rest: OrderedBytes) {
        let start = memory + used
        start.copyMemory(from: prefix.start, byteCount: prefix.count)
        (start + prefix.count).copyMemory(from: rest.start, byteCount: rest.count)
        entries.append(OrderedBytes(start, prefix.count + rest.count))
        used += prefix.count + rest.count
    }

    /// Merges the entries of a leaf with changes.
    ///
    /// - Returns: `false` if an entry to be removed is not there, or an entry to be added is there already.
    func merge(_ leaf: OrderedLeaf, _ changes: OrderedChanges, _ range: Range<Int>) -> Bool {
        var next = range.lowerBound
        var isSound = true
        leaf.forEach { prefix, rest in
            append(prefix, rest)
            let entry = entries[entries.count - 1]
            var order = -1
            while next < range.upperBound {
                let change = changes.entry(next)
                order = OrderedNode.order(change.start, change.count, entry.start, entry.count)
                if order >= 0 { break }
                entries[entries.count - 1] = change
                entries.append(entry)
                isSound = isSound && changes.isAdded(next)
                next += 1
            }
            if next < range.upperBound, order == 0 {
                isSound = isSound && !changes.isAdded(next)
                entries.removeLast()
                next += 1
            }
        }
        while next < range.upperBound {
            entries.append(changes.entry(next))
            isSound = isSound && changes.isAdded(next)
            next += 1
        }
        return isSound
    }

    /// Divides the entries into parts that fit into one leaf each.
    ///
    /// - Parameter isAppended: Whether the new entries are at the end. If so, the earlier parts stay full. Otherwise the last two parts
    ///   get about the same size.
    func parts(limit: Int, isAppended: Bool) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        var size: OrderedLeafSize?
        for (index, entry) in entries.enumerated() {
            guard var grown = size else {
                size = OrderedLeafSize(entry)
                continue
            }
            grown.add(entry)
            if grown.total > limit {
                parts.append(start..<index)
                (start, size) = (index, OrderedLeafSize(entry))
            } else {
                size = grown
            }
        }
        if start < entries.count { parts.append(start..<entries.count) }
        guard parts.count > 1, !isAppended else { return parts }
        let last = parts[parts.count - 2].lowerBound..<entries.count
        let middle = (last.lowerBound + last.upperBound) / 2
        if fits(last.lowerBound..<middle), fits(middle..<entries.count) {
            parts.removeLast(2)
            parts += [last.lowerBound..<middle, middle..<entries.count]
        }
        return parts
    }

    private func fits(_ range: Range<Int>) -> Bool {
        entries.withUnsafeBufferPointer { OrderedLeafSize(UnsafeBufferPointer(rebasing: $0[range])).total <= OrderedNode.byteCount }
    }
}
