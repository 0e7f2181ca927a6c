import CambiumBytes

#if canImport(Glibc)
    import Glibc
#endif

/// The memory that chunks get from the system: regions that grow with what there is, and what is supplied ahead of its use.
///
/// SAFETY: a region stays mapped as long as this does; one thread at a time uses it.
final class PageMemory {
    let budget: MemoryBudget
    private var regions: [(base: UnsafeMutableRawPointer, byteCount: Int)] = []
    @exclusivity(unchecked) private var regionCursor: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var regionChunksLeft = 0
    /// Up to where the system was asked to supply the memory of the region before it is touched.
    @exclusivity(unchecked) private var suppliedEnd: UnsafeMutableRawPointer?
    /// Regions that were taken ahead of their use, of which the first bytes are supplied.
    @exclusivity(unchecked) private var preparedRegions: [(base: UnsafeMutableRawPointer, byteCount: Int, suppliedByteCount: Int)] = []
    @exclusivity(unchecked) private var preparation: MemoryPreparation?
    /// What is kept supplied ahead of its use.
    @exclusivity(unchecked) private var keptByteCount = 0
    /// Bytes of memory that are nobody's file.
    @exclusivity(unchecked) private(set) var heapByteCount = 0

    init(budget: MemoryBudget) { self.budget = budget }

    deinit {
        preparation?.cancel()
        for region in regions { munmap(region.base, region.byteCount) }
        budget.giveBack(heapByteCount)
    }

    /// Memory of one chunk, which nothing was written into; nil where the budget has none left.
    ///
    /// - Parameter isForced: whether it is taken all the same.
    func takeChunk(isForced: Bool) -> UnsafeMutableRawPointer? {
        if regionChunksLeft == 0, !addRegion(isForced: isForced) { return nil }
        guard let base = regionCursor else { preconditionFailure("A region was added, so it has a first chunk.") }
        regionCursor = base + PageLayout.chunkByteCount
        regionChunksLeft -= 1
        return base
    }

    /// Takes memory from the system: a quarter MiB first, then as much as there is already, at most 64 MiB at a time. Large
    /// regions ask for huge pages: first touch of fresh memory costs more than anything else that a bulk load does.
    private func addRegion(isForced: Bool) -> Bool {
        let isPrepared = !preparedRegions.isEmpty
        var byteCount = nextRegionByteCount
        if !isPrepared, byteCount > budget.leftByteCount {
            if !isForced, budget.leftByteCount < Self.regionByteCountMin { return false }
            let left = budget.leftByteCount & ~(Self.regionByteCountMin - 1)
            byteCount = left > 0 ? left : PageLayout.chunkByteCount
        }
        let region = isPrepared ? preparedRegions.removeFirst() : mapRegion(byteCount)
        regionCursor = region.base
        regionChunksLeft = region.byteCount / PageLayout.chunkByteCount
        suppliedEnd = region.base + region.suppliedByteCount
        return true
    }

    /// What is not touched yet counts, so it is a small part of the budget.
    private var nextRegionByteCount: Int {
        max(Self.regionByteCountMin, min(heapByteCount, 64 << 20, budget.byteCount / 16) & ~(Self.regionByteCountMin - 1))
    }

    /// The memory of the region that was not handed out, and how much of that the system was asked for.
    private var regionRest: (base: UnsafeMutableRawPointer, byteCount: Int, suppliedByteCount: Int)? {
        guard let regionCursor, let suppliedEnd else { return nil }
        return (regionCursor, regionChunksLeft * PageLayout.chunkByteCount, max(0, suppliedEnd - regionCursor))
    }

    private static let regionByteCountMin = 262_144

    private func mapRegion(_ byteCount: Int) -> (base: UnsafeMutableRawPointer, byteCount: Int, suppliedByteCount: Int) {
        // A huge page lies at a multiple of its size. The system maps memory there only if the length is such a multiple, too.
        let isHuge = byteCount >= Self.hugePageByteCount
        let whole = byteCount + PageLayout.slackByteCount + (isHuge ? Self.hugePageByteCount : 0)
        let first = Self.map(whole)
        regions.append((first, whole))
        take(byteCount)
        if !isHuge { return (first, byteCount, 0) }
        let base = first.alignedUp(toMultipleOf: Self.hugePageByteCount)
        madvise(base, byteCount, MADV_HUGEPAGE)
        return (base, byteCount, 0)
    }

    private static let hugePageByteCount = 2 << 20

    private func take(_ byteCount: Int) {
        heapByteCount += byteCount
        budget.take(byteCount)
    }

    // MARK: Files in the place of memory

    /// Takes note that so many chunks are not in memory any more that counts.
    func noteGone(chunkCount: Int) {
        heapByteCount -= chunkCount * PageLayout.chunkByteCount
        budget.giveBack(chunkCount * PageLayout.chunkByteCount)
    }

    /// Puts memory back in the place of a chunk's file. False where the budget has none left.
    func putBack(_ base: UnsafeMutableRawPointer) -> Bool {
        guard budget.leftByteCount >= PageLayout.chunkByteCount else { return false }
        Self.map(PageLayout.chunkByteCount, at: base)
        take(PageLayout.chunkByteCount)
        return true
    }

    /// Lets the system have the memory of a chunk that nobody reads, until it is touched again.
    func lend(_ base: UnsafeMutableRawPointer) {
        Self.letGo(base)
        noteGone(chunkCount: 1)
    }

    /// Lets the system have the memory of a chunk. Any thread.
    static func letGo(_ base: UnsafeMutableRawPointer) { madvise(base, PageLayout.chunkByteCount, MADV_DONTNEED) }

    /// Takes what was lent. False where the budget has none left.
    ///
    /// - Parameter isForced: whether it is taken all the same.
    func takeLent(isForced: Bool) -> Bool {
        guard isForced || budget.leftByteCount >= PageLayout.chunkByteCount else { return false }
        take(PageLayout.chunkByteCount)
        return true
    }

    // MARK: Ahead of its use

    /// Bytes of chunks that can be had without asking the system.
    private var unusedByteCount: Int {
        preparedRegions.reduce(regionChunksLeft * PageLayout.chunkByteCount) { $0 + $1.byteCount }
    }

    /// Has the memory of so many bytes of pages supplied by another thread while this one goes on: the system zeroes fresh memory
    /// at about the speed at which a clone fills it. Does nothing where that thread is still busy.
    ///
    /// - Parameter freeByteCount: what is free in chunks, which counts.
    func prepare(byteCount: Int, freeByteCount: Int) {
        if byteCount < Self.preparedByteCountMin || preparation?.isDone == false { return }
        let missing = min(byteCount - freeByteCount - unusedByteCount, budget.leftByteCount / 2)
        var ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)] = []
        if let rest = regionRest, rest.suppliedByteCount < rest.byteCount {
            ranges.append((rest.base + rest.suppliedByteCount, rest.byteCount - rest.suppliedByteCount))
            suppliedEnd = rest.base + rest.byteCount
        }
        for place in preparedRegions.indices where preparedRegions[place].suppliedByteCount < preparedRegions[place].byteCount {
            let region = preparedRegions[place]
            ranges.append((region.base + region.suppliedByteCount, region.byteCount - region.suppliedByteCount))
            preparedRegions[place].suppliedByteCount = region.byteCount
        }
        if missing >= Self.preparedByteCountMin {
            let region = mapRegion((missing + (2 << 20) - 1) & ~((2 << 20) - 1))
            preparedRegions.append((region.base, region.byteCount, region.byteCount))
            ranges.append((region.base, region.byteCount))
        }
        if !ranges.isEmpty { supply(ranges) }
    }

    /// Has some MiB supplied for who goes on and on, whatever is free in chunks.
    func prepareAhead() {
        if unusedByteCount < Self.aheadByteCount { prepare(byteCount: Self.aheadByteCount + Self.preparedByteCountMin, freeByteCount: 0) }
    }

    /// Has the memory that the next changes come to supplied, if huge pages are used: the first touch of one may take milliseconds,
    /// in which a writer would hold the lock. Complexity: O(1), and a thread for each 2 or 4 MiB.
    func prepareNext() {
        // The next region has huge pages if there is so much memory already.
        guard heapByteCount >= Self.hugePageByteCount, preparation?.isDone ?? true, preparedRegions.isEmpty, let rest = regionRest
        else { return }
        if min(rest.suppliedByteCount, rest.byteCount) >= nextByteCount / 2 { return }
        if rest.byteCount >= nextByteCount / 2 {
            let byteCount = min(rest.byteCount - rest.suppliedByteCount, nextByteCount)
            suppliedEnd = rest.base + rest.suppliedByteCount + byteCount
            supply([(rest.base + rest.suppliedByteCount, byteCount)])
        } else if budget.leftByteCount >= 2 * nextRegionByteCount {
            var region = mapRegion(nextRegionByteCount)
            region.suppliedByteCount = min(region.byteCount, nextByteCount)
            preparedRegions.append(region)
            supply([(region.base, region.suppliedByteCount)])
        }
    }

    private func supply(_ ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]) {
        finishPreparing()
        preparation = MemoryPreparation(ranges)
    }

    /// A huge page, or two if that is little beside what there is.
    private var nextByteCount: Int { (heapByteCount < 32 << 20 ? 1 : 2) * Self.hugePageByteCount }

    /// Keeps as much supplied from now on, within bounds, as something took that may be done again.
    func expect(byteCount: Int) {
        // What is free is of all sizes, and not all of them are wanted.
        if byteCount >= Self.preparedByteCountMin { keptByteCount = min(byteCount + byteCount / 4, Self.keptByteCountMax) }
    }

    /// Has the memory that is expected to be wanted supplied, where some of it is gone or was never asked for.
    func refill(freeByteCount: () -> Int) {
        if keptByteCount > 0 { prepare(byteCount: keptByteCount, freeByteCount: freeByteCount()) }
    }

    /// Waits for the memory that is being supplied.
    func finishPreparing() {
        preparation?.wait()
        preparation = nil
    }

    private static let preparedByteCountMin = 4 << 20
    private static let aheadByteCount = 4 << 20
    /// What a store that clones may hold beyond its pages.
    private static let keptByteCountMax = 160 << 20

    /// - Parameter address: nil for where the system likes.
    @discardableResult
    static func map(_ byteCount: Int, at address: UnsafeMutableRawPointer? = nil) -> UnsafeMutableRawPointer {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address == nil ? 0 : MAP_FIXED)
        guard let base = mmap(address, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            Trap.because("The system refused \(byteCount) bytes of memory for pages.")
        }
        return base
    }
}
