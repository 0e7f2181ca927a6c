import CambiumBytes
package import CambiumModel
import Synchronization

/// A version as it can be stored: which chunks it is in, and what in them is new. Docs/CHECKPOINTS.md.
package struct PageImage: Sendable {
    /// All its pages were born then or before.
    package let epoch: UInt64
    /// Where the page is that everything hangs from.
    package let directory: UInt32
    /// For each chunk, the granules of 16 bytes that the version has in it.
    package let live: [UInt16]

    package init(epoch: UInt64, directory: UInt32, live: [UInt16]) {
        self.epoch = epoch
        self.directory = directory
        self.live = live
    }

    /// Bytes of a chunk.
    package static let chunkByteCount = PageLayout.chunkByteCount
    /// The most granules that a chunk has.
    package static let chunkGranuleCount = PageLayout.chunkGranules
    /// Images with groups of other sizes cannot be opened.
    package static let fanOutShift = PageLayout.fanOutShift
    /// So that there are always later ones.
    private static let epochMax: UInt64 = 1 << 62

    /// Whether a graph can have it: the numbers agree with each other and with what a space holds. The first chunk has the pages that stand
    /// for leaves without content.
    fileprivate var isPossible: Bool {
        let place = Int(directory) / PageLayout.chunkGranules
        return live.count <= PageLayout.chunkCountMax && live.allSatisfy { $0 <= PageLayout.chunkGranules }
            && live.first ?? 0 > 0 && directory > 0 && place < live.count && live[place] > 0 && epoch <= Self.epochMax
    }
}

/// What freezing leaves to be stored.
package struct FrozenPages: Sendable {
    package let image: PageImage
    /// The chunks that were frozen and have to be stored.
    package let fresh: [Int]
    /// Those of them that are in the file already, because their memory is the file's.
    package let inFile: [Int]
    /// The chunks for the table, ascending.
    package let tables: [Int]
    /// The disk space that these had. Released before anything is stored there.
    package let disk: DiskRelease
}

extension Timeline {
    /// A timeline whose newest version is one that was stored. Nothing is rebuilt. Complexity: O(chunks).
    ///
    /// Throws `.damaged` where this program lays the schema out in another way, or no graph has such an image.
    ///
    /// - Parameters:
    ///   - fingerprint: that of the layout of the pages.
    ///   - hasRegister: false for a graph of format 1.
    package convenience init(
        _ image: PageImage, layout fingerprint: UInt64, schema: SchemaCatalog, hasRegister: Bool = true,
        source: any ChunkSource, memory: MemoryBudget = .standard
    ) throws(CambiumError) {
        guard image.isPossible else { throw CambiumError(.damaged, "The checkpoint tells of chunks that cannot be.") }
        let resolved = try Schema(catalog: schema)
        var layout = GraphLayout(resolved, hasRegister: hasRegister)
        if layout.fingerprint != fingerprint { layout = GraphLayout(resolved, hasRegister: hasRegister, hasIndexes: false) }
        guard layout.fingerprint == fingerprint else {
            throw CambiumError(.damaged, "The pages were laid out by another version of this program.")
        }
        // Pages that are made from here on have to be younger than all that are there.
        Self.epochs.max(image.epoch, ordering: .relaxed)
        let space = PageSpace(StoredSpace(live: image.live, epoch: image.epoch, source: source), budget: memory)
        if let flaw = space.supplied(Int(image.directory) / PageLayout.chunkGranules).flaw {
            throw CambiumError(.damaged, "The pages of the checkpoint are not those of a graph: \(flaw).")
        }
        guard Self.isDirectory(image.directory, in: space, layout, epoch: image.epoch) else {
            throw CambiumError(.damaged, "The checkpoint names a page as its directory that is none.")
        }
        let version = Version(epoch: image.epoch, directory: image.directory, layout: layout, space: space)
        self.init(space, version)
    }

    /// What hangs from a directory is found without a look at its header.
    private static func isDirectory(_ page: PageRef, in space: PageSpace, _ layout: GraphLayout, epoch: UInt64) -> Bool {
        let granules = PageLayout.granules(DirectoryPage.byteCount(layout))
        return Int(page) % PageLayout.chunkGranules + granules <= PageLayout.chunkGranules && space.chunks.kind(page) == .directory
            && space.chunks.granules(page) == granules && space.chunks.birth(page) <= epoch
    }

    /// Has nothing written any more into the pages that there are, and returns what the newest version is in. No draft may be under way,
    /// and the version must not be taken back any more.
    ///
    /// Throws `.limitExceeded` if there are no chunks for the table; then nothing is frozen.
    ///
    /// - Parameter tableChunkCount: how many chunks a table of so many entries takes. They have no pages until `reuse` is called next.
    /// Complexity: O(chunks + pages that superseded versions hold).
    package func freeze(
        tableChunkCount: (_ chunkCount: Int) throws(CambiumError) -> Int = { _ in 0 }
    ) throws(CambiumError) -> FrozenPages {
        // In a frozen chunk a page that was released looks as it did: it must not be told twice.
        precondition(!isTentative, "What may be taken back is not frozen.")
        reclaim()
        let (tables, disk) = try takeTableChunks(tableChunkCount)
        let version = head.version
        var live = (0..<space.chunkCount).map { space.live[$0] }
        // What only older versions reach is not in the image.
        for older in pinnedVersions {
            for page in older.dead.elements { live[Int(page >> 12)] -= UInt16(space.chunks.granules(page)) }
        }
        let fresh = space.freeze(epoch: version.epoch).filter { live[$0] > 0 }
        let image = PageImage(epoch: version.epoch, directory: version.directory, live: live)
        return FrozenPages(image: image, fresh: fresh, inFile: fresh.filter { space.memories[$0].isStorage }, tables: tables, disk: disk)
    }

    /// Each chunk that is taken may be a new one, for which the table has another entry.
    private func takeTableChunks(
        _ countOf: (_ chunkCount: Int) throws(CambiumError) -> Int
    ) throws(CambiumError) -> (tables: [Int], disk: DiskRelease) {
        var tables: [Int] = []
        while true {
            let count = try countOf(space.chunkCount) - tables.count
            if count <= 0 { break }
            guard let taken = space.takeTableChunks(count) else {
                throw space.capacity.exhausted("no chunks are left for the table of another checkpoint")
            }
            tables += taken
        }
        if !tables.isEmpty { noteTotals() }
        tables.sort()
        return (tables, space.discard(tables))
    }

    /// The bytes of a frozen chunk. Any thread.
    package func withBytes<Result>(ofChunk chunk: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let base = space.chunks[chunk: chunk] ?? space.supply(chunk)
        return try body(UnsafeRawBufferPointer(start: base, count: PageLayout.chunkByteCount))
    }

    /// Opens the chunks again that neither a version of this process nor one of the owners needs, and no others. Releases what they have
    /// that is not needed soon. Before the first draft, or while nobody waits. Complexity: O(chunks).
    package func reuse(_ owners: ChunkOwners) {
        var rest = beginReuse(owners, keepsSpares: true)
        while !rest.isDone {
            take(&rest)
            rest.releaseTaken()
        }
    }

    /// As `reuse`, except for releasing anything. Only while nobody writes. Complexity: O(chunks).
    ///
    /// - Parameter keepsSpares: whether some MiB of empty chunks keep their memory and disk space for the next changes.
    /// - Returns: what `take` and `releaseTaken` have to be called for by turns until it is done.
    package func beginReuse(_ owners: ChunkOwners, keepsSpares: Bool) -> ChunkRelease {
        defer { noteTotals() }
        return space.reuse(owners, spareCount: keepsSpares ? PageSpace.spareChunkCount : 0)
    }

    /// Takes a MiB of empty chunks for `ChunkRelease.releaseTaken`, and puts back those that were taken before. Only while nobody writes;
    /// others may write before the next call.
    package func take(_ rest: inout ChunkRelease) {
        space.take(&rest)
        noteTotals()
    }

    /// Has memory for the next changes supplied by another thread. Only while nobody writes. Complexity: O(1).
    package func prepareNext() { space.memory.prepareNext() }

    /// The chunks that versions have and that are mapped from a file: from the one that the timeline was opened with, and from the one
    /// that its storage has. Only while nobody writes. Complexity: O(chunks).
    package var mappedChunks: (ofSource: [Int], ofStorage: [Int]) { space.mappedChunks }

    /// Where chunks are that the budget has no memory for. Before the first draft.
    package func keepPages(in storage: any PageStorage) { space.storage = storage }

    /// Keeps something for as long as anybody has the timeline or a graph of it.
    package func keep(_ companion: AnyObject) { space.companion = companion }

    /// What the memory of pages counts against.
    package var budget: MemoryBudget { space.memory.budget }

    /// Has the file take the place of the memory of frozen chunks that are stored in it, ascending. Readers may read them meanwhile.
    package func replace(_ stored: ArraySlice<Int>) {
        space.replace(stored)
        noteTotals()
    }
}
