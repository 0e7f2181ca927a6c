#if canImport(Glibc)
    import Glibc
#endif

/// What supplies the chunks of a space that was stored. Any thread.
package protocol ChunkSource: AnyObject, Sendable {
    /// The address of 65,536 bytes that are what was stored and stay there as long as the source does. Does not return where they
    /// cannot be supplied.
    func chunk(_ index: Int) -> UnsafeMutableRawPointer
}

/// What the memory of a chunk is.
enum ChunkMemory: UInt8 {
    case none
    case heap
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
        guard let source else { preconditionFailure("A page refers to a chunk that this space does not have.") }
        let base = source.chunk(chunk)
        chunks.table[chunk] = base
        return base
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
    func setEmpty(_ empty: [Int]) {
        // Those that are opened first are at the end.
        emptyChunks = empty.reversed().map(UInt32.init)
    }

    /// Gives a chunk that is empty or new memory that can be written.
    func giveMemory(_ chunk: Int) {
        if chunk == memories.count { memories.append(.none) }
        if memories[chunk] != .heap { chunks.table[chunk] = takeMemory() }
        memories[chunk] = .heap
    }

    /// Bytes of pages that can be carved without asking the system for memory.
    var unusedByteCount: Int {
        let used = openChunks.reduce(0) { $0 + Int(live[Int($1)]) } * PageLayout.granule
        let prepared = preparedRegions.reduce(0) { $0 + $1.byteCount }
        return (openChunks.count + regionChunksLeft) * PageLayout.chunkByteCount + prepared - used
    }
}
