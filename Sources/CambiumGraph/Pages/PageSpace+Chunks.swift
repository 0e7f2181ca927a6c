#if canImport(Glibc)
    import Glibc
#endif

/// Supplies the chunks of a page space that was opened from stored pages. Any thread may call it.
package protocol ChunkSource: AnyObject, Sendable {
    /// Returns the address of the 65,536 stored bytes of a chunk. They stay there as long as the source exists. The method ends the process
    /// if the bytes cannot be supplied.
    func chunk(_ index: Int) -> UnsafeMutableRawPointer
    /// Returns whether both sources read the same file. If so, a chunk has the same bytes in both, and no process may write to it while one
    /// of the sources exists.
    func suppliesSameChunks(as other: any ChunkSource) -> Bool
    /// Ends the process because the stored pages do not form a graph.
    func refuse(_ reason: String) -> Never
}

/// The page file of a space, in which chunk `c` lies at byte `c` x 65,536. One thread at a time may use the object.
package protocol PageStorage: AnyObject, Sendable {
    /// Returns the address of the 65,536 bytes of a chunk in the window, a mapping of the whole file. The kernel writes changes of these
    /// bytes to the file. The bytes stay there as long as this object exists. Returns `nil` if the disk is full.
    func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer?
    /// Maps a chunk of the file at an address, and allocates disk space for it. The content of the memory there is lost. Returns `false` if
    /// that fails.
    func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool
    /// Maps chunks of the file at an address whose memory has the same content. Returns `false` if that fails.
    func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool
    /// Records that these chunks are not needed. They have no disk space until they are stored or mapped again.
    ///
    /// - Returns: A closure that releases the disk space; `nil` if there is nothing to release. Any thread may call the closure while no
    ///   thread stores or maps the chunks.
    func discard(_ chunks: Range<Int>) -> (@Sendable () -> Void)?
}

/// The kind of memory that a chunk has.
enum ChunkMemory: UInt8 {
    case none
    case heap
    /// A heap address whose memory was lent to the kernel until a thread touches it. The chunk has no disk space.
    case lent
    /// The file of the space's storage, mapped instead of heap memory.
    case file
    /// The window of the storage, a mapping of its whole file.
    case window
    /// Memory that the space's source supplies.
    case source

    /// Whether the kernel writes changes of the memory to the storage's file.
    var isStorage: Bool { self == .file || self == .window }
    /// Whether the bytes are in a file of the storage or of the source.
    var isMapped: Bool { isStorage || self == .source }
}

/// The properties of a space that is opened from stored pages.
struct StoredSpace {
    /// For each chunk, the number of granules in use.
    let live: [UInt16]
    /// The epoch of the stored pages: all of them were born in it or earlier.
    let epoch: UInt64
    let source: any ChunkSource
}

/// Gives chunks memory and releases it. Docs/CHECKPOINTS.md describes the life of a chunk.
extension PageSpace {
    /// Returns the address of a chunk that is touched for the first time since the space was opened, and stores it in the table.
    func supply(_ chunk: Int) -> UnsafeMutableRawPointer {
        let (base, flaw) = supplied(chunk)
        if let flaw { refuse(flaw) }
        chunks[chunk: chunk] = base
        return base
    }

    /// Returns the address of a stored chunk, and the flaw in the headers of its pages, or `nil` if they are valid. Any thread may call it.
    func supplied(_ chunk: Int) -> (base: UnsafeMutableRawPointer, flaw: String?) {
        guard let source else { preconditionFailure("A page must not refer to a chunk that its space does not have.") }
        let base = source.chunk(chunk)
        let flaw = withUnsafeTemporaryAllocation(of: UInt64.self, capacity: PageMap.wordCount) { words in
            words.initialize(repeating: 0)
            return PageMap.read(chunk, at: base, epoch: storedEpoch, to: words)
        }
        return (base, flaw.map { "chunk \(chunk) is not divided into pages: \($0)" })
    }

    /// Checks a page of a graph that is not proven before a draft copies or discards it. Ends the process if the page is invalid.
    ///
    /// - Parameters:
    ///   - wanted: The kind that the page must have; `nil` for any kind.
    ///   - byteCount: The number of bytes for which the page must have space.
    @inline(never) func checkCopied(_ page: PageRef, _ pointer: UnsafeMutableRawPointer, _ wanted: PageKind?, _ byteCount: Int) {
        let isSource = memories[Int(page >> 12)] == .source
        let granules = Int(pointer.load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self))
        guard let kind = PageKind(rawValue: pointer.load(fromByteOffset: PageLayout.kindOffset, as: UInt8.self)), kind != .free,
            wanted ?? kind == kind, granules >= max(kind.granuleCountMin, PageLayout.granules(byteCount)),
            Int(page & 4095) + granules <= PageLayout.chunkGranules,
            !isSource || pointer.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self) <= storedEpoch
        else { refuse("reference \(page) does not lead to a valid page") }
        if !isSource { return }
        switch kind {
        case .bucket where !Bucket(pointer).isConsistent: refuse("bucket \(page) states a wrong number of entries")
        case .indexInner where !OrderedInner(pointer).isConsistent: refuse("page \(page) is not a valid node of an index")
        case .indexLeaf where !OrderedLeaf(pointer).isConsistent: refuse("page \(page) is not a valid leaf of an index")
        case .stringLeaf where !StringLeaf.isConsistent(pointer): refuse("leaf \(page) has values outside its heap")
        default: break
        }
    }

    /// Ends the process because a page has impossible content. If the graph is proven, the cause is a defect of a draft, or a caller that
    /// uses a place of another graph.
    func refuse(_ reason: String) -> Never {
        guard let source, !isProven else { preconditionFailure("The graph is invalid, or the place belongs to another graph: \(reason).") }
        source.refuse(reason)
    }

    /// Freezes all open chunks: nothing is written to them after this call. Call it only between two drafts.
    ///
    /// - Parameter epoch: The epoch of the newest version.
    /// - Returns: The chunks that were open and have pages in use.
    func freeze(epoch: UInt64) -> [Int] {
        keepRemainder()
        (cursor, cursorEnd) = (0, 0)
        freeHeads.update(repeating: 0, count: PageLayout.chunkGranules + 1)
        frozenEpoch = epoch
        let frozen = openChunks.map(Int.init)
        openChunks = []
        emptyChunks += frozen.filter { live[$0] == 0 }.map(UInt32.init)
        return frozen.filter { live[$0] > 0 }
    }

    /// Lets writers use only the given chunks. They must have no page in use, and no other owner may need them.
    ///
    /// - Parameters:
    ///   - empty: The chunks, ascending.
    ///   - spareCount: The number of these chunks that keep their memory and disk space.
    /// - Returns: The task that releases the memory and disk space of the other chunks. The caller alternately calls `take` and
    ///   `releaseTaken` until the task is done.
    func setEmpty(_ empty: [Int], spareCount: Int = PageSpace.spareChunkCount) -> ChunkRelease {
        // Writers open the last chunk of the list first, so the lowest chunk is the last.
        emptyChunks = empty.reversed().map(UInt32.init)
        return ChunkRelease(spareCount: spareCount, isDone: empty.count <= spareCount)
    }

    /// Puts back the chunks that the last call took, and takes the next empty chunks that have memory or disk space. The caller must
    /// release the taken chunks before the next call. Writers cannot open a chunk while it is taken.
    ///
    /// Complexity: examines O(1) chunks, and moves at most eight bytes for each empty chunk.
    func take(_ rest: inout ChunkRelease) {
        putBack(&rest)
        let end = max(0, emptyChunks.count - rest.spareCount)
        let lookEnd = min(end, rest.next + ChunkRelease.lookCountMax)
        while rest.next < lookEnd, !hasMemory(Int(emptyChunks[rest.next])) { rest.next += 1 }
        // Writers may have opened chunks since the last call, so the list may have become shorter than `rest.next`.
        if rest.next >= lookEnd {
            rest.isDone = rest.next >= end
            return
        }
        // Consecutive chunks of the list are taken together, so that the rest of the list is moved only once. Some of them may have nothing
        // to release.
        let places = rest.next..<min(rest.next + ChunkRelease.stepCountMax, end)
        rest.taken = Array(emptyChunks[places])
        emptyChunks.removeSubrange(places)
        rest.released = rest.taken.map { Int($0) }.filter { mayLend($0) }.sorted()
        rest.memory = []
        for chunk in rest.released where memories[chunk] == .heap || memories[chunk] == .file {
            if let base = chunks[chunk: chunk] { rest.memory.append((base, isFile: memories[chunk] == .file)) }
        }
        rest.disk = discard(rest.released)
    }

    private func hasMemory(_ chunk: Int) -> Bool { memories[chunk] != .none && memories[chunk] != .lent }

    private func putBack(_ rest: inout ChunkRelease) {
        for chunk in rest.released {
            switch memories[chunk] {
            case .heap:
                memory.noteGone(chunkCount: 1)
                memories[chunk] = .lent
            case .file: memories[chunk] = .lent
            default: memories[chunk] = .none
            }
        }
        // The taken chunks return to their position in the list. It must be before the chunks that keep their memory and disk space, even
        // if the list has become shorter.
        rest.next = min(rest.next, emptyChunks.count)
        emptyChunks.insert(contentsOf: rest.taken, at: rest.next)
        rest.next += rest.taken.count
        (rest.taken, rest.released, rest.memory, rest.disk) = ([], [], [], DiskRelease())
    }

    /// Records that these chunks have no disk space, and returns the steps that release it. Consecutive chunks share one step.
    ///
    /// - Parameter chunks: The chunks, ascending.
    func discard(_ chunks: [Int]) -> DiskRelease {
        var release = DiskRelease()
        var discarded = 0..<0
        func end() { if !discarded.isEmpty, let step = storage?.discard(discarded) { release.steps.append(step) } }
        for chunk in chunks {
            if chunk != discarded.upperBound {
                end()
                discarded = chunk..<chunk
            }
            discarded = discarded.lowerBound..<chunk + 1
        }
        end()
        return release
    }

    func mayLend(_ chunk: Int) -> Bool {
        switch memories[chunk] {
        case .none, .lent: false
        case .file: mappings.mayCut(counted: countCuts)
        case .heap, .window, .source: true
        }
    }

    /// Lends the memory of a chunk to the kernel. A heap chunk keeps its address, and its next use takes no new address.
    func lend(_ chunk: Int) {
        switch (memories[chunk], chunks[chunk: chunk]) {
        case (.heap, let base?): memory.lend(base)
        case (.file, let base?): PageMemory.map(PageLayout.chunkByteCount, at: base)
        default:
            memories[chunk] = .none
            return
        }
        memories[chunk] = .lent
    }

    /// The number of empty chunks that keep their memory: 16 MiB.
    static let spareChunkCount = 256

    /// Provides writable memory for an empty or new chunk. If the budget is exhausted, maps the file of the storage instead.
    func giveMemory(_ chunk: Int) {
        if chunk == memories.count { memories.append(.none) }
        switch memories[chunk] {
        case .heap, .window: break
        case .file:
            // No version reaches the old content, so it can be lost. If memory is scarce, the chunk stays a mapping of the file.
            if let base = chunks[chunk: chunk], mappings.mayCut(counted: countCuts), memory.putBack(base) { memories[chunk] = .heap }
        case .lent: memories[chunk] = takeLent(chunk)
        case .none, .source:
            memories[chunk] = .heap
            if let base = memory.takeChunk(isForced: false) {
                chunks[chunk: chunk] = base
            } else if let base = storage?.memory(ofChunk: chunk) {
                chunks[chunk: chunk] = base
                memories[chunk] = .window
            } else {
                chunks[chunk: chunk] = memory.takeChunk(isForced: true)
            }
        }
    }

    private func takeLent(_ chunk: Int) -> ChunkMemory {
        if memory.takeLent(isForced: false) { return .heap }
        if let storage, let base = chunks[chunk: chunk], mappings.mayCut(counted: countCuts), storage.place(chunk, at: base) {
            return .file
        }
        _ = memory.takeLent(isForced: true)
        return .heap
    }

    /// Maps the file at the addresses of stored chunks and releases their memory. The chunks are frozen, so readers see the same bytes.
    ///
    /// - Parameter stored: The chunks, ascending.
    func replace(_ stored: ArraySlice<Int>) {
        guard let storage else { return }
        let open = Set(openChunks)
        var index = stored.startIndex
        while index < stored.endIndex {
            let first = stored[index]
            guard memories[first] == .heap, !open.contains(UInt32(first)), let base = chunks[chunk: first] else {
                index += 1
                continue
            }
            if !mappings.mayCut(counted: countCuts) { return }
            // Chunks that are consecutive both in memory and in the file need only one call and one mapping.
            var count = 1
            while index + count < stored.endIndex, stored[index + count] == first + count, memories[first + count] == .heap,
                !open.contains(UInt32(first + count)), chunks[chunk: first + count] == base + count * PageLayout.chunkByteCount
            { count += 1 }
            if storage.replace(base, chunks: first..<first + count) {
                for chunk in first..<first + count { memories[chunk] = .file }
                memory.noteGone(chunkCount: count)
            }
            index += count
        }
    }

    /// The number of bytes in open chunks that are free for pages.
    var freeByteCount: Int {
        openChunks.count * PageLayout.chunkByteCount - openChunks.reduce(0) { $0 + Int(live[Int($1)]) } * PageLayout.granule
    }
}
