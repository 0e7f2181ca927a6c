import CambiumBytes
import Glibc

/// Supplies memory for chunks (64 KiB of pages each). The memory is mapped in regions: the more memory is in use, the larger is the next
/// region. The kernel can prepare memory of a region in advance.
///
/// SAFETY: a region stays mapped as long as this object exists; one thread at a time uses the object.
final class PageMemory {
    let budget: MemoryBudget
    /// Whether the process had a limit of addresses or data when this object was created. If so, addresses are mapped before they are
    /// needed, while the caller can still throw an error: `hold` maps them, and `takeAddress` only takes them. A chunk counts against the
    /// budget while it has memory, instead of when its region is mapped. No memory is supplied in advance.
    let isLimited = ProcessMemory.isLimited
    /// The number of chunks that the current draft has opened, unless it replays the log.
    @exclusivity(unchecked) var unpublishedChunkCount = 0
    /// The number of calls to `hold`.
    @exclusivity(unchecked) private var holdCount = 0
    private var regions: [(base: UnsafeMutableRawPointer, byteCount: Int)] = []
    @exclusivity(unchecked) private var regionCursor: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var regionChunksLeft = 0
    /// The kernel was asked to supply the memory of the current region up to this address in advance.
    @exclusivity(unchecked) private var suppliedEnd: UnsafeMutableRawPointer?
    /// Regions that were mapped before they are needed. The kernel has supplied the first `suppliedByteCount` bytes of each region.
    @exclusivity(unchecked) private var preparedRegions: [(base: UnsafeMutableRawPointer, byteCount: Int, suppliedByteCount: Int)] = []
    @exclusivity(unchecked) private var preparation: MemoryPreparation?
    /// The number of unused bytes for which the kernel supplies memory in advance. The method `expect` sets this number; it is 0 before the
    /// first call.
    @exclusivity(unchecked) private var keptByteCount = 0
    /// The number of bytes of memory for chunks whose bytes are not in a file.
    @exclusivity(unchecked) private(set) var heapByteCount = 0

    init(budget: MemoryBudget) { self.budget = budget }

    deinit {
        preparation?.cancel()
        for region in regions { munmap(region.base, region.byteCount) }
        budget.release(heapByteCount)
    }

    /// Returns unused memory for one chunk, or `nil` if the budget is exhausted.
    ///
    /// - Parameter isForced: Whether to take the memory even if the budget is exhausted.
    func takeChunk(isForced: Bool) -> UnsafeMutableRawPointer? {
        if isLimited {
            let base = takeAddress()
            return takeLent(isForced: isForced) ? base : nil
        }
        if regionChunksLeft == 0, !addRegion(isForced: isForced) { return nil }
        return nextChunk()
    }

    private func nextChunk() -> UnsafeMutableRawPointer {
        guard let base = regionCursor else { preconditionFailure("A region that was added must have a first chunk.") }
        regionCursor = base + PageLayout.chunkByteCount
        regionChunksLeft -= 1
        return base
    }

    /// Maps a region. The first region takes 256 KiB, and a later region takes about as many bytes as are in use. A region takes at most 64
    /// MiB and at most a sixteenth of the budget. Large regions use huge pages, because the first touch of fresh memory is the largest cost
    /// of a bulk load. Returns `false` if the budget is exhausted.
    private func addRegion(isForced: Bool) -> Bool {
        let isPrepared = !preparedRegions.isEmpty
        var byteCount = nextRegionByteCount
        if !isPrepared, !isLimited, byteCount > budget.leftByteCount {
            let left = budget.leftByteCount
            // A budget of less than four regions of 256 KiB must use even a rest of less than one region.
            let isSmall = left < Self.regionByteCountMin && budget.byteCount < 4 * Self.regionByteCountMin
            byteCount = left & ~((isSmall ? PageLayout.chunkByteCount : Self.regionByteCountMin) - 1)
            if byteCount == 0, !isForced { return false }
            byteCount = max(byteCount, PageLayout.chunkByteCount)
        }
        let region = isPrepared ? preparedRegions.removeFirst() : mapRegion(byteCount)
        regionCursor = region.base
        regionChunksLeft = region.byteCount / PageLayout.chunkByteCount
        suppliedEnd = region.base + region.suppliedByteCount
        return true
    }

    /// The size of the next region. The size is a small part of the budget, because even memory that no thread has touched counts against
    /// the budget.
    private var nextRegionByteCount: Int {
        max(Self.regionByteCountMin, min(heapByteCount, 64 << 20, budget.byteCount / 16) & ~(Self.regionByteCountMin - 1))
    }

    /// The part of the current region that no chunk uses yet, and how much of it the kernel was asked to supply.
    private var regionRest: (base: UnsafeMutableRawPointer, byteCount: Int, suppliedByteCount: Int)? {
        guard let regionCursor, let suppliedEnd else { return nil }
        return (regionCursor, regionChunksLeft * PageLayout.chunkByteCount, max(0, suppliedEnd - regionCursor))
    }

    private static let regionByteCountMin = 262_144

    private func mapRegion(_ byteCount: Int) -> (base: UnsafeMutableRawPointer, byteCount: Int, suppliedByteCount: Int) {
        // A huge page begins at a multiple of its size. The kernel aligns a mapping in this way only if the length of the mapping is a
        // multiple of this size, too.
        let isHuge = byteCount >= Self.hugePageByteCount && !isLimited
        let whole = byteCount + PageLayout.slackByteCount + (isHuge ? Self.hugePageByteCount : 0)
        let first = Self.map(whole)
        regions.append((first, whole))
        if !isLimited { take(byteCount) }
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

    // MARK: Files in place of memory

    /// Records that a number of chunks no longer have memory that counts against the budget.
    func trackGone(chunkCount: Int) {
        heapByteCount -= chunkCount * PageLayout.chunkByteCount
        budget.release(chunkCount * PageLayout.chunkByteCount)
    }

    /// Maps memory at the address of a chunk, in place of the file that is mapped there. Returns `false` if the budget is exhausted.
    func putBack(_ base: UnsafeMutableRawPointer) -> Bool {
        guard budget.leftByteCount >= PageLayout.chunkByteCount else { return false }
        Self.map(PageLayout.chunkByteCount, at: base)
        take(PageLayout.chunkByteCount)
        return true
    }

    /// Lends the memory of a chunk to the kernel, so that the memory no longer counts against the budget. No thread may read the chunk. The
    /// next touch gets fresh memory.
    func lend(_ base: UnsafeMutableRawPointer) {
        Self.release(base)
        trackGone(chunkCount: 1)
    }

    /// Releases the memory of a chunk to the kernel. Any thread may call this method.
    static func release(_ base: UnsafeMutableRawPointer) { madvise(base, PageLayout.chunkByteCount, MADV_DONTNEED) }

    /// Counts the memory of a chunk against the budget again, after `lend` released it to the kernel. Returns `false` if the budget is
    /// exhausted.
    ///
    /// - Parameter isForced: Whether to take the memory even if the budget is exhausted.
    func takeLent(isForced: Bool) -> Bool {
        guard isForced || budget.leftByteCount >= PageLayout.chunkByteCount else { return false }
        take(PageLayout.chunkByteCount)
        return true
    }

    // MARK: Limited memory

    /// Returns the address of an unused chunk, whose memory is lent to the kernel. Only for a process with a limit.
    ///
    /// The address was held before, unless a change takes more chunks than its check expected. The process ends if no address is left.
    func takeAddress() -> UnsafeMutableRawPointer {
        if regionChunksLeft == 0 { _ = addRegion(isForced: true) }
        return nextChunk()
    }

    /// Maps addresses until this many chunks have an address. Returns `false` if the limits of the process leave too little memory. Without
    /// limits, the result is `true`, and nothing is mapped. Complexity: O(1).
    func hold(_ chunkCount: Int) -> Bool {
        if !isLimited { return true }
        holdCount &+= 1
        let isLook = holdCount % Self.lookInterval == 0
        if chunkCount <= regionChunksLeft, !isLook { return true }
        let missing = chunkCount - unusedByteCount / PageLayout.chunkByteCount
        if missing <= 0 { return isLook ? ProcessMemory.has(encodedByteCount) : true }
        for count in [max(missing, Self.heldChunkCount), missing]
        where ProcessMemory.has((count + 2) * PageLayout.chunkByteCount + encodedByteCount) {
            preparedRegions.append(mapRegion(count * PageLayout.chunkByteCount))
            return true
        }
        return false
    }

    /// The number of bytes that the encoding of a transaction may need, if its pages were opened since the last publication. The encoder
    /// doubles its memory when it is full, so old and new memory together take up to three times the bytes of the changes.
    private var encodedByteCount: Int { 3 * unpublishedChunkCount * PageLayout.chunkByteCount }

    /// One in this many calls of `hold` also checks that the limits leave memory for the allocations that do not belong to pages.
    private static let lookInterval = 256
    /// The number of chunks that `hold` maps at a time: 4 MiB.
    private static let heldChunkCount = 64

    // MARK: Memory supplied in advance

    /// The number of bytes that are available for chunks without a call to the kernel.
    private var unusedByteCount: Int {
        preparedRegions.reduce(regionChunksLeft * PageLayout.chunkByteCount) { $0 + $1.byteCount }
    }

    /// Lets another thread supply memory for this many bytes of pages. Otherwise, a clone would spend about half of its time waiting for
    /// the kernel to fill fresh memory with zeros. Does nothing if the other thread is still busy, or for less than 4 MiB.
    ///
    /// - Parameter freeByteCount: The number of free bytes in open chunks. Free bytes reduce the memory that is needed.
    func prepare(byteCount: Int, freeByteCount: Int) {
        if isLimited || byteCount < Self.preparedByteCountMin || preparation?.isDone == false { return }
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

    /// Supplies a few MiB in advance, regardless of free bytes in open chunks. Call this method for a writer that writes without pauses.
    func prepareAhead() {
        if unusedByteCount < Self.aheadByteCount { prepare(byteCount: Self.aheadByteCount + Self.preparedByteCountMin, freeByteCount: 0) }
    }

    /// Supplies the memory of the next chunks, if they will use huge pages. The first touch of a huge page may take milliseconds, during
    /// which a writer would hold its lock. Complexity: O(1), and one thread for each 2 or 4 MiB.
    func prepareNext() {
        // The next region uses huge pages only if as much memory as one huge page is in use already.
        guard !isLimited, heapByteCount >= Self.hugePageByteCount, preparation?.isDone ?? true, preparedRegions.isEmpty,
            let rest = regionRest
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

    /// The size of two huge pages, or of one huge page if little memory is in use.
    private var nextByteCount: Int { (heapByteCount < 32 << 20 ? 1 : 2) * Self.hugePageByteCount }

    /// Makes `refill` keep enough unused memory ready for an operation that takes about `byteCount` bytes, up to a limit.
    func expect(byteCount: Int) {
        // A quarter is added, because the sizes of the free pages may not fit the pages that the operation needs.
        if byteCount >= Self.preparedByteCountMin { keptByteCount = min(byteCount + byteCount / 4, Self.keptByteCountMax) }
    }

    /// Supplies in advance as much memory as the last call of `expect` requested, unless this much memory is still unused.
    func refill(freeByteCount: () -> Int) {
        if keptByteCount > 0 { prepare(byteCount: keptByteCount, freeByteCount: freeByteCount()) }
    }

    /// Waits until the thread of `preparation` has supplied all memory.
    func finishPreparing() {
        preparation?.wait()
        preparation = nil
    }

    private static let preparedByteCountMin = 4 << 20
    private static let aheadByteCount = 4 << 20
    /// The maximum number of unused bytes for which memory is supplied in advance, so that the next clone need not wait for the kernel.
    private static let keptByteCountMax = 160 << 20

    /// Maps memory for pages. Ends the process if there is no memory.
    ///
    /// - Parameter address: The address to map at; `nil` if the kernel may choose.
    @discardableResult
    static func map(_ byteCount: Int, at address: UnsafeMutableRawPointer? = nil) -> UnsafeMutableRawPointer {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address == nil ? 0 : MAP_FIXED)
        guard let base = mmap(address, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            Trap.because("The operating system cannot supply \(byteCount) bytes of memory for pages. Give the process more memory.")
        }
        return base
    }
}
