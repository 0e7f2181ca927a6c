import CambiumBytes
import Glibc

/// The copied rows of one table, and the positions of their copies.
///
/// The set of copied rows has one bit for each row of the table. Parts of the set without a copied row are never touched, so they take no
/// memory. In addition, each group of 128 rows that contains a copied row takes 36 bytes.
struct CloneRows: Sendable {
    /// The copied rows of one virtual page (a range of consecutive serials). The group of these rows may also contain rows of other virtual
    /// pages. An array of pages is sorted by virtual page, so the serials of the rows in the array ascend.
    struct Page: Sendable {
        let virtualPage: UInt32
        let group: UInt32
        /// The number of copied rows in the virtual pages before this one.
        let rank: UInt32
        let bits: UInt128
    }

    let chosen: CloneBits
    private(set) var pages: [Page] = []
    /// The serial of the first copy.
    private(set) var firstSerial: UInt64 = 0
    /// The groups of rows that receive the copies. The first group contains the copy with the serial `firstSerial`.
    private(set) var targets: [UInt32] = []

    init(groupCount: Int, _ chunks: Chunks) { chosen = CloneBits(groupCount: groupCount, chunks) }

    var count: Int { chosen.count }

    @inline(__always) func contains(_ row: UInt32) -> Bool { chosen.contains(row) }

    /// Determines the order of the copies once all rows are known. Complexity: O(g log g) for g groups that contain a copied row.
    mutating func rank(_ rows: Rows, firstSerial: UInt64) {
        self.firstSerial = firstSerial
        var found: [(virtualPage: UInt32, group: UInt32, bits: UInt128)] = []
        found.reserveCapacity(chosen.groups.count)
        for group in chosen.groups {
            let bits = chosen.bits(ofGroup: group)
            if rows.isShared(group) {
                for (virtualPage, bits) in rows.shares(group, of: bits) { found.append((virtualPage, group, bits)) }
            } else {
                found.append((rows.virtualPage(group << PageLayout.rowShift), group, bits))
            }
        }
        let isAscending = zip(found, found.dropFirst()).allSatisfy { $0.virtualPage < $1.virtualPage }
        if !isAscending { found.sort { $0.virtualPage < $1.virtualPage } }
        pages.reserveCapacity(found.count)
        var rank: UInt32 = 0
        for (virtualPage, group, bits) in found {
            pages.append(Page(virtualPage: virtualPage, group: group, rank: rank, bits: bits))
            if bits == chosen.bits(ofGroup: group) { chosen.setRank(group, rank) } else { chosen.setRanks(group, bits, rank) }
            rank += UInt32(bits.nonzeroBitCount)
        }
    }

    mutating func setTargets(_ targets: [UInt32]) { self.targets = targets }

    /// Returns the row that contains the copy of `row`.
    @inline(__always) func copy(of row: UInt32) -> UInt32 {
        let serial = firstSerial &+ UInt64(chosen.rank(of: row))
        let page = Int((serial &>> UInt64(PageLayout.fanOutShift)) &- (firstSerial &>> UInt64(PageLayout.fanOutShift)))
        if page >= targets.count { chosen.refuse() }
        return targets[page] &<< PageLayout.rowShift | UInt32(truncatingIfNeeded: serial) & PageLayout.rowMask
    }

    /// Calls `body` with each copied row and the row of its copy, by ascending serial.
    @inline(__always)
    func forEach(_ body: (_ row: UInt32, _ copy: UInt32) -> Void) { forEach(in: pages.indices, body) }

    /// Calls `body` as `forEach(_:)` does, but only for a range of the pages.
    @inline(__always)
    func forEach(in range: Range<Int>, _ body: (_ row: UInt32, _ copy: UInt32) -> Void) {
        guard let first = pages[range].first else { return }
        var serial = firstSerial &+ UInt64(first.rank)
        let firstPage = firstSerial &>> UInt64(PageLayout.fanOutShift)
        for page in pages[range] {
            var bits = page.bits
            while bits != 0 {
                let row = page.group &<< PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)
                let target = targets[Int((serial &>> UInt64(PageLayout.fanOutShift)) &- firstPage)]
                body(row, target &<< PageLayout.rowShift | UInt32(truncatingIfNeeded: serial) & PageLayout.rowMask)
                serial &+= 1
                bits &= bits &- 1
            }
        }
    }
}

/// A set of rows of one table, which can count how many of its rows precede a given row.
///
/// SAFETY: each row number is checked against the groups of the table, because a page that has not been proven valid may contain any row
/// number.
///
/// SENDABLE: one thread fills and ranks the set before it shares the set. Afterwards the set does not change.
final class CloneBits: @unchecked Sendable {
    private static let wordsPerGroup = PageLayout.fanOut / 64

    private let words: UnsafeMutablePointer<UInt64>
    private let ranks: UnsafeMutablePointer<UInt32>
    private let wordCount: Int
    private let chunks: Chunks
    @exclusivity(unchecked) private(set) var count = 0
    /// The ranks of rows in groups that contain objects of several virtual pages (ranges of consecutive serials). The rank of a row is the
    /// number of rows of the set that have a lower serial.
    @exclusivity(unchecked) private var ranksByRow: [UInt32: UInt32] = [:]
    /// The groups with rows in the set, in the order in which the groups were added.
    @exclusivity(unchecked) private(set) var groups: [UInt32] = []

    init(groupCount: Int, _ chunks: Chunks) {
        self.chunks = chunks
        wordCount = groupCount * Self.wordsPerGroup
        words = Self.zeros(wordCount, of: UInt64.self)
        ranks = Self.zeros(groupCount, of: UInt32.self)
    }

    deinit {
        Self.release(words, wordCount)
        Self.release(ranks, wordCount / Self.wordsPerGroup)
    }

    /// The number of bytes of memory for each group of rows.
    static let byteCountPerGroup = wordsPerGroup * MemoryLayout<UInt64>.stride + MemoryLayout<UInt32>.stride

    /// A block of at least this many bytes is mapped, because the kernel fills mapped memory with zeros at the first touch. The allocator
    /// would clear the whole block at once, so the clone of a single object would cost more in a larger table.
    private static let mappedByteCountMin = 64 << 10

    private static func zeros<Element>(_ count: Int, of type: Element.Type) -> UnsafeMutablePointer<Element> {
        let byteCount = count * MemoryLayout<Element>.stride
        if byteCount >= mappedByteCountMin { return PageMemory.map(byteCount).assumingMemoryBound(to: type) }
        guard let memory = calloc(max(1, count), MemoryLayout<Element>.stride) else {
            Trap.because("The operating system cannot supply memory for a clone. Clone fewer objects.")
        }
        return memory.assumingMemoryBound(to: type)
    }

    private static func release<Element>(_ memory: UnsafeMutablePointer<Element>, _ count: Int) {
        let byteCount = count * MemoryLayout<Element>.stride
        if byteCount >= mappedByteCountMin { munmap(memory, byteCount) } else { free(memory) }
    }

    /// Ends the process, because a page names a row that its table does not have.
    @inline(never) func refuse() -> Never { chunks.refuse("a link leads to a row that does not exist") }

    /// Adds a row. Returns whether the row was not yet in the set.
    @inline(__always) func insert(_ row: UInt32) -> Bool {
        let place = Int(row &>> 6)
        if place >= wordCount { refuse() }
        let mask: UInt64 = 1 &<< UInt64(row & 63)
        let word = words[place]
        if word & mask != 0 { return false }
        words[place] = word | mask
        count &+= 1
        if word == 0, Self.wordsPerGroup == 1 || words[place ^ 1] == 0 { groups.append(row &>> PageLayout.rowShift) }
        return true
    }

    /// Adds the rows of a chain. Returns the number of rows that were not yet in the set.
    func insert(_ chain: inout ChainRows) -> Int {
        let words = words
        var added = 0
        while let row = chain.next() {
            let place = Int(row &>> 6)
            if place >= wordCount { refuse() }
            let word = words[place]
            let mask: UInt64 = 1 &<< UInt64(row & 63)
            if word & mask != 0 { continue }
            words[place] = word | mask
            added &+= 1
            if word == 0, Self.wordsPerGroup == 1 || words[place ^ 1] == 0 { groups.append(row &>> PageLayout.rowShift) }
        }
        count &+= added
        return added
    }

    @inline(__always) func contains(_ row: UInt32) -> Bool {
        let place = Int(row &>> 6)
        if place >= wordCount { refuse() }
        return words[place] &>> UInt64(row & 63) & 1 != 0
    }

    /// Returns a bit for each row of a group: whether the set contains the row. The lowest bit belongs to the first row.
    @inline(__always) func bits(ofGroup group: UInt32) -> UInt128 {
        let first = Int(group) &* Self.wordsPerGroup
        let low = UInt128(truncatingIfNeeded: words[first])
        return Self.wordsPerGroup == 1 ? low : low | UInt128(truncatingIfNeeded: words[first &+ 1]) &<< 64
    }

    func setRank(_ group: UInt32, _ rank: UInt32) { ranks[Int(group)] = rank }

    /// Sets the rank of each row of a group separately. The group contains objects of several virtual pages (ranges of consecutive
    /// serials), so the serials of its rows are not consecutive.
    func setRanks(_ group: UInt32, _ bits: UInt128, _ first: UInt32) {
        ranks[Int(group)] = Self.isByRow
        var (bits, rank) = (bits, first)
        while bits != 0 {
            ranksByRow[group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)] = rank
            rank += 1
            bits &= bits - 1
        }
    }

    private static let isByRow = UInt32.max

    /// Returns the number of rows of the set that have a lower serial than `row`. The result is the rank of the row's group, plus the
    /// number of rows of the set that precede `row` in this group.
    @inline(__always) func rank(of row: UInt32) -> UInt32 {
        let place = Int(row &>> 6)
        if place >= wordCount { refuse() }
        var rank = ranks[Int(row &>> PageLayout.rowShift)]
        if rank == Self.isByRow { return ranksByRow[row] ?? 0 }
        rank &+= UInt32(truncatingIfNeeded: (words[place] & ((1 &<< UInt64(row & 63)) &- 1)).nonzeroBitCount)
        if Self.wordsPerGroup == 2, place & 1 != 0 { rank &+= UInt32(truncatingIfNeeded: words[place &- 1].nonzeroBitCount) }
        return rank
    }
}
