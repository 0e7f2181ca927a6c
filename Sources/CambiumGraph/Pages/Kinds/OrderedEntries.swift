internal import CMachine

/// Entries of an ordered index, in ascending order, that will be written to leaves.
protocol OrderedEntries {
    var count: Int { get }
    func entry(_ index: Int) -> OrderedBytes
}

extension UnsafeBufferPointer: OrderedEntries where Element == OrderedBytes {
    @inline(__always) func entry(_ index: Int) -> OrderedBytes { self[index] }
}

extension OrderedEntries {
    /// The number of entries whose size is computed together.
    private var stepCount: Int { 16 }

    /// Returns a range of indexes that begins at `start`: as many entries as fit into one leaf, but at least one.
    ///
    /// - Parameter limit: The maximum number of bytes of the leaf.
    func part(from start: Int, limit: Int) -> Range<Int> {
        var size = OrderedLeafSize(entry(start))
        var end = start + 1
        // Adding entries never makes a leaf smaller. So if all entries of a step fit, they need not be measured one by one.
        while end < count {
            var grown = size
            let next = min(end + stepCount, count)
            grown.add(self, end..<next)
            if grown.total > limit { break }
            (size, end) = (grown, next)
        }
        while end < count {
            size.add(self, end..<end + 1)
            if size.total > limit { break }
            end += 1
        }
        return start..<end
    }

    /// Divides the entries into parts that fit into one leaf each.
    ///
    /// - Parameter isAppended: Whether the new entries are at the end. If so, all parts except the last are filled, because further entries
    ///   will probably follow. Otherwise, the last two parts get about the same size.
    func parts(limit: Int, isAppended: Bool) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        while (parts.last?.upperBound ?? 0) < count { parts.append(part(from: parts.last?.upperBound ?? 0, limit: limit)) }
        return isAppended ? parts : OrderedNode.balanced(parts, fits)
    }

    private func fits(_ range: Range<Int>) -> Bool { OrderedLeafSize(self, range).total <= OrderedNode.byteCount }
}

/// Adds up the number of bytes that entries take in a leaf of an ordered index.
struct OrderedLeafSize {
    private let first: OrderedBytes
    private(set) var count: Int
    private var byteCount: Int
    private(set) var prefixByteCount: Int
    private(set) var isUniform = true

    @inline(__always) init(_ first: OrderedBytes) {
        self.first = first
        count = 1
        byteCount = first.count
        prefixByteCount = first.count - OrderedNode.tailByteCount
    }

    /// Measures a range of entries, which must not be empty.
    init(_ entries: some OrderedEntries, _ range: Range<Int>) {
        self.init(entries.entry(range.lowerBound))
        add(entries, range.dropFirst())
    }

    /// Adds a range of entries, which must directly follow the entries that were measured earlier.
    @inline(__always) mutating func add(_ entries: some OrderedEntries, _ range: Range<Int>) {
        guard let last = range.last else { return }
        var least = prefixByteCount &+ OrderedNode.tailByteCount
        for index in range {
            let entry = entries.entry(index)
            // The entries of a large change are scattered in memory. This loop prefetches them, because they will soon be written to the
            // leaf.
            cmachine_prefetch(entry.start)
            byteCount &+= entry.count
            isUniform = isUniform && entry.count == first.count
            least = min(least, entry.count)
        }
        count &+= range.count
        // The entries are in order, so all of them begin with the prefix that the first and the last entry have in common.
        prefixByteCount = OrderedNode.commonByteCount(first.start, entries.entry(last).start, max: least &- OrderedNode.tailByteCount)
    }

    @inline(__always) var total: Int {
        OrderedLeaf.contentOffset &+ prefixByteCount &+ byteCount &- count &* prefixByteCount &+ (isUniform ? 0 : 2 &* count)
    }
}
