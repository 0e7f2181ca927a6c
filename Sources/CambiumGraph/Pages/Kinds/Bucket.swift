internal import CMachine
import Glibc

/// A page of a hash index: eight blocks of 15 entries. An entry is a row and 16 bits of the hash of its key, the *fragment*.
///
/// The low bits of a fragment select one of the blocks, the home block of the entry. If the home block is full, the entry lies in the next
/// block with free space. Home blocks are rarely full, so finding a row usually touches only the 96 bytes of one block.
///
/// A block consists of 16 numbers of 16 bits, then 15 rows. The numbers are 15 fragments and a control word. The low byte of the control
/// word counts the entries of the block. Its high byte counts the entries that lie in a later block because this block was full.
///
/// A full bucket is split by the next bit of the hash. If most entries agree in all bits that a split could use, further entries go to
/// overflow pages instead.
struct Bucket {
    static let blockCount = 8
    static let blockCapacity = 15
    /// The maximum number of entries in a page. The blocks could hold more, but then many entries would lie outside their home block.
    static let capacity = 112
    static let overflowOffset = 20
    static let blocksOffset = 32
    static let blockStride = 96
    static let byteCount = blocksOffset + blockCount * blockStride
    /// The maximum depth of a bucket. The depth is the number of leading hash bits that all entries of the bucket have in common. The
    /// fragment in an entry contains the bits that decide splits at depths 8 to 23.
    static let depthMax = 26
    static let fragmentShift: UInt64 = 40
    /// The maximum number of overflow pages of one bucket in a graph that has not been proven valid. In such a graph, the pages may form a
    /// cycle, and a walk through them must end. In a graph that has been proven valid, a bucket may have any number of overflow pages.
    static let overflowCountMax = 1 << 16
    private static let countOffset = 16
    private static let depthOffset = 18

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    @inline(__always) static func fragment(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash >> fragmentShift) }

    /// Returns the offset of the home block of a hash. An entry with this hash lies in this block, unless the block is full.
    @inline(__always) private static func homeOffset(of hash: UInt64) -> Int {
        blocksOffset &+ blockStride &* Int(fragment(hash) & UInt16(blockCount &- 1))
    }

    /// Prefetches the block in which the search for a hash begins, and the beginning of the bucket's page.
    @inline(__always) func prefetchHome(of hash: UInt64) {
        let block = page + Self.homeOffset(of: hash)
        cmachine_prefetch(page)
        cmachine_prefetch(block)
        cmachine_prefetch(block + Self.blockStride - 1)
    }

    /// Prefetches the end of the block in which the search for a hash begins.
    @inline(__always) func prefetchHomeEnd(of hash: UInt64) {
        cmachine_prefetch(page + (Self.homeOffset(of: hash) &+ Self.blockStride &- 1))
    }

    var count: Int {
        get { Int(page.load(fromByteOffset: Self.countOffset, as: UInt16.self)) }
        nonmutating set { page.storeBytes(of: UInt16(newValue), toByteOffset: Self.countOffset, as: UInt16.self) }
    }
    var depth: Int {
        get { Int(page.load(fromByteOffset: Self.depthOffset, as: UInt16.self)) }
        nonmutating set { page.storeBytes(of: UInt16(newValue), toByteOffset: Self.depthOffset, as: UInt16.self) }
    }
    /// The reference to the next overflow page; 0 if there is none.
    var overflow: PageRef {
        get { page.load(fromByteOffset: Self.overflowOffset, as: PageRef.self) }
        nonmutating set { overflowReference.pointee = newValue }
    }
    /// The address of the reference to the next overflow page.
    var overflowReference: UnsafeMutablePointer<PageRef> { (page + Self.overflowOffset).assumingMemoryBound(to: PageRef.self) }

    /// Removes all entries and the reference to the overflow pages, and sets the depth.
    func reset(depth: Int) {
        memset(page + PageLayout.header, 0, Self.byteCount - PageLayout.header)
        self.depth = depth
    }

    func add(_ fragment: UInt16, _ row: UInt32) {
        precondition(count < Self.capacity)
        var block = Block(self, home: fragment)
        while block.count == Self.blockCapacity {
            block.passedCount += 1
            block = Block(self, home: block.number + 1)
        }
        block.append(fragment, row)
        count += 1
    }

    /// Removes an entry. Returns `false` if the page does not contain it.
    func remove(_ fragment: UInt16, _ row: UInt32) -> Bool {
        var block = Block(self, home: fragment)
        for _ in 0..<Self.blockCount {
            if let lane = (0..<block.count).first(where: { block.rows[$0] == row && block.fragments[$0] == fragment }) {
                block.remove(lane)
                var passed = Block(self, home: fragment)
                while passed.number != block.number {
                    passed.passedCount -= 1
                    passed = Block(self, home: passed.number + 1)
                }
                count -= 1
                return true
            }
            if block.passedCount == 0 { return false }
            block = Block(self, home: block.number + 1)
        }
        return false
    }

    /// Removes one of the entries and returns it. Returns `nil` if the page is empty.
    func takeAny() -> (fragment: UInt16, row: UInt32)? {
        for number in 0..<Self.blockCount {
            let block = Block(self, home: UInt16(number))
            guard block.count > 0 else { continue }
            let entry = (block.fragments[block.count - 1], block.rows[block.count - 1])
            return remove(entry.0, entry.1) ? entry : nil
        }
        return nil
    }

    /// Changes the row of an entry. Returns `false` if the page does not contain the entry.
    func replace(_ fragment: UInt16, _ row: UInt32, by other: UInt32) -> Bool {
        for number in 0..<Self.blockCount {
            let block = Block(self, home: UInt16(number))
            if let lane = (0..<block.count).first(where: { block.rows[$0] == row && block.fragments[$0] == fragment }) {
                block.rows[lane] = other
                return true
            }
        }
        return false
    }

    /// Returns the first row, among the entries with this fragment (the stored part of a hash), for which `isEqual` returns `true`.
    @inline(__always) func firstRow(_ fragment: UInt16, where isEqual: (UInt32) -> Bool) -> UInt32? {
        var block = Block(self, home: fragment)
        for _ in 0..<Self.blockCount {
            var lanes = block.lanes(of: fragment)
            while lanes != 0 {
                let row = block.rows[lanes.trailingZeroBitCount]
                if isEqual(row) { return row }
                lanes &= lanes &- 1
            }
            if block.passedCount == 0 { return nil }
            block = Block(self, home: block.number &+ 1)
        }
        return nil
    }

    /// Returns the first row with this fragment in the home block of the fragment.
    @inline(__always) func firstHomeRow(_ fragment: UInt16) -> UInt32? {
        let block = Block(self, home: fragment)
        let lanes = block.lanes(of: fragment)
        return lanes == 0 ? nil : block.rows[lanes.trailingZeroBitCount]
    }

    func forEach(_ body: (UInt16, UInt32) -> Void) {
        for number in 0..<Self.blockCount {
            let block = Block(self, home: UInt16(number))
            for lane in 0..<block.count { body(block.fragments[lane], block.rows[lane]) }
        }
    }

    /// Whether the entries are spread over the blocks: at most half as many entries as the page can hold have the same home block. A full
    /// block holds 15 of these entries, and `passedCount` counts the other entries, which are in later blocks.
    var isSpread: Bool {
        (0..<Self.blockCount).allSatisfy {
            Block(self, home: UInt16($0)).passedCount <= Self.capacity - Self.otherCountMax - Self.blockCapacity
        }
    }

    /// Whether the stored counts match the entries, and each entry can be found from its home block.
    var isConsistent: Bool {
        var passed = [Int](repeating: 0, count: Self.blockCount)
        var entryCount = 0
        for number in 0..<Self.blockCount {
            let block = Block(self, home: UInt16(number))
            if block.count > Self.blockCapacity { return false }
            entryCount += block.count
            for lane in 0..<block.count {
                var home = Int(block.fragments[lane]) % Self.blockCount
                while home != number {
                    passed[home] += 1
                    home = (home + 1) % Self.blockCount
                }
            }
        }
        return entryCount == count && count <= Self.capacity
            && passed.indices.allSatisfy { Block(self, home: UInt16($0)).passedCount == passed[$0] }
    }
}

private struct Block {
    let number: UInt16
    let start: UnsafeMutableRawPointer

    @inline(__always) init(_ bucket: Bucket, home: UInt16) {
        number = home & UInt16(Bucket.blockCount - 1)
        start = bucket.page + Bucket.blocksOffset + Bucket.blockStride &* Int(number)
    }

    @inline(__always) var fragments: UnsafeMutablePointer<UInt16> { start.assumingMemoryBound(to: UInt16.self) }
    @inline(__always) var rows: UnsafeMutablePointer<UInt32> { (start + 32).assumingMemoryBound(to: UInt32.self) }
    @inline(__always) private var control: UnsafeMutablePointer<UInt16> { fragments + Bucket.blockCapacity }

    @inline(__always) var count: Int { Int(control.pointee & 0xFF) }
    @inline(__always) var passedCount: Int {
        get { Int(control.pointee >> 8) }
        nonmutating set { control.pointee = control.pointee & 0xFF | UInt16(newValue) << 8 }
    }

    @inline(__always) func append(_ fragment: UInt16, _ row: UInt32) {
        let count = count
        fragments[count] = fragment
        rows[count] = row
        control.pointee += 1
    }

    @inline(__always) func remove(_ lane: Int) {
        let last = count - 1
        fragments[lane] = fragments[last]
        rows[lane] = rows[last]
        control.pointee -= 1
    }

    /// Returns a mask with one bit for each entry of the block that has this fragment, the stored part of a hash.
    @inline(__always) func lanes(of fragment: UInt16) -> UInt32 {
        cmachine_equal_lanes(start, fragment) & ((1 &<< UInt32(count)) &- 1)
    }
}

/// Statistics of a bucket, which consists of a page of a hash index and its overflow pages. The first page stores the statistics as soon as
/// the bucket has overflow pages.
///
/// The *crowd* of a bucket consists of the entries with the most frequent fragment. A fragment is the part of a hash that an entry stores.
extension Bucket {
    private static let overflowPageCountOffset = 24
    private static let crowdFragmentOffset = 28
    private static let otherCountOffset = 30
    /// A full bucket is split if at least this many of its entries do not have the most frequent fragment.
    static let otherCountMax = capacity / 2

    /// The number of overflow pages of the bucket.
    var overflowPageCount: Int {
        get { Int(page.load(fromByteOffset: Self.overflowPageCountOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: UInt32(newValue), toByteOffset: Self.overflowPageCountOffset, as: UInt32.self) }
    }

    /// The most frequent fragment in the bucket. A fragment is the part of a hash that an entry stores.
    private(set) var crowdFragment: UInt16 {
        get { page.load(fromByteOffset: Self.crowdFragmentOffset, as: UInt16.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.crowdFragmentOffset, as: UInt16.self) }
    }

    /// The number of entries that do not have the most frequent fragment. A bucket of the greatest depth is never split, so it may have
    /// more than the 65,535 entries that the field can count. In such a bucket, the number is not exact, and no code relies on it.
    var otherCount: Int {
        get { Int(page.load(fromByteOffset: Self.otherCountOffset, as: UInt16.self)) }
        nonmutating set {
            page.storeBytes(of: UInt16(clamping: newValue), toByteOffset: Self.otherCountOffset, as: UInt16.self)
        }
    }

    /// Begins the statistics when the bucket gets its first overflow page: determines the most frequent fragment (the stored part of a
    /// hash). Until then, the page does not contain valid statistics.
    func markCrowded() {
        (crowdFragment, otherCount) = crowd()
        overflowPageCount = 0
    }

    /// Returns the fragment that more than half of this page's entries have, and the number of all other entries. If no fragment is that
    /// frequent, the method chooses an arbitrary fragment of the page.
    ///
    /// Source: R. S. Boyer and J S. Moore, MJRTY: different fragments cancel each other out, and a majority remains.
    func crowd() -> (fragment: UInt16, otherCount: Int) {
        var (candidate, surplus) = (UInt16(0), 0)
        forEach { fragment, _ in
            if surplus == 0 { candidate = fragment }
            surplus += fragment == candidate ? 1 : -1
        }
        var otherCount = 0
        forEach { fragment, _ in if fragment != candidate { otherCount += 1 } }
        return (candidate, otherCount)
    }
}
