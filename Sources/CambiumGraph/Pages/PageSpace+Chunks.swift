import CambiumBytes
import Glibc

/// Supplies the chunks of a page space that was opened from stored pages. Any thread may call its methods.
package protocol ChunkSource: AnyObject, Sendable {
    /// Returns the address of the 65,536 stored bytes of a chunk. The bytes stay at this address as long as the source exists. The method
    /// ends the process if the bytes cannot be supplied.
    func chunk(_ index: Int) -> UnsafeMutableRawPointer
    /// Returns whether both sources read the same file. If so, a chunk has the same bytes in both, and no process may write to it while one
    /// of the sources exists.
    func suppliesSameChunks(as other: any ChunkSource) -> Bool
    /// Ends the process because the stored pages do not form a graph.
    func refuse(_ reason: String) -> Never
}

/// The page file of a space, in which chunk `c` lies at byte `c` x 65,536. One thread at a time may use the object.
package protocol PageStorage: AnyObject, Sendable {
    /// Returns the address of the 65,536 bytes of a chunk in the window, a mapping of the whole file. The kernel writes changed bytes to
    /// the file. The bytes stay at this address as long as this object exists. Returns `nil` if the disk is full.
    func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer?
    /// Maps a chunk of the file at an address, and allocates disk space for the chunk. The memory at the address loses its content. Returns
    /// `false` if the mapping fails.
    func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool
    /// Maps chunks of the file at an address whose memory has the same content. Returns `false` if the mapping fails.
    func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool
    /// Records that the given chunks are not needed. The caller releases their disk space with the returned closure. A chunk gets disk
    /// space again when it is stored or mapped.
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
    /// A heap address. The file of pages is mapped there.
    case file
    /// An address in the window of the space's storage, a mapping of the storage's whole file.
    case window
    /// Memory from the space's source, which reads the stored pages.
    case source

    /// Whether the kernel writes changes in the memory to the storage's file.
    var isStorage: Bool { self == .file || self == .window }
    /// Whether the bytes are in a file of the storage or of the source.
    var isMapped: Bool { isStorage || self == .source }
}

/// The properties of a page space that is opened from stored pages.
struct StoredSpace {
    /// For each chunk, the number of granules (16 bytes each) in use.
    let live: [UInt16]
    /// The epoch of the stored pages: each of them was created in this epoch or earlier.
    let epoch: UInt64
    let source: any ChunkSource
}

/// Gives memory to chunks, and releases the memory. Docs/Formats/CHECKPOINTS.md describes the life of a chunk.
extension PageSpace {
    /// Returns the address of a chunk that is touched for the first time since the space was opened, and stores the address in `chunks`.
    func supply(_ chunk: Int) -> UnsafeMutableRawPointer {
        let (base, flaw) = supplied(chunk)
        if let flaw { refuse(flaw) }
        chunks[chunk: chunk] = base
        return base
    }

    /// Returns the address of a stored chunk, and the flaw in the headers of its pages. The flaw is `nil` if the headers are valid. Any
    /// thread may call this method.
    func supplied(_ chunk: Int) -> (base: UnsafeMutableRawPointer, flaw: String?) {
        guard let source else { preconditionFailure("A page must not refer to a chunk that its space does not have.") }
        let base = source.chunk(chunk)
        let flaw = withUnsafeTemporaryAllocation(of: UInt64.self, capacity: PageMap.wordCount) { words in
            words.initialize(repeating: 0)
            return PageMap.read(chunk, at: base, epoch: storedEpoch, to: words)
        }
        return (base, flaw.map { "chunk \(chunk) is not divided into pages: \($0)" })
    }

    /// Checks a page before a draft copies or discards it. The check is needed in a graph that has not been proven valid. Ends the process
    /// if the page is invalid.
    ///
    /// - Parameters:
    ///   - wanted: The kind that the page must have; `nil` for any kind.
    ///   - byteCount: The number of bytes for which the page must have space.
    @inline(never) func checkCopied(_ page: PageRef, _ pointer: UnsafeMutableRawPointer, _ wanted: PageKind?, _ byteCount: Int) {
        let isSource = memories[Int(page >> 12)] == .source
        let granules = PageHeader(pointer).granules
        guard let kind = PageHeader(pointer).kind, kind != .free,
            wanted ?? kind == kind, granules >= max(kind.granuleCountMin, PageLayout.granules(byteCount)),
            Int(page & 4095) + granules <= PageLayout.chunkGranules,
            !isSource || PageHeader(pointer).birth <= storedEpoch
        else { refuse("reference \(page) does not lead to a valid page") }
        if !isSource { return }
        switch kind {
        case .bucket where !Bucket(pointer).isConsistent: refuse("bucket \(page) states a wrong number of entries")
        case .indexInner where !OrderedInner(pointer).isConsistent: refuse("page \(page) is not a valid node of an index")
        case .indexLeaf where !OrderedLeaf(pointer).isConsistent: refuse("page \(page) is not a valid leaf of an index")
        case .stringLeaf where !StringLeaf(pointer).isConsistent: refuse("leaf \(page) has values outside its heap")
        default: break
        }
    }

    /// Ends the process because the content of a page is impossible. In a graph that has not been proven valid, the stored pages may be the
    /// cause. Otherwise, a draft has a defect, or a caller passed a place (the position of a row) that is from another graph.
    func refuse(_ reason: String) -> Never {
        guard let source, !isProven else {
            Trap.because(
                "The caller passed a place of another graph, or the graph is invalid: \(reason). Pass a place only to the graph that "
                    + "returned the place.")
        }
        source.refuse(reason)
    }

    /// Freezes all open chunks: nothing is written to them until they are empty and opened again. Call this method only between two drafts.
    ///
    /// - Parameter epoch: The epoch of the newest version.
    /// - Returns: The chunks that were open and have pages in use.
    func freeze(epoch: UInt64) -> [Int] {
        keepRemainder()
        (cursor, cursorEnd) = (0, 0)
        freeHeads.update(repeating: 0, count: PageLayout.chunkGranules + 1)
        frozenEpoch = epoch
        frozenGranules = liveGranules
        let frozen = openChunks.map(Int.init)
        openChunks = []
        emptyChunks += frozen.filter { live[$0] == 0 }.map(UInt32.init)
        return frozen.filter { live[$0] > 0 }
    }

    /// The number of empty chunks that keep their memory: 16 MiB.
    static let spareChunkCount = 256

    /// Provides writable memory for an empty or new chunk. If the memory budget is exhausted and `storage` is not `nil`, maps the
    /// storage's file instead.
    func giveMemory(_ chunk: Int) {
        if chunk == memories.count { memories.append(.none) }
        switch memories[chunk] {
        case .heap, .window: break
        case .file:
            // No version reaches the old content of the chunk, so this content need not be kept. If memory is scarce, the chunk stays a
            // mapping of the file.
            if let base = chunks[chunk: chunk], mappings.mayCut(counted: countCuts), memory.putBack(base) { memories[chunk] = .heap }
        case .lent: memories[chunk] = takeLent(chunk)
        case .none where memory.isLimited, .source where memory.isLimited:
            chunks[chunk: chunk] = memory.takeAddress()
            memories[chunk] = takeLent(chunk)
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
    /// - Parameter stored: The chunks, in ascending order.
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
                memory.trackGone(chunkCount: count)
            }
            index += count
        }
    }

    /// The number of bytes in open chunks that are free for pages. In a store in memory, all chunks are open, so the number is computed
    /// from counts instead of from the chunks. Complexity: O(1).
    var freeByteCount: Int { openChunks.count * PageLayout.chunkByteCount - (liveGranules - frozenGranules) * PageLayout.granule }
}
