import Glibc

/// An inner node of an ordered index. It contains the references to its children, the number of entries below each child, and the lower
/// bounds of the children.
///
/// A lower bound separates a child from the child before it, so the first child has no lower bound. The bytes with which all lower bounds
/// begin are stored only once. The next eight bytes of each bound are stored as numbers, so that a search mostly compares numbers.
///
/// SAFETY: the page is a consistent inner node (`isConsistent`) of `OrderedNode.byteCount` bytes, after which eight bytes can be read.
struct OrderedInner {
    static let referencesOffset = 24
    /// The offset in the node at which the total number of bytes of all lower bounds is stored. Their common prefix is not counted.
    private static let boundsByteCountOffset = 20

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    @inline(__always) private func number(_ offset: Int) -> Int { Int(page.load(fromByteOffset: offset, as: UInt16.self)) }

    @inline(__always) var count: Int { number(OrderedNode.countOffset) }
    @inline(__always) var prefixByteCount: Int { number(OrderedNode.prefixOffset) }
    @inline(__always) var references: UnsafeMutablePointer<PageRef> {
        (page + Self.referencesOffset).assumingMemoryBound(to: PageRef.self)
    }
    /// The number of entries below each child.
    @inline(__always) var counts: UnsafeMutablePointer<UInt32> { references + count }
    @inline(__always) private var heads: UnsafeMutablePointer<UInt64> {
        (page + Self.referencesOffset + 8 &* count).assumingMemoryBound(to: UInt64.self)
    }
    /// The end offset of the lower bound of each child except the first, counted from the beginning of the first bound.
    @inline(__always) private var ends: UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(heads + (count &- 1)).assumingMemoryBound(to: UInt16.self)
    }
    @inline(__always) private var prefix: UnsafeMutableRawPointer { UnsafeMutableRawPointer(ends + (count &- 1)) }

    /// Returns the lower bound of the child at `place + 1`, without the common prefix of all lower bounds.
    @inline(__always) private func bound(_ place: Int) -> OrderedBytes {
        let start = place == 0 ? 0 : Int(ends[place &- 1])
        return OrderedBytes(prefix + prefixByteCount + start, Int(ends[place]) &- start)
    }

    /// The number of entries below all children.
    var entryCount: Int { (0..<count).reduce(0) { $0 + Int(counts[$1]) } }

    // MARK: Searching

    /// Returns the index of the last child whose lower bound does not follow the given bytes. Returns 0 if all lower bounds follow these
    /// bytes.
    @inline(__always) func child(of target: OrderedBytes) -> Int {
        let boundCount = count &- 1
        if boundCount <= 0 { return 0 }
        let (prefix, prefixCount, heads) = (prefix, prefixByteCount, heads)
        if prefixCount > 0 {
            let order = memcmp(target.start, prefix, min(target.count, prefixCount))
            if order > 0 { return boundCount }
            if order < 0 || target.count < prefixCount { return 0 }
        }
        let rest = OrderedBytes(target.start + prefixCount, target.count &- prefixCount)
        let wanted = OrderedNode.head(rest.start, rest.count)
        var (low, high) = (0, boundCount)
        while low < high {
            let middle = (low &+ high) &>> 1
            let isAfter = heads[middle] == wanted ? isAfter(middle, rest) : heads[middle] > wanted
            if isAfter { high = middle } else { low = middle &+ 1 }
        }
        return low
    }

    private func isAfter(_ place: Int, _ rest: OrderedBytes) -> Bool {
        let bound = bound(place)
        return OrderedNode.order(bound.start, bound.count, rest.start, rest.count) > 0
    }

    /// Returns whether the given bytes precede the lower bound of a child. The child must not be the first child.
    func isBefore(_ child: Int, _ target: OrderedBytes) -> Bool {
        let prefixCount = prefixByteCount
        let order = memcmp(target.start, prefix, min(target.count, prefixCount))
        if order != 0 || target.count < prefixCount { return order < 0 || order == 0 }
        return isAfter(child - 1, OrderedBytes(target.start + prefixCount, target.count - prefixCount))
    }

    // MARK: Lists

    /// Returns all children, with whole lower bounds.
    func children() -> OrderedChildren {
        var list = OrderedChildren()
        list.reserve(count)
        for child in 0..<count {
            list.append(references[child], Int(counts[child]))
            if child == 0 { continue }
            let bound = bound(child - 1)
            list.setLastBound(OrderedBytes(prefix, prefixByteCount), bound)
        }
        return list
    }

    /// Replaces all children with a part of a list. The part must fit into the page. The first child of the part loses its lower bound.
    func write(_ list: OrderedChildren, _ range: Range<Int>) {
        let prefixCount = list.commonByteCount(range)
        page.storeBytes(of: UInt16(range.count), toByteOffset: OrderedNode.countOffset, as: UInt16.self)
        page.storeBytes(of: UInt16(prefixCount), toByteOffset: OrderedNode.prefixOffset, as: UInt16.self)
        var end = 0
        for (place, child) in range.enumerated() {
            references[place] = list.children[child].reference
            counts[place] = UInt32(truncatingIfNeeded: list.children[child].count)
            if place == 0 { continue }
            list.withBound(child) { bound in
                let rest = OrderedBytes(bound.start + prefixCount, bound.count - prefixCount)
                if place == 1 { memcpy(prefix, bound.start, prefixCount) }
                memcpy(prefix + prefixCount + end, rest.start, rest.count)
                heads[place - 1] = OrderedNode.head(rest.start, rest.count)
                end += rest.count
            }
            ends[place - 1] = UInt16(truncatingIfNeeded: end)
        }
        page.storeBytes(of: UInt16(truncatingIfNeeded: end), toByteOffset: Self.boundsByteCountOffset, as: UInt16.self)
    }

    /// Adds a child after another child. Returns `false` and changes nothing if the node lacks space or has only one child. Also returns
    /// `false` if `bound` does not begin with the common prefix of the lower bounds.
    func insert(_ reference: PageRef, _ entryCount: Int, bound: OrderedBytes, after child: Int) -> Bool {
        let (count, prefixCount, boundsByteCount) = (count, prefixByteCount, number(Self.boundsByteCountOffset))
        let restCount = bound.count - prefixCount
        guard count > 1, restCount >= 0, memcmp(bound.start, prefix, prefixCount) == 0,
            Self.byteCount(count + 1, prefixCount, boundsByteCount + restCount) <= OrderedNode.byteCount
        else { return false }
        withUnsafeTemporaryAllocation(byteCount: OrderedNode.byteCount, alignment: 16) { copy in
            guard let memory = copy.baseAddress else { preconditionFailure("The memory for a node must have an address.") }
            memcpy(memory, page, OrderedNode.byteCount)
            let old = OrderedInner(memory)
            page.storeBytes(of: UInt16(count + 1), toByteOffset: OrderedNode.countOffset, as: UInt16.self)
            page.storeBytes(of: UInt16(boundsByteCount + restCount), toByteOffset: Self.boundsByteCountOffset, as: UInt16.self)
            Self.copy(old.references, to: references, count, inserting: reference, at: child + 1)
            Self.copy(old.counts, to: counts, count, inserting: UInt32(truncatingIfNeeded: entryCount), at: child + 1)
            let head = OrderedNode.head(bound.start + prefixCount, restCount)
            Self.copy(old.heads, to: heads, count - 1, inserting: head, at: child)
            let start = child == 0 ? 0 : Int(old.ends[child - 1])
            Self.copy(old.ends, to: ends, count - 1, inserting: UInt16(truncatingIfNeeded: start), at: child)
            for place in child..<count { ends[place] &+= UInt16(truncatingIfNeeded: restCount) }
            memcpy(prefix, old.prefix, prefixCount + start)
            memcpy(prefix + prefixCount + start, bound.start + prefixCount, restCount)
            memcpy(prefix + prefixCount + start + restCount, old.prefix + prefixCount + start, boundsByteCount - start)
        }
        return true
    }

    @inline(__always)
    private static func copy<Element: BitwiseCopyable>(
        _ source: UnsafeMutablePointer<Element>, to target: UnsafeMutablePointer<Element>, _ count: Int, inserting element: Element,
        at place: Int
    ) {
        target.update(from: source, count: place)
        target[place] = element
        (target + place + 1).update(from: source + place, count: count - place)
    }

    /// Returns the number of bytes that a node takes. `boundsByteCount` is the length of all lower bounds without their common prefix.
    static func byteCount(_ count: Int, _ prefixByteCount: Int, _ boundsByteCount: Int) -> Int {
        referencesOffset + 8 * count + 10 * (count - 1) + prefixByteCount + boundsByteCount
    }

    /// Whether all parts of the node lie within the page. If so, searching and changing the node is safe, whatever its bytes are.
    var isConsistent: Bool {
        let boundsByteCount = number(Self.boundsByteCountOffset)
        guard count > 0, prefixByteCount <= OrderedNode.entryByteCountMax,
            Self.byteCount(count, prefixByteCount, boundsByteCount) <= OrderedNode.byteCount
        else { return false }
        var last = 0
        for place in 0..<count - 1 {
            let end = Int(ends[place])
            guard end >= last, end <= boundsByteCount, end - last + prefixByteCount <= OrderedNode.entryByteCountMax else { return false }
            let bound = bound(place)
            guard heads[place] == OrderedNode.head(bound.start, bound.count) else { return false }
            last = end
        }
        return last == boundsByteCount
    }
}
