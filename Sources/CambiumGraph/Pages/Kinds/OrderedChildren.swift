import Glibc

/// The children of an inner node of an ordered index while the node is rewritten. The list contains the number of entries below each child,
/// and the child's whole lower bound, including the common prefix of all bounds.
struct OrderedChildren {
    struct Child {
        var reference: PageRef
        var count: Int
        /// The position of the lower bound in `bytes`. The bound of the first child of a list is empty.
        var boundStart: Int
        var boundEnd: Int
    }

    private(set) var children: [Child] = []
    private var bytes: [UInt8] = []

    var count: Int { children.count }
    var entryCount: Int { children.reduce(0) { $0 + $1.count } }

    mutating func reserve(_ count: Int) {
        children.reserveCapacity(count + 2)
        bytes.reserveCapacity(16 * count + 64)
    }

    /// Adds a child without a lower bound.
    mutating func append(_ reference: PageRef, _ count: Int) {
        children.append(Child(reference: reference, count: count, boundStart: bytes.count, boundEnd: bytes.count))
    }

    /// Sets the lower bound of the child that was added last. The bound may be given in two parts.
    mutating func setLastBound(_ first: OrderedBytes, _ second: OrderedBytes? = nil) {
        let last = children.count - 1
        children[last].boundStart = bytes.count
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: first.start, count: first.count))
        if let second { bytes.append(contentsOf: UnsafeRawBufferPointer(start: second.start, count: second.count)) }
        children[last].boundEnd = bytes.count
    }

    /// Adds all children of another list. The first of them gets the lower bound that `child` has in `list`.
    mutating func append(_ other: OrderedChildren, boundOf child: Int, in list: OrderedChildren) {
        for place in other.children.indices {
            append(other.children[place].reference, other.children[place].count)
            if place > 0 {
                other.withBound(place) { setLastBound($0) }
            } else if child > 0 {
                list.withBound(child) { setLastBound($0) }
            }
        }
    }

    /// Adds a child of another list, with its lower bound.
    mutating func append(_ child: Int, of list: OrderedChildren) {
        append(list.children[child].reference, list.children[child].count)
        list.withBound(child) { setLastBound($0) }
    }

    func withBound<Result>(_ child: Int, _ body: (OrderedBytes) -> Result) -> Result {
        let (start, end) = (children[child].boundStart, children[child].boundEnd)
        return withUnsafeTemporaryAllocation(byteCount: OrderedNode.entryByteCountMax + OrderedNode.slackByteCount, alignment: 8) { copy in
            guard let memory = copy.baseAddress else { preconditionFailure("The memory for a lower bound must have an address.") }
            bytes.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress { memcpy(memory, base + start, end - start) }
            }
            memset(memory + end - start, 0, OrderedNode.slackByteCount)
            return body(OrderedBytes(memory, end - start))
        }
    }

    func boundByteCount(_ child: Int) -> Int { children[child].boundEnd - children[child].boundStart }

    /// Returns the length of the prefix that the lower bounds of the children in `range` have in common. The bound of the first child does
    /// not count, because a node does not store it.
    func commonByteCount(_ range: Range<Int>) -> Int {
        guard range.count > 1 else { return 0 }
        let (first, last) = (children[range.lowerBound + 1], children[range.upperBound - 1])
        let count = min(first.boundEnd - first.boundStart, last.boundEnd - last.boundStart)
        return (0..<count).first { bytes[first.boundStart + $0] != bytes[last.boundStart + $0] } ?? count
    }

    /// Divides the list into parts that fit into one node each. There are as few parts as possible.
    ///
    /// - Parameter isAppended: Whether the new children are at the end. If so, all parts except the last are filled, because further
    ///   children will probably follow. Otherwise, the last two parts get about the same size.
    func parts(isAppended: Bool) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        while start < count {
            var end = start + 1
            var bounds = 0
            while end < count {
                let next = bounds + boundByteCount(end)
                let prefix = commonByteCount(start..<end + 1)
                let size = OrderedInner.byteCount(end + 1 - start, prefix, next - prefix * (end - start))
                if size > OrderedNode.byteCount { break }
                bounds = next
                end += 1
            }
            parts.append(start..<end)
            start = end
        }
        return isAppended ? parts : OrderedNode.balanced(parts, fits)
    }

    private func fits(_ range: Range<Int>) -> Bool {
        let prefix = commonByteCount(range)
        let bounds = range.dropFirst().reduce(0) { $0 + boundByteCount($1) - prefix }
        return OrderedInner.byteCount(range.count, prefix, bounds) <= OrderedNode.byteCount
    }
}
