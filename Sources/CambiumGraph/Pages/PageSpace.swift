internal import CMachine

#if canImport(Glibc)
    import Glibc
#endif

/// The memory that pages live in, cut into chunks of 64 KiB, with a list of free pages for each size.
///
/// Pages are neither counted nor moved. Whoever owns the space (a `Timeline`) makes sure that one thread at a time allocates
/// and releases; readers need nothing, because a page that they can reach does not change.
///
/// SENDABLE: mutable state is touched by the one writer only; readers use `chunks`, which never moves.
final class PageSpace: @unchecked Sendable {
    let chunks: Chunks
    /// Permanent pages that stand for leaves without content; born at 0 and never released.
    private(set) var constants = ConstantPages()
    // One thread at a time allocates and releases: no access to what follows overlaps another.
    @exclusivity(unchecked) private(set) var liveGranules = 0
    @exclusivity(unchecked) var chunkCount = 0
    /// For each chunk, how many granules of its pages are in use.
    let live: UnsafeMutablePointer<UInt16>
    /// Pages that were born then or before lie in frozen chunks, into which nobody writes.
    @exclusivity(unchecked) var frozenEpoch: UInt64 = 0
    /// The chunks in which pages are carved and used again.
    @exclusivity(unchecked) var openChunks: [UInt32] = []
    /// Those that were frozen, and of which no page is in use and no root needs one.
    @exclusivity(unchecked) var emptyChunks: [UInt32] = []
    @exclusivity(unchecked) var memories: [ChunkMemory] = []
    /// What supplies the chunks that the table does not have; nil where it has them all.
    let source: (any ChunkSource)?

    /// For each size in granules, the first free page of it.
    let freeHeads: UnsafeMutablePointer<PageRef>
    @exclusivity(unchecked) var cursor = 0
    @exclusivity(unchecked) var cursorEnd = 0
    /// Empty lists of pages whose memory the next draft uses.
    @exclusivity(unchecked) private var spareLists: [PageList] = []
    private var regions: [(base: UnsafeMutableRawPointer, byteCount: Int)] = []
    private var regionCursor: UnsafeMutableRawPointer?
    private(set) var regionChunksLeft = 0
    /// Whether the system was asked to supply the memory of the region before it is touched.
    private var isRegionPrepared = false
    /// Regions that were taken ahead of their use.
    private(set) var preparedRegions: [(base: UnsafeMutableRawPointer, byteCount: Int)] = []
    private var preparation: MemoryPreparation?
    /// What is kept supplied ahead of its use.
    private var keptByteCount = 0

    /// - Parameter root: what of a stored space there is; nil for a new one.
    init(_ root: StoredSpace? = nil) {
        chunks = Chunks(table: Self.map(Self.tableByteCount).assumingMemoryBound(to: UnsafeMutableRawPointer?.self))
        live = Self.map(Self.liveByteCount).assumingMemoryBound(to: UInt16.self)
        freeHeads = .allocate(capacity: PageLayout.chunkGranules + 1)
        freeHeads.initialize(repeating: 0, count: PageLayout.chunkGranules + 1)
        source = root?.source
        chunks.table[Chunks.spacePlace] = Unmanaged.passUnretained(self).toOpaque()
        guard let root else {
            constants = ConstantPages(in: self)
            return
        }
        chunkCount = root.live.count
        for (chunk, count) in root.live.enumerated() { live[chunk] = count }
        memories = [ChunkMemory](repeating: .source, count: chunkCount)
        liveGranules = root.live.reduce(0) { $0 + Int($1) }
        frozenEpoch = root.epoch
        constants = ConstantPages.stored
    }

    deinit {
        preparation?.cancel()
        freeHeads.deallocate()
        for region in regions { munmap(region.base, region.byteCount) }
        munmap(chunks.table, Self.tableByteCount)
        munmap(live, Self.liveByteCount)
    }

    private static let tableByteCount = (PageLayout.chunkCountMax + 1) * MemoryLayout<UnsafeMutableRawPointer?>.stride
    private static let liveByteCount = PageLayout.chunkCountMax * MemoryLayout<UInt16>.stride

    /// Bytes of memory taken from the system for pages.
    private(set) var reservedByteCount = 0

    /// A page of `granules` x 16 bytes, its content undefined behind the header.
    @inline(__always)
    func allocate(granules: Int, kind: PageKind, birth: UInt64) -> PageRef {
        allocate(tail: UInt64(UInt16(truncatingIfNeeded: granules)) | UInt64(kind.rawValue) << 16, granules: granules, birth: birth)
    }

    /// - Parameter tail: the second half of the header, which says the size and the kind.
    @inline(__always)
    func allocate(tail: UInt64, granules: Int, birth: UInt64) -> PageRef {
        // SAFETY: a page is at most a chunk, and there is a head for each size up to that.
        precondition(granules <= PageLayout.chunkGranules)
        let head = freeHeads[granules]
        let page = head != 0 ? head : carve(granules)
        let pointer = chunks[page]
        if head != 0 { freeHeads[granules] = pointer.load(fromByteOffset: PageLayout.nextFreeOffset, as: PageRef.self) }
        liveGranules &+= granules
        live[Int(page &>> 12)] &+= UInt16(truncatingIfNeeded: granules)
        pointer.storeBytes(of: birth, as: UInt64.self)
        pointer.storeBytes(of: tail, toByteOffset: PageLayout.granulesOffset, as: UInt64.self)
        return page
    }

    /// Gives a page back. In a frozen chunk it is only counted. In debug builds it is poisoned and never handed out again, so that a
    /// use after this is seen.
    @inline(__always)
    func release(_ page: PageRef) {
        let pointer = chunks[page]
        let granules = chunks.granules(page)
        liveGranules &-= granules
        live[Int(page &>> 12)] &-= UInt16(truncatingIfNeeded: granules)
        if pointer.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self) <= frozenEpoch { return }
        pointer.storeBytes(of: UInt64.max, as: UInt64.self)
        pointer.storeBytes(of: PageKind.free.rawValue, toByteOffset: PageLayout.kindOffset, as: UInt8.self)
        #if DEBUG
            memset(pointer + PageLayout.header, 0xDB, (granules - 1) * PageLayout.granule)
        #else
            pointer.storeBytes(of: freeHeads[granules], toByteOffset: PageLayout.nextFreeOffset, as: PageRef.self)
            freeHeads[granules] = page
        #endif
    }

    /// An empty list of pages. Drafts need two each, which should not be grown from nothing every time.
    func takeList() -> PageList { spareLists.popLast() ?? PageList() }

    /// Takes a list back that is no longer needed.
    func giveBack(_ list: inout PageList) {
        guard list.capacity > 0, list.capacity <= Self.spareListCapacityMax, spareLists.count < Self.spareListCountMax else { return }
        list.removeAll()
        spareLists.append(list)
        list = PageList()
    }

    /// As many as a group of transactions may give back before the next ones take theirs.
    private static let spareListCountMax = 256
    /// Small ones only: a version that is held keeps its list.
    private static let spareListCapacityMax = 256

    @inline(never)
    private func carve(_ granules: Int) -> PageRef {
        if cursor + granules > cursorEnd {
            keepRemainder()
            cursor = addChunk() * PageLayout.chunkGranules
            cursorEnd = cursor + PageLayout.chunkGranules
            // Reference 0 means no page, so the first granule of the first chunk stays unused.
            if cursor == 0 { cursor = 1 }
            if cursor + granules > cursorEnd { return carve(granules) }
        }
        let page = PageRef(truncatingIfNeeded: cursor)
        cursor += granules
        return page
    }

    func keepRemainder() {
        let rest = cursorEnd - cursor
        guard rest >= 2 else { return }
        let page = PageRef(truncatingIfNeeded: cursor)
        let pointer = chunks[page]
        pointer.storeBytes(of: UInt64.max, as: UInt64.self)
        pointer.storeBytes(of: UInt64(rest), toByteOffset: PageLayout.granulesOffset, as: UInt64.self)
        pointer.storeBytes(of: freeHeads[rest], toByteOffset: PageLayout.nextFreeOffset, as: PageRef.self)
        freeHeads[rest] = page
    }

    private func addChunk() -> Int {
        let chunk: Int
        if let empty = emptyChunks.popLast() {
            chunk = Int(empty)
        } else {
            precondition(chunkCount < PageLayout.chunkCountMax, "A graph holds at most 64 GiB of pages; this one is full.")
            chunk = chunkCount
            chunkCount += 1
        }
        giveMemory(chunk)
        openChunks.append(UInt32(chunk))
        return chunk
    }

    /// The memory of a chunk, which nothing was written into.
    func takeMemory() -> UnsafeMutableRawPointer {
        if regionChunksLeft == 0 { addRegion() }
        guard let base = regionCursor else { preconditionFailure("A region was added, so it has a first chunk.") }
        regionCursor = base + PageLayout.chunkByteCount
        regionChunksLeft -= 1
        return base
    }

    /// Takes memory from the system: a quarter MiB first, then as much as there is already, at most 64 MiB at a time. Large
    /// regions ask for huge pages: first touch of fresh memory costs more than anything else that a bulk load does.
    private func addRegion() {
        isRegionPrepared = !preparedRegions.isEmpty
        let region =
            preparedRegions.isEmpty ? mapRegion(max(262_144, min(reservedByteCount, 64 << 20))) : preparedRegions.removeFirst()
        regionCursor = region.base
        regionChunksLeft = region.byteCount / PageLayout.chunkByteCount
    }

    private func mapRegion(_ byteCount: Int) -> (base: UnsafeMutableRawPointer, byteCount: Int) {
        let base = Self.map(byteCount)
        if byteCount >= 2 << 20 { madvise(base, byteCount, MADV_HUGEPAGE) }
        regions.append((base, byteCount))
        reservedByteCount += byteCount
        return (base, byteCount)
    }

    /// Has the memory of so many bytes of pages supplied by another thread while this one goes on: the system zeroes fresh memory
    /// at about the speed at which a clone fills it. What is free already counts. Does nothing where that thread is still busy.
    func prepare(byteCount: Int) {
        if byteCount < Self.preparedByteCountMin || preparation?.isDone == false { return }
        let missing = byteCount - unusedByteCount
        var ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)] = []
        if !isRegionPrepared, let regionCursor { ranges.append((regionCursor, regionChunksLeft * PageLayout.chunkByteCount)) }
        if missing >= Self.preparedByteCountMin {
            preparedRegions.append(mapRegion((missing + (2 << 20) - 1) & ~((2 << 20) - 1)))
            ranges += preparedRegions.suffix(1)
        }
        if ranges.isEmpty { return }
        isRegionPrepared = true
        finishPreparing()
        preparation = MemoryPreparation(ranges)
    }

    /// Has some MiB supplied for who goes on and on.
    func prepareAhead() {
        let left = preparedRegions.reduce(regionChunksLeft * PageLayout.chunkByteCount) { $0 + $1.byteCount }
        if left < Self.aheadByteCount { prepare(byteCount: unusedByteCount - left + Self.aheadByteCount + Self.preparedByteCountMin) }
    }

    /// Keeps as much supplied from now on, within bounds, as something took that may be done again.
    func expect(byteCount: Int) {
        // What is free is of all sizes, and not all of them are wanted.
        if byteCount >= Self.preparedByteCountMin { keptByteCount = min(byteCount + byteCount / 4, Self.keptByteCountMax) }
    }

    /// Has the memory that is expected to be wanted supplied, where some of it is gone or was never asked for.
    func refill() {
        if keptByteCount > 0 { prepare(byteCount: keptByteCount) }
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

    private static func map(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let base = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            preconditionFailure("The system refused \(byteCount) bytes of memory for pages.")
        }
        return base
    }
}

/// Leaves that many groups share because they say nothing: all null, all without a row, all zero.
struct ConstantPages {
    private(set) var null1: PageRef = 0
    private(set) var null2: PageRef = 0
    private(set) var null4: PageRef = 0
    private(set) var null8: PageRef = 0
    private(set) var null16: PageRef = 0
    private(set) var nullString: PageRef = 0
    private(set) var noRows: PageRef = 0
    private(set) var zeroes: PageRef = 0

    init() {}

    /// Where they are in each space: the first pages that are carved in it.
    static let stored = PageSpace().constants

    init(in space: PageSpace) {
        func page(_ byteCount: Int, _ kind: PageKind, fill: UInt8) -> PageRef {
            let page = space.allocate(granules: PageLayout.granules(byteCount), kind: kind, birth: 0)
            memset(space.chunks[page] + PageLayout.header, Int32(fill), byteCount - PageLayout.header)
            return page
        }
        null1 = page(PageLayout.fixedLeafByteCount(width: 1), .fixedLeaf, fill: 0)
        null2 = page(PageLayout.fixedLeafByteCount(width: 2), .fixedLeaf, fill: 0)
        null4 = page(PageLayout.fixedLeafByteCount(width: 4), .fixedLeaf, fill: 0)
        null8 = page(PageLayout.fixedLeafByteCount(width: 8), .fixedLeaf, fill: 0)
        null16 = page(PageLayout.fixedLeafByteCount(width: 16), .fixedLeaf, fill: 0)
        nullString = page(PageLayout.heapOffset, .stringLeaf, fill: 0)
        noRows = page(PageLayout.linkLeafByteCount, .linkLeaf, fill: 0xFF)
        zeroes = page(PageLayout.linkLeafByteCount, .linkLeaf, fill: 0)
    }

    func null(width: Int) -> PageRef {
        switch width {
        case 1: null1
        case 2: null2
        case 4: null4
        case 8: null8
        default: null16
        }
    }

    var all: [PageRef] { [null1, null2, null4, null8, null16, nullString, noRows, zeroes] }
}
