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
