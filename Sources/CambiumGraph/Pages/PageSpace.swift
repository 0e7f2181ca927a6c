import CambiumBytes
import CambiumModel
import Glibc

/// The memory for pages, divided into chunks of 64 KiB. The space has a list of free pages for each size.
///
/// Pages have no reference counts and never move. The owner of the space (a `Timeline`) ensures that only one thread at a time allocates
/// and releases pages. Readers need no lock, because a page that a reader can reach does not change.
///
/// SENDABLE: only the writer touches mutable state. Readers use only `chunks`, which never moves.
final class PageSpace: @unchecked Sendable {
    let chunks: Chunks
    /// The permanent pages that all groups of rows use as leaves without content. Their headers state epoch 0, and they are never released.
    @exclusivity(unchecked) private(set) var constants = ConstantPages()
    // One thread at a time allocates and releases pages. So no two accesses to the following properties overlap, and the runtime need not
    // check them.
    @exclusivity(unchecked) private(set) var liveGranules = 0
    /// The number of granules (16 bytes each) that pages in frozen chunks use. Nothing is written to a frozen chunk. All other pages are in
    /// open chunks.
    @exclusivity(unchecked) var frozenGranules = 0
    @exclusivity(unchecked) var chunkCount = 0
    /// For each chunk, the number of granules (16 bytes each) in use by its pages.
    let live: UnsafeMutablePointer<UInt16>
    /// The epoch of the last freeze. Pages whose birth is this epoch or earlier lie in frozen chunks, to which nothing is written.
    @exclusivity(unchecked) var frozenEpoch: UInt64 = 0
    /// The chunks in which pages are allocated and reused.
    @exclusivity(unchecked) var openChunks: [UInt32] = []
    /// The empty chunks that `mayUse` permits writers to use again. The last chunk in the list is opened first.
    @exclusivity(unchecked) var emptyChunks: [UInt32] = []
    /// The chunks that a checkpoint in progress has taken for its table. The chunks stay in this set until it is known whether a checkpoint
    /// record contains them.
    @exclusivity(unchecked) var tableChunks: Set<Int> = []
    /// The owners of chunks besides the versions of this process: kept checkpoint records, and graphs of closed stores.
    @exclusivity(unchecked) var owners = ChunkOwners.none
    @exclusivity(unchecked) var memories = ChunkMemories.none
    /// Counts the slow queries on the graphs of this space.
    let slowQueries = SlowQueries()
    /// Supplies the stored chunks that no thread has touched yet; `nil` if no chunk was stored.
    let source: (any ChunkSource)?
    /// The epoch of the stored pages: each of them was created in this epoch or earlier.
    let storedEpoch: UInt64
    /// Whether the stored graph has been proven valid, or no page was stored. Pages of a graph that has not been proven valid are checked
    /// when they are read.
    @exclusivity(unchecked) var isProven: Bool

    /// For each size of a page in granules of 16 bytes, the first free page.
    let freeHeads: UnsafeMutablePointer<PageRef>
    @exclusivity(unchecked) var cursor = 0
    @exclusivity(unchecked) var cursorEnd = 0
    /// Empty lists of pages. Later drafts use the memory of these lists again.
    @exclusivity(unchecked) private var spareLists: [PageList] = []
    /// Memory for the cells that an op stores, kept for the next op.
    @exclusivity(unchecked) var spareCells = SpareArray<AssignedCell>()
    /// Memory for the values that an op assigns, kept for the next op.
    @exclusivity(unchecked) var spareAssignments = SpareArray<Assignment>()
    let memory: PageMemory
    /// The storage that holds chunks that do not fit into the memory budget; `nil` if there is no storage.
    @exclusivity(unchecked) var storage: (any PageStorage)?
    @exclusivity(unchecked) var capacity = PageCapacity.standard
    @exclusivity(unchecked) var mappings = MappingBudget()
    /// The memory for changes to ordered indexes; `nil` before the first change. Later drafts reuse the memory.
    @exclusivity(unchecked) private var knownOrderedWork: OrderedWork?
    /// The numbers for the hashes in the indexes of all graphs of the space; `nil` before the space has a graph.
    @exclusivity(unchecked) private(set) var hashNumbers: OwnedHashNumbers?
    /// An object that must exist as long as the pages of this space. The space only keeps a reference to the object.
    @exclusivity(unchecked) var companion: AnyObject?

    /// - Parameter root: The properties of the stored pages; `nil` for a new space.
    init(_ root: StoredSpace? = nil, budget: MemoryBudget = .standard) {
        memory = PageMemory(budget: budget)
        chunks = Chunks(in: PageMemory.map(Chunks.byteCount))
        live = PageMemory.map(Self.liveByteCount).assumingMemoryBound(to: UInt16.self)
        freeHeads = .allocate(capacity: PageLayout.chunkGranules + 1)
        freeHeads.initialize(repeating: 0, count: PageLayout.chunkGranules + 1)
        source = root?.source
        storedEpoch = root?.epoch ?? 0
        isProven = root == nil
        chunks[chunk: Chunks.spacePlace] = Unmanaged.passUnretained(self).toOpaque()
        guard let root else {
            constants = ConstantPages(in: self)
            return
        }
        chunkCount = root.live.count
        for (chunk, count) in root.live.enumerated() { live[chunk] = count }
        memories = .source(count: chunkCount)
        liveGranules = root.live.reduce(0) { $0 + Int($1) }
        frozenGranules = liveGranules
        frozenEpoch = root.epoch
        constants = ConstantPages.stored
    }

    /// Sets the numbers for hashes. The first graph of the space calls this method before its indexes are used.
    func setHashNumbers(_ numbers: HashNumbers) {
        let owned = OwnedHashNumbers(numbers)
        hashNumbers = owned
        chunks[chunk: Chunks.hashNumbersPlace] = owned.address
    }

    deinit {
        freeHeads.deallocate()
        munmap(chunks.memory, Chunks.byteCount)
        munmap(live, Self.liveByteCount)
    }

    /// The memory for changes of ordered indexes.
    var orderedWork: OrderedWork {
        if let knownOrderedWork { return knownOrderedWork }
        let work = OrderedWork()
        knownOrderedWork = work
        return work
    }

    private static let liveByteCount = PageLayout.chunkCountMax * MemoryLayout<UInt16>.stride
    /// The number of bytes that a space maps for its tables and its first pages. The static space of `ConstantPages.stored` takes the same
    /// number for a moment.
    static let byteCountMin = 2 * (Chunks.byteCount + liveByteCount + (2 << 20))

    /// Allocates a page of `granules` x 16 bytes. The content of the page after the header is undefined.
    @inline(__always)
    func allocate(granules: Int, kind: PageKind, birth: UInt64) -> PageRef {
        allocate(tail: UInt64(UInt16(truncatingIfNeeded: granules)) | UInt64(kind.rawValue) << 16, granules: granules, birth: birth)
    }

    /// Allocates a page of `granules` x 16 bytes, as `allocate(granules:kind:birth:)` does.
    ///
    /// - Parameter tail: The second half of the header, which contains the size and the kind.
    @inline(__always)
    func allocate(tail: UInt64, granules: Int, birth: UInt64) -> PageRef {
        // SAFETY: a page is not larger than a chunk, and `freeHeads` has an element for each size up to that of a chunk.
        precondition(granules <= PageLayout.chunkGranules)
        let head = freeHeads[granules]
        let page = head != 0 ? head : carve(granules)
        let header = PageHeader(chunks[page])
        if head != 0 { freeHeads[granules] = header.nextFree }
        liveGranules &+= granules
        live[Int(page &>> 12)] &+= UInt16(truncatingIfNeeded: granules)
        header.birth = birth
        header.tail = tail
        return page
    }

    /// Releases a page. If the page is in a frozen chunk, only the counts change. Debug builds overwrite the page, and usually do not reuse
    /// it, so that a use after the release is noticed.
    @inline(__always)
    func release(_ page: PageRef) {
        let header = PageHeader(chunks[page])
        let granules = header.granules
        liveGranules &-= granules
        live[Int(page &>> 12)] &-= UInt16(truncatingIfNeeded: granules)
        if header.birth <= frozenEpoch {
            frozenGranules &-= granules
            return
        }
        header.markFree()
        #if DEBUG
            memset(header.page + PageLayout.header, 0xDB, (granules - 1) * PageLayout.granule)
            // A space with few chunks must reuse pages even in debug builds, because it would soon be full.
            if capacity.chunkCountMax == PageCapacity.standard.chunkCountMax { return }
        #endif
        header.nextFree = freeHeads[granules]
        freeHeads[granules] = page
    }

    /// Returns an empty list of pages. Each draft needs two lists, and a list that was used earlier need not allocate memory again.
    func takeList() -> PageList { spareLists.popLast() ?? PageList() }

    /// Keeps the memory of a list for a later draft.
    func recycle(_ list: inout PageList) {
        guard list.capacity > 0, list.capacity <= Self.spareListCapacityMax, spareLists.count < Self.spareListCountMax else { return }
        list.removeAll()
        spareLists.append(list)
        list = PageList()
    }

    /// The maximum number of lists that are kept for later drafts.
    private static let spareListCountMax = 256
    /// A list with a capacity above this number is not kept for later drafts. Each version that a reader holds contains such a list, so
    /// large lists would take much memory.
    private static let spareListCapacityMax = 256

    @inline(never)
    private func carve(_ granules: Int) -> PageRef {
        if cursor + granules > cursorEnd {
            keepRemainder()
            cursor = addChunk() * PageLayout.chunkGranules
            cursorEnd = cursor + PageLayout.chunkGranules
            // Reference 0 means no page, so the first granule of the first chunk remains unused.
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
        let header = PageHeader(chunks[page])
        header.birth = .max
        header.tail = UInt64(rest)
        header.nextFree = freeHeads[rest]
        freeHeads[rest] = page
    }

    private func addChunk() -> Int {
        let chunk: Int
        if let empty = emptyChunks.popLast() {
            chunk = Int(empty)
        } else {
            skipOwnedChunks()
            Trap.unless(
                chunkCount < capacity.chunkCountMax,
                "The graph ran out of pages in the middle of a change. Change fewer objects in one transaction.")
            chunk = chunkCount
            chunkCount += 1
        }
        giveMemory(chunk)
        memory.unpublishedChunkCount += 1
        openChunks.append(UInt32(chunk))
        return chunk
    }

    /// Skips new chunks that another owner still uses, such as a graph of a closed store. Later, these chunks become empty chunks of this
    /// space.
    private func skipOwnedChunks() {
        while chunkCount < PageLayout.chunkCountMax, !mayUse(chunkCount) {
            if chunkCount == memories.count { memories.append(.none) }
            chunkCount += 1
        }
    }
}

/// A checkpoint has a table with an entry for each chunk. If the table is too large for the checkpoint record, some chunks contain parts of
/// the table instead of pages. See Docs/Formats/CHECKPOINTS.md, "Checkpoint records".
extension PageSpace {
    /// Takes chunks for the table of a checkpoint. No page is placed in these chunks until `reuse` is called. Call this method only between
    /// two drafts.
    ///
    /// The method takes the empty chunks that would be opened last, and then new chunks. The method does not use the reserve for deletions.
    /// If only the reserve is left, the method takes chunks beyond the chunks that pages may use.
    ///
    /// If the table does not fill a chunk, the rest of the chunk must take no disk space. So the method first releases the disk space of
    /// the chunk.
    ///
    /// - Returns: The chunks, in ascending order; `nil` if there are too few. Complexity: O(empty chunks).
    func takeTableChunks(_ count: Int) -> [Int]? {
        let spareCount = min(count, max(0, freeChunkCount - capacity.reserveChunkCount))
        var taken = takeEmptyChunks(spareCount)
        while taken.count < spareCount, chunkCount < capacity.chunkCountMax {
            if let chunk = addEmptyChunk() { taken.append(chunk) }
        }
        if taken.count < count { takeBeyondPages(count, &taken) }
        guard taken.count == count else {
            emptyChunks.insert(contentsOf: taken.filter { $0 < capacity.chunkCountMax }.map(UInt32.init), at: 0)
            return nil
        }
        tableChunks.formUnion(taken)
        return taken.sorted()
    }

    private func takeEmptyChunks(_ count: Int) -> [Int] {
        var taken: [Int] = []
        var kept: [UInt32] = []
        for (place, chunk) in emptyChunks.enumerated() {
            if taken.count == count {
                emptyChunks = kept + emptyChunks[place...]
                return taken
            }
            let memory = memories[Int(chunk)]
            let isLent = memory == .none || memory == .lent
            if isLent || mayLend(Int(chunk)) {
                // Without this call, a chunk that is mapped from the file would keep its disk space.
                if !isLent { lend(Int(chunk)) }
                taken.append(Int(chunk))
            } else {
                kept.append(chunk)
            }
        }
        emptyChunks = kept
        return taken
    }

    /// Adds the next new chunk to the space. Returns `nil` if `mayUse` refuses the chunk, because another owner still needs it, such as a
    /// graph of a closed store. The space contains the chunk in this case, too, and can use it later.
    private func addEmptyChunk() -> Int? {
        let chunk = chunkCount
        if chunk == memories.count { memories.append(.none) }
        chunkCount += 1
        return mayUse(chunk) ? chunk : nil
    }

    private func takeBeyondPages(_ count: Int, _ taken: inout [Int]) {
        var new: [UInt32] = []
        while chunkCount < capacity.chunkCountMax {
            if let chunk = addEmptyChunk() { new.append(UInt32(chunk)) }
        }
        emptyChunks.insert(contentsOf: new.reversed(), at: 0)
        for chunk in capacity.chunkCountMax..<chunkCount where taken.count < count && mayUse(chunk) { taken.append(chunk) }
        while taken.count < count, chunkCount < PageLayout.chunkCountMax {
            if let chunk = addEmptyChunk() { taken.append(chunk) }
        }
    }
}
