#if canImport(Glibc)
    import Glibc
#endif

/// What supplies the chunks of a space that was stored. Any thread.
package protocol ChunkSource: AnyObject, Sendable {
    /// The address of 65,536 bytes that are what was stored and stay there as long as the source does. Does not return where they
    /// cannot be supplied.
    func chunk(_ index: Int) -> UnsafeMutableRawPointer
    /// Whether a chunk that both sources have is one chunk of one file, which nobody writes to as long as either source exists.
    func suppliesSameChunks(as other: any ChunkSource) -> Bool
    /// Ends the process, because what was stored is no graph.
    func refuse(_ reason: String) -> Never
}

/// The file that a space's chunks are in, or will be: chunk `c` at byte `c` x 65,536. One thread at a time.
package protocol PageStorage: AnyObject, Sendable {
    /// The address of 65,536 bytes for a chunk in the window of the file: the system writes to the file what is written there. They stay
    /// there as long as this object exists. Returns `nil` if the disk is full.
    func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer?
    /// Maps a chunk of the file in the place of memory, whatever it holds, and takes disk space for it. Returns `false` if it cannot.
    func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool
    /// Maps chunks of the file in the place of memory with the same content. Returns `false` if it cannot.
    func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool
    /// Takes note that chunks which nobody needs have no disk space until they are stored or mapped again.
    ///
    /// - Returns: what releases the disk space. Any thread may call it while nobody stores or maps the chunks. `nil` if they have none.
    func discard(_ chunks: Range<Int>) -> (@Sendable () -> Void)?
}

/// The memory of a chunk.
enum ChunkMemory: UInt8 {
    case none
    case heap
    /// An address on the heap whose memory the system has until it is touched. The file has no disk space for the chunk.
    case lent
    /// The file of the space's storage, mapped in the place of memory of the heap.
    case file
    /// The chunk's place in the window of the space's storage.
    case window
    /// What the space's source supplies.
    case source

    /// Whether the system writes to the storage's file what is written there.
    var isStorage: Bool { self == .file || self == .window }
    /// Whether what is there is a file's: of the storage or of the source.
    var isMapped: Bool { isStorage || self == .source }
}

/// What is known of a space that was stored.
struct StoredSpace {
    /// For each chunk, the granules in use.
    let live: [UInt16]
    /// All its pages were born then or before.
    let epoch: UInt64
    let source: any ChunkSource
}

/// Docs/CHECKPOINTS.md tells what becomes of chunks.
extension PageSpace {
    /// The address of a chunk that is touched for the first time since the space was opened.
    func supply(_ chunk: Int) -> UnsafeMutableRawPointer {
        let (base, flaw) = supplied(chunk)
        if let flaw { refuse(flaw) }
        chunks[chunk: chunk] = base
        return base
    }

    /// The address of a chunk that was stored, and what is wrong with the headers of its pages. Any thread.
    func supplied(_ chunk: Int) -> (base: UnsafeMutableRawPointer, flaw: String?) {
        guard let source else { preconditionFailure("A page refers to a chunk that this space does not have.") }
        let base = source.chunk(chunk)
        let flaw = withUnsafeTemporaryAllocation(of: UInt64.self, capacity: PageMap.wordCount) { words in
            words.initialize(repeating: 0)
            return PageMap.read(chunk, at: base, epoch: storedEpoch, to: words)
        }
        return (base, flaw.map { "chunk \(chunk) is not cut into pages: \($0)" })
    }

    /// Refuses a page of a graph that is not proven, if it cannot be copied and written to, or let go of.
    ///
    /// - Parameters:
    ///   - wanted: what the page has to be; `nil` for any kind.
    ///   - byteCount: what it has to hold at least.
    @inline(never) func checkCopied(_ page: PageRef, _ pointer: UnsafeMutableRawPointer, _ wanted: PageKind?, _ byteCount: Int) {
        let isSource = memories[Int(page >> 12)] == .source
        let granules = Int(pointer.load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self))
        guard let kind = PageKind(rawValue: pointer.load(fromByteOffset: PageLayout.kindOffset, as: UInt8.self)), kind != .free,
            wanted ?? kind == kind, granules >= max(kind.granuleCountMin, PageLayout.granules(byteCount)),
            Int(page & 4095) + granules <= PageLayout.chunkGranules,
            !isSource || pointer.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self) <= storedEpoch
        else { refuse("reference \(page) leads to no page") }
        if !isSource { return }
        switch kind {
        case .bucket where !Bucket(pointer).isConsistent: refuse("bucket \(page) miscounts its entries")
        case .indexInner where !OrderedInner(pointer).isConsistent: refuse("node \(page) of an index is none")
        case .indexLeaf where !OrderedLeaf(pointer).isConsistent: refuse("leaf \(page) of an index is none")
        case .stringLeaf where !StringLeaf.isConsistent(pointer): refuse("leaf \(page) has values outside its heap")
        default: break
        }
    }

    /// Ends the process: what a page says cannot be. A graph that is proven is what drafts have made of it, or what a caller takes for it.
    func refuse(_ reason: String) -> Never {
        guard let source, !isProven else { preconditionFailure("The graph is not one, or the place is of another graph: \(reason).") }
        source.refuse(reason)
    }

    /// Ends all open chunks: nothing is written into them from here on. Between two drafts only.
    ///
    /// - Parameter epoch: that of the newest version.
    /// - Returns: the chunks that were open and have pages in use.
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

    /// Opens chunks again that have no page in use and that nobody else needs, and no others.
    ///
    /// - Parameters:
    ///   - empty: ascending.
    ///   - spareCount: how many of them keep their memory and their disk space.
    /// - Returns: those that lose it. The caller calls `take` and `releaseTaken` by turns until that is done.
    func setEmpty(_ empty: [Int], spareCount: Int = PageSpace.spareChunkCount) -> ChunkRelease {
        // Those that are opened first are at the end.
        emptyChunks = empty.reversed().map(UInt32.init)
        return ChunkRelease(spareCount: spareCount, isDone: empty.count <= spareCount)
    }

    /// Puts back the chunks that the last call took, and takes the next empty chunks that have memory or disk space. The caller releases
    /// these before it calls again. Writers cannot open a chunk while it is taken.
    ///
    /// Complexity: O(1) looks at chunks, and two moves of at most 4 bytes for each empty chunk.
    func take(_ rest: inout ChunkRelease) {
        putBack(&rest)
        let end = max(0, emptyChunks.count - rest.spareCount)
        let lookEnd = min(end, rest.next + ChunkRelease.lookCountMax)
        while rest.next < lookEnd, !hasMemory(Int(emptyChunks[rest.next])) { rest.next += 1 }
        // Writers may have opened chunks, so that fewer are left than were looked at.
        if rest.next >= lookEnd {
            rest.isDone = rest.next >= end
            return
        }
        // Neighbours, so that the chunks after them are moved once. Some of them may have nothing to release.
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
        // Where they were, but before the chunks that keep what they have.
        rest.next = min(rest.next, emptyChunks.count)
        emptyChunks.insert(contentsOf: rest.taken, at: rest.next)
        rest.next += rest.taken.count
        (rest.taken, rest.released, rest.memory, rest.disk) = ([], [], [], DiskRelease())
    }

    /// Takes note that chunks have no disk space, neighbours together.
    ///
    /// - Parameter chunks: ascending.
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

    /// A chunk of the heap keeps its address, or each use of it would take another one.
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

    /// Empty chunks that keep their memory: 16 MiB.
    static let spareChunkCount = 256

    /// Gives a chunk that is empty or new memory that can be written: that of a file if the budget has none left.
    func giveMemory(_ chunk: Int) {
        if chunk == memories.count { memories.append(.none) }
        switch memories[chunk] {
        case .heap, .window: break
        case .file:
            // Nobody reads what was there: no version reaches it. If memory is short it stays the file's.
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

    /// Maps the file in the place of the memory of frozen chunks that are stored in it. Readers see the same bytes.
    ///
    /// - Parameter stored: ascending.
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
            // Neighbours in memory and in the file take one call, and one mapping.
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

    /// Bytes of pages that can be carved in the chunks that are open.
    var freeByteCount: Int {
        openChunks.count * PageLayout.chunkByteCount - openChunks.reduce(0) { $0 + Int(live[Int($1)]) } * PageLayout.granule
    }
}
