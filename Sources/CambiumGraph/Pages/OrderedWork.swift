/// Memory for the entries of an ordered index's leaf while the leaf is rewritten. The page space keeps the memory for the next leaf.
final class OrderedWork {
    /// An upper bound of the bytes that the entries of two leaves take, with their prefixes.
    static let byteCount = 2 * (OrderedNode.byteCount / OrderedNode.tailByteCount) * OrderedNode.entryByteCountMax
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
}
