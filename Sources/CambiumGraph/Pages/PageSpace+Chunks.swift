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

/// Whose file a space's chunks are in, or will be: chunk `c` at byte `c` x 65,536. One thread at a time.
package protocol PageStorage: AnyObject, Sendable {
    /// The address of 65,536 bytes for a chunk that are the file's: what is written there the system writes to the file. They stay there as
    /// long as this does. Nil where the file has no room.
    func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer?
    /// Puts a chunk of the file in the place of memory, whatever is there, and takes room on disk for it. False where that cannot be
    /// done.
    func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool
    /// Puts the file in the place of memory that is the same as chunks of it. False where that cannot be done.
    func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool
    /// Gives back the room on disk of chunks that nobody needs, until they are stored or mapped again.
    func discard(_ chunks: Range<Int>)
}

/// What the memory of a chunk is.
enum ChunkMemory: UInt8 {
    case none
    case heap
    /// Memory that the system has until it is touched; and the file has no room for the chunk.
    case lent
    /// The file that the space's storage has.
    case file
    /// What the space's source supplies.
    case source
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

    /// Has chunks used again that have no page in use and that nobody else needs, and no others.
    ///
    /// - Parameter empty: ascending.
    func setEmpty(_ empty: [Int]) {
        // Those that are opened first are at the end.
        emptyChunks = empty.reversed().map(UInt32.init)
        // What was needed once is not kept for ever.
        var discarded = 0..<0
        for chunk in empty.dropFirst(Self.spareChunkCount) where memories[chunk] != .lent && memories[chunk] != .none {
            if chunk != discarded.upperBound {
                storage?.discard(discarded)
                discarded = chunk..<chunk
            }
            discarded = discarded.lowerBound..<chunk + 1
            lend(chunk)
        }
        storage?.discard(discarded)
    }

    /// A chunk keeps its address, or each use of it would take another one, and an entry in the system's table.
    private func lend(_ chunk: Int) {
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
    private static let spareChunkCount = 256

    /// Gives a chunk that is empty or new memory that can be written: that of a file where the budget has none left.
    func giveMemory(_ chunk: Int) {
        if chunk == memories.count { memories.append(.none) }
        switch memories[chunk] {
        case .heap: break
        case .file:
            // Nobody reads what was there: no version reaches it. Where memory is short it stays the file's.
            if let base = chunks[chunk: chunk], memory.putBack(base) { memories[chunk] = .heap }
        case .lent: memories[chunk] = takeLent(chunk)
        case .none, .source:
            memories[chunk] = .heap
            if let base = memory.takeChunk(isForced: false) {
                chunks[chunk: chunk] = base
            } else if let base = storage?.memory(ofChunk: chunk) {
                chunks[chunk: chunk] = base
                memories[chunk] = .file
            } else {
                chunks[chunk: chunk] = memory.takeChunk(isForced: true)
            }
        }
    }

    private func takeLent(_ chunk: Int) -> ChunkMemory {
        if memory.takeLent(isForced: false) { return .heap }
        if let storage {
            if let base = chunks[chunk: chunk], storage.place(chunk, at: base) { return .file }
            if let base = storage.memory(ofChunk: chunk) {
                chunks[chunk: chunk] = base
                return .file
            }
        }
        _ = memory.takeLent(isForced: true)
        return .heap
    }

    /// Has the file take the place of the memory of frozen chunks that are stored in it. What is read there stays the same.
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
            // Neighbours in memory and in the file take one call, and one entry in the system's table.
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
