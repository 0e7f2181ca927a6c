import Glibc

/// A node without children in the tree of an ordered index. A leaf contains entries in order. The bytes with which all keys begin are
/// stored only once, as the prefix.
///
/// Entries of the same length lie at equal distances. If the lengths differ, the page also stores where each entry ends. These numbers fill
/// the page backwards from its end: the end of the first entry is the last number of the page.
///
/// SAFETY: the page is a consistent leaf (`isConsistent`) of `OrderedNode.byteCount` bytes, after which eight bytes can be read.
struct OrderedLeaf {
    static let strideOffset = 20
    static let endOffset = 22
    static let contentOffset = 24

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    @inline(__always) private func number(_ offset: Int) -> Int { Int(page.load(fromByteOffset: offset, as: UInt16.self)) }
    @inline(__always) private func set(_ offset: Int, _ value: Int) {
        page.storeBytes(of: UInt16(truncatingIfNeeded: value), toByteOffset: offset, as: UInt16.self)
    }

    @inline(__always) var count: Int { number(OrderedNode.countOffset) }
    /// The number of bytes in the common prefix of all keys.
    @inline(__always) var prefixByteCount: Int { number(OrderedNode.prefixOffset) }
    /// The number of bytes of each entry without the prefix, or 0 if the entries have different lengths.
    @inline(__always) var stride: Int { number(Self.strideOffset) }
    /// The offset at which the entries end.
    @inline(__always) var end: Int { number(Self.endOffset) }
    @inline(__always) private var entriesOffset: Int { Self.contentOffset &+ prefixByteCount }
    /// The address of the first entry.
    @inline(__always) var entries: UnsafeRawPointer { UnsafeRawPointer(page + entriesOffset) }
    var prefix: OrderedBytes { OrderedBytes(page + Self.contentOffset, prefixByteCount) }

    @inline(__always) private static func endPlace(_ index: Int) -> Int { OrderedNode.byteCount &- 2 &* (index &+ 1) }

    /// Returns the offset and the length of the stored bytes of an entry, which do not include the prefix.
    @inline(__always) func entry(_ index: Int) -> (offset: Int, byteCount: Int) {
        let stride = stride
        if stride > 0 { return (entriesOffset &+ index &* stride, stride) }
        let start = index == 0 ? entriesOffset : number(Self.endPlace(index &- 1))
        return (start, number(Self.endPlace(index)) &- start)
    }

    @inline(__always) func row(_ index: Int) -> UInt32 {
        let (offset, byteCount) = entry(index)
        return OrderedNode.row(page + offset + byteCount)
    }

    /// Whether the index may have cut the key of an entry to the maximum length.
    func isCut(_ index: Int) -> Bool { prefixByteCount + entry(index).byteCount >= OrderedNode.entryByteCountMax }

    /// Returns the key of an entry.
    func key(_ index: Int) -> [UInt8] {
        let (offset, byteCount) = entry(index)
        let prefix = UnsafeRawBufferPointer(start: page + Self.contentOffset, count: prefixByteCount)
        return Array(prefix) + Array(UnsafeRawBufferPointer(start: page + offset, count: byteCount - OrderedNode.tailByteCount))
    }

    /// Returns whether the entry at `index` has the same key as the entry at `otherIndex` of `other`, which may be this leaf.
    @inline(__always) func hasKey(at index: Int, of other: OrderedLeaf, at otherIndex: Int) -> Bool {
        guard page == other.page else { return key(index) == other.key(otherIndex) }
        let (entry, otherEntry) = (entry(index), entry(otherIndex))
        // SAFETY: the leaf is consistent, so each entry contains at least the bytes after the key, and lies in the page.
        return entry.byteCount == otherEntry.byteCount
            && memcmp(page + entry.offset, page + otherEntry.offset, entry.byteCount - OrderedNode.tailByteCount) == 0
    }

    /// The number of bytes that the header and the entries take. If the entries have different lengths, the numbers that state where each
    /// entry ends are included.
    var usedByteCount: Int { end + (stride > 0 ? 0 : 2 * count) }
    /// Whether the leaf should be joined with an adjacent leaf.
    var isSparse: Bool { usedByteCount < OrderedNode.byteCount / 4 }

    // MARK: Searching

    /// Returns the index of the first entry that does not precede the given bytes, or `count` if there is no such entry.
    @inline(__always) func lowerBound(_ target: OrderedBytes) -> Int {
        let prefixCount = prefixByteCount
        if prefixCount > 0 {
            let order = memcmp(target.start, page + Self.contentOffset, min(target.count, prefixCount))
            if order > 0 { return count }
            if order < 0 || target.count < prefixCount { return 0 }
        }
        let rest = target.start + prefixCount
        let restCount = target.count &- prefixCount
        var (low, high) = (0, count)
        let stride = stride
        if stride == 0 {
            while low < high {
                let middle = (low &+ high) &>> 1
                let (offset, byteCount) = entry(middle)
                if OrderedNode.order(page + offset, byteCount, rest, restCount) < 0 { low = middle &+ 1 } else { high = middle }
            }
            return low
        }
        let wanted = OrderedNode.head(rest, restCount)
        let entries = entries
        while low < high {
            let middle = (low &+ high) &>> 1
            let entry = entries + middle &* stride
            let head = OrderedNode.head(entry, stride)
            let isBefore = head == wanted ? OrderedNode.order(entry, stride, rest, restCount) < 0 : head < wanted
            if isBefore { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// Returns whether the entry at an index has exactly these bytes.
    func has(_ target: OrderedBytes, at index: Int) -> Bool {
        guard index < count, target.count >= prefixByteCount else { return false }
        let (offset, byteCount) = entry(index)
        return byteCount == target.count - prefixByteCount && memcmp(page + offset, target.start + prefixByteCount, byteCount) == 0
            && memcmp(page + Self.contentOffset, target.start, prefixByteCount) == 0
    }

    // MARK: Changing

    /// Adds an entry at its position in the order. Returns `false` and changes nothing if the leaf must first be split or rewritten.
    @inline(__always) func insert(_ target: OrderedBytes) -> Bool {
        let (count, stride, prefixCount) = (count, stride, prefixByteCount)
        let restCount = target.count &- prefixCount
        guard count > 0, restCount >= OrderedNode.tailByteCount, memcmp(target.start, page + Self.contentOffset, prefixCount) == 0,
            stride == 0 || stride == restCount, usedByteCount + restCount + (stride == 0 ? 2 : 0) <= OrderedNode.byteCount
        else { return false }
        let index = lowerBound(target)
        let start = index == count ? end : entry(index).offset
        memmove(page + start + restCount, page + start, end &- start)
        memcpy(page + start, target.start + prefixCount, restCount)
        if stride == 0 {
            var place = count
            while place > index {
                set(Self.endPlace(place), number(Self.endPlace(place &- 1)) &+ restCount)
                place &-= 1
            }
            set(Self.endPlace(index), start + restCount)
        }
        set(Self.endOffset, end &+ restCount)
        set(OrderedNode.countOffset, count &+ 1)
        return true
    }

    /// Returns whether an entry has the same prefix and length as the entries of the leaf.
    func hasShape(of target: OrderedBytes) -> Bool {
        target.count == prefixByteCount + stride && memcmp(target.start, page + Self.contentOffset, prefixByteCount) == 0
    }

    /// Removes an entry. Returns `false` if the leaf does not contain it.
    func remove(_ target: OrderedBytes) -> Bool {
        let index = lowerBound(target)
        guard has(target, at: index) else { return false }
        let (offset, byteCount) = entry(index)
        memmove(page + offset, page + offset + byteCount, end - offset - byteCount)
        if stride == 0 {
            for place in index..<count - 1 { set(Self.endPlace(place), number(Self.endPlace(place + 1)) - byteCount) }
        }
        set(Self.endOffset, end - byteCount)
        set(OrderedNode.countOffset, count - 1)
        return true
    }

    /// Replaces all entries with a range of other entries. The range must be in order, not empty, and fit into the page. The bytes of these
    /// entries must lie outside the page.
    func write(_ entries: some OrderedEntries, _ range: Range<Int>) {
        let size = OrderedLeafSize(entries, range)
        let (prefixCount, first) = (size.prefixByteCount, entries.entry(range.lowerBound))
        set(OrderedNode.countOffset, range.count)
        set(OrderedNode.prefixOffset, prefixCount)
        set(Self.strideOffset, size.isUniform ? first.count - prefixCount : 0)
        memcpy(page + Self.contentOffset, first.start, prefixCount)
        var place = Self.contentOffset &+ prefixCount
        for index in range {
            let entry = entries.entry(index)
            let restCount = entry.count &- prefixCount
            Self.copy(entry.start + prefixCount, to: page + place, restCount)
            place &+= restCount
            if !size.isUniform { set(Self.endPlace(index &- range.lowerBound), place) }
        }
        set(Self.endOffset, place)
    }

    /// Copies bytes. Most entries have 8 to 16 bytes, which are copied without a function call.
    @inline(__always)
    private static func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ byteCount: Int) {
        if byteCount < 8 || byteCount > 16 {
            memcpy(target, source, byteCount)
            return
        }
        let last = source.loadUnaligned(fromByteOffset: byteCount &- 8, as: UInt64.self)
        target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
        target.storeBytes(of: last, toByteOffset: byteCount &- 8, as: UInt64.self)
    }

    /// Moves the entry at an index and all entries after it to an empty page. All entries must have the same length.
    func move(from index: Int, to other: OrderedLeaf) {
        let (count, stride, first) = (count, stride, entriesOffset)
        memcpy(other.page + OrderedNode.countOffset, page + OrderedNode.countOffset, first - OrderedNode.countOffset)
        memcpy(other.page + first, page + first + index * stride, (count - index) * stride)
        for (leaf, part) in [(self, index), (other, count - index)] {
            leaf.set(OrderedNode.countOffset, part)
            leaf.set(Self.endOffset, first + part * stride)
        }
    }

    /// Returns the number of bytes that the keys of the given entries have in common beyond the prefix.
    func commonByteCount(_ entries: Range<Int>) -> Int {
        let (first, last) = (entry(entries.lowerBound), entry(entries.upperBound - 1))
        let countMax = min(first.byteCount, last.byteCount) - OrderedNode.tailByteCount
        return OrderedNode.commonByteCount(page + first.offset, page + last.offset, max: countMax)
    }

    /// Calls `body` with each entry in order: first the prefix of the leaf, then the rest of the entry.
    func forEach(_ body: (_ prefix: OrderedBytes, _ rest: OrderedBytes) -> Void) {
        let prefix = prefix
        for index in 0..<count {
            let (offset, byteCount) = entry(index)
            body(prefix, OrderedBytes(page + offset, byteCount))
        }
    }

    // MARK: Proof

    /// Whether all parts of the leaf lie within the page. If so, searching and changing the leaf is safe, whatever its bytes are.
    var isConsistent: Bool {
        guard count > 0, prefixByteCount <= OrderedNode.keyByteCountMax, end >= entriesOffset, usedByteCount <= OrderedNode.byteCount
        else { return false }
        if stride > 0 {
            return stride >= OrderedNode.tailByteCount && prefixByteCount + stride <= OrderedNode.entryByteCountMax
                && entriesOffset + count * stride == end
        }
        var last = entriesOffset
        for index in 0..<count {
            let end = number(Self.endPlace(index))
            guard end >= last + OrderedNode.tailByteCount, end - last + prefixByteCount <= OrderedNode.entryByteCountMax else {
                return false
            }
            last = end
        }
        return last == end
    }
}
