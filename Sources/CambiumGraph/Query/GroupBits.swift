internal import CMachine

/// A bit for each row of a group of rows. Bit 0 of the first word belongs to the first row.
typealias GroupBits = SIMD2<UInt64>

extension GroupBits {
    static var none: GroupBits { GroupBits(0, 0) }
    /// The bits of all rows of a group.
    static var all: GroupBits { GroupView.halves { _ in .max } }

    @inline(__always) init(_ row: UInt32) {
        let bit = UInt64(1) &<< UInt64(row & 63)
        self = row & PageLayout.rowMask < 64 ? GroupBits(bit, 0) : GroupBits(0, bit)
    }

    @inline(__always) var isEmpty: Bool { x | y == 0 }
    @inline(__always) var count: Int { x.nonzeroBitCount &+ y.nonzeroBitCount }
    /// The index of the row whose bit is set, if exactly one bit is set; otherwise `nil`.
    @inline(__always) var only: Int? {
        let word = x | y
        guard word != 0, word & (word &- 1) == 0, x == 0 || y == 0 else { return nil }
        return word.trailingZeroBitCount &+ (x != 0 ? 0 : 64)
    }

    @inline(__always) func contains(_ row: UInt32) -> Bool { !(self & GroupBits(row)).isEmpty }

    /// Returns the bits that are set and for which `body` returns `true`. `body` receives the index of the row in its group.
    @inline(__always) func filter(_ body: (UInt32) -> Bool) -> GroupBits {
        // The two words are handled separately, because a loop over their index would move both of them through memory.
        GroupBits(x.filter(0, body), y.filter(64, body))
    }

    /// Calls `body` with the index of each row whose bit is set, ascending, until `body` returns `false`.
    @inline(__always) func forEach(_ body: (UInt32) throws -> Bool) rethrows {
        if try x.forEach(0, body) { _ = try y.forEach(64, body) }
    }
}

extension UInt64 {
    /// Returns the bits that are set and for which `body` returns `true`. `body` receives `first` plus the position of the bit: the index
    /// of the bit's row in the group.
    @inline(__always) fileprivate func filter(_ first: UInt32, _ body: (UInt32) -> Bool) -> UInt64 {
        var (rest, kept) = (self, UInt64(0))
        while rest != 0 {
            let bit = rest & (0 &- rest)
            if body(first &+ UInt32(truncatingIfNeeded: rest.trailingZeroBitCount)) { kept |= bit }
            rest ^= bit
        }
        return kept
    }

    /// Calls `body` for each set bit with `first` plus the position of the bit, until `body` returns `false`. Returns whether `body` always
    /// returned `true`.
    @inline(__always) fileprivate func forEach(_ first: UInt32, _ body: (UInt32) throws -> Bool) rethrows -> Bool {
        var rest = self
        while rest != 0 {
            if try !body(first &+ UInt32(truncatingIfNeeded: rest.trailingZeroBitCount)) { return false }
            rest &= rest &- 1
        }
        return true
    }
}

/// A set of rows of one table, with a bit for each row.
struct RowBits {
    private var words: [UInt64]

    private static let wordsPerGroup = PageLayout.fanOut / 64

    /// Creates an empty set with space for `groupCount` groups of rows.
    init(groupCount: Int) { words = [UInt64](repeating: 0, count: groupCount * Self.wordsPerGroup) }

    var groupCount: Int { words.count / Self.wordsPerGroup }
    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// The bits of a group. If the set has no such group, all bits are 0.
    subscript(group: Int) -> GroupBits {
        @inline(__always) get {
            let first = group &* Self.wordsPerGroup
            if first >= words.count { return .none }
            return GroupBits(words[first], Self.wordsPerGroup > 1 ? words[first &+ 1] : 0)
        }
        @inline(__always) set {
            words[group * Self.wordsPerGroup] = newValue.x
            if Self.wordsPerGroup > 1 { words[group * Self.wordsPerGroup + 1] = newValue.y }
        }
    }

    @inline(__always) func contains(_ row: UInt32) -> Bool {
        let word = Int(row &>> 6)
        return word < words.count && words[word] &>> UInt64(row & 63) & 1 != 0
    }

    /// Returns 1 if the set contains a row, otherwise 0. The caller can add up the results without a branch.
    @inline(__always) func bit(_ row: UInt32) -> UInt32 {
        let word = Int(row &>> 6)
        return word < words.count ? UInt32(truncatingIfNeeded: words[word] &>> UInt64(row & 63) & 1) : 0
    }

    /// Adds a row, unless its group is beyond the groups of the set.
    @inline(__always) mutating func insert(_ row: UInt32) {
        let word = Int(row &>> 6)
        if word < words.count { words[word] |= 1 &<< UInt64(row & 63) }
    }

    /// Calls `body` with each row, ascending, until `body` returns `false`.
    func forEach(_ body: (UInt32) throws -> Bool) rethrows {
        for word in words.indices {
            var bits = words[word]
            while bits != 0 {
                if try !body(UInt32(truncatingIfNeeded: word &<< 6 &+ bits.trailingZeroBitCount)) { return }
                bits &= bits &- 1
            }
        }
    }
}

/// A group of rows of one table, and its page.
struct GroupView {
    let index: Int
    let page: GroupPage
    let chunks: Chunks

    @inline(__always) init(index: Int, page: GroupPage, chunks: Chunks) {
        self.index = index
        self.page = page
        self.chunks = chunks
    }

    /// The rows that contain an object.
    @inline(__always) var live: GroupBits { words(page.live) }

    @inline(__always) var stubs: GroupBits { words(page.stubs) }

    @inline(__always) func leaf(_ slot: Int) -> UnsafeMutableRawPointer { chunks[leafReference(slot)] }

    @inline(__always) func leafReference(_ slot: Int) -> PageRef {
        page[slot]
    }

    /// The number of bytes of a cache line.
    private static let lineByteCount = 64

    /// Prefetches the beginning of the leaf of a column. By default, `byteCount` is the size of a leaf with numbers of 4 bytes.
    @inline(__always) func prefetch(_ slot: Int, byteCount: Int = 9 * Self.lineByteCount) {
        let leaf = leaf(slot)
        for offset in stride(from: 0, to: byteCount, by: Self.lineByteCount) { cmachine_prefetch(leaf + offset) }
    }

    /// Prefetches the page of a group.
    @inline(__always) static func prefetch(_ group: GroupPage) {
        cmachine_prefetch(group.page)
        cmachine_prefetch(group.page + lineByteCount)
    }

    /// The number of bytes of the leaf of a column.
    @inline(__always) func byteCount(_ slot: Int) -> Int { chunks.granules(leafReference(slot)) &* PageLayout.granule }

    /// The rows whose fixed-width value is not null.
    @inline(__always) func presence(_ leaf: UnsafeMutableRawPointer) -> GroupBits { words(FixedLeaf(leaf).presence) }

    @inline(__always) func row(_ index: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: self.index &<< PageLayout.fanOutShift) &+ index
    }

    /// Calls `body` once for each half of a group (64 rows), and returns the combined bits. `body` receives the index of the first row of
    /// the half.
    @inline(__always) static func halves(_ body: (Int) -> UInt64) -> GroupBits {
        GroupBits(body(0), PageLayout.fanOut > 64 ? body(64) : 0)
    }

    @inline(__always) private func words(_ bits: PageBits) -> GroupBits {
        Self.halves { bits.word($0 &>> 6) }
    }
}
