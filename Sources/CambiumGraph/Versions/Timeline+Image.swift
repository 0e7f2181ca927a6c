import CambiumBytes
package import CambiumModel
import Synchronization

/// A version in a form that can be stored: its chunks, and the number of granules in use in each of them. See Docs/CHECKPOINTS.md.
package struct PageImage: Sendable {
    /// The epoch at or before which all pages of the version were born.
    package let epoch: UInt64
    /// The reference of the page from which all other pages are reached.
    package let directory: UInt32
    /// For each chunk, the number of granules of 16 bytes that the version uses in it.
    package let live: [UInt16]

    package init(epoch: UInt64, directory: UInt32, live: [UInt16]) {
        self.epoch = epoch
        self.directory = directory
        self.live = live
    }

    /// The number of bytes in a chunk.
    package static let chunkByteCount = PageLayout.chunkByteCount
    /// The maximum number of granules that a chunk has.
    package static let chunkGranuleCount = PageLayout.chunkGranules
    /// The binary logarithm of the number of rows in a group. An image with groups of another size cannot be opened.
    package static let fanOutShift = PageLayout.fanOutShift
    /// The maximum epoch of an image, so that there are always later epochs.
    private static let epochMax: UInt64 = 1 << 62

    /// Whether a graph can have this image: the numbers agree with each other and do not exceed the limits of a space. The first chunk is
    /// never empty, because it contains the pages that replace leaves without content.
    fileprivate var isPossible: Bool {
        let place = Int(directory) / PageLayout.chunkGranules
        return live.count <= PageLayout.chunkCountMax && live.allSatisfy { $0 <= PageLayout.chunkGranules }
            && live.first ?? 0 > 0 && directory > 0 && place < live.count && live[place] > 0 && epoch <= Self.epochMax
    }
}

/// The result of freezing: the pages and chunks that have yet to be stored.
package struct FrozenPages: Sendable {
    package let image: PageImage
    /// The chunks that were frozen and must be stored.
    package let fresh: [Int]
    /// The chunks of `fresh` that are already in the file, because their memory is mapped from the file.
    package let inFile: [Int]
    /// The chunks for the table, ascending.
    package let tables: [Int]
    /// The disk space of the chunks for the table. It must be released before anything is stored in these chunks.
    package let disk: DiskRelease
}

extension Timeline {
    /// Creates a timeline whose newest version is a stored version. Nothing is rebuilt. Complexity: O(chunks).
    ///
    /// Throws `.damaged` if this program uses another layout for the schema, or if no graph can have such an image.
    ///
    /// - Parameters:
    ///   - fingerprint: The fingerprint of the layout of the pages.
    ///   - hasRegister: `false` for a graph of format 1.
    package convenience init(
        _ image: PageImage, layout fingerprint: UInt64, schema: SchemaCatalog, hasRegister: Bool = true,
        source: any ChunkSource, memory: MemoryBudget = .standard
    ) throws(CambiumError) {
        guard image.isPossible else { throw CambiumError(.damaged, "The checkpoint record describes pages that no graph can have.") }
        let resolved = try Schema(catalog: schema)
        var layout = GraphLayout(resolved, hasRegister: hasRegister)
        if layout.fingerprint != fingerprint { layout = GraphLayout(resolved, hasRegister: hasRegister, hasIndexes: false) }
        guard layout.fingerprint == fingerprint else {
            throw CambiumError(.damaged, "Another version of this program laid out the pages of the checkpoint.")
        }
        // Pages that are created later must be younger than all existing pages.
        Self.epochs.max(image.epoch, ordering: .relaxed)
        let space = PageSpace(StoredSpace(live: image.live, epoch: image.epoch, source: source), budget: memory)
        if let flaw = space.supplied(Int(image.directory) / PageLayout.chunkGranules).flaw {
            throw CambiumError(.damaged, "The pages of the checkpoint are not a graph: \(flaw).")
        }
        guard Self.isDirectory(image.directory, in: space, layout, epoch: image.epoch) else {
            throw CambiumError(.damaged, "The directory reference of the checkpoint record does not lead to a directory page.")
        }
        let version = Version(epoch: image.epoch, directory: image.directory, layout: layout, space: space)
        self.init(space, version)
    }

    /// Whether a page is a directory of this layout. The check is necessary, because readers follow the references of a directory without
    /// checking its header.
    private static func isDirectory(_ page: PageRef, in space: PageSpace, _ layout: GraphLayout, epoch: UInt64) -> Bool {
        let granules = PageLayout.granules(DirectoryPage.byteCount(layout))
        return Int(page) % PageLayout.chunkGranules + granules <= PageLayout.chunkGranules && space.chunks.kind(page) == .directory
            && space.chunks.granules(page) == granules && space.chunks.birth(page) <= epoch
    }

    /// Freezes the pages, so that nothing is written to the existing pages any longer. Returns the chunks of the newest version. No draft
    /// may be in progress, and the version must be confirmed.
    ///
    /// Throws `.limitExceeded` if there are no chunks for the table. In that case nothing is frozen.
    ///
    /// - Parameter tableChunkCount: Returns the number of chunks that a table with this number of entries takes. No page is placed in them
    ///   until the next call of `reuse`.
    /// Complexity: O(chunks + pages that superseded versions hold).
    package func freeze(
        tableChunkCount: (_ chunkCount: Int) throws(CambiumError) -> Int = { _ in 0 }
    ) throws(CambiumError) -> FrozenPages {
        // The release of a page in a frozen chunk leaves no mark in the page. So a rollback could release the page twice.
        precondition(!isUnconfirmed, "An unconfirmed version must not be frozen.")
        reclaim()
        let (tables, disk) = try takeTableChunks(tableChunkCount)
        let version = head.version
        var live = (0..<space.chunkCount).map { space.live[$0] }
        // Pages that only older versions reach are not in the image.
        for older in pinnedVersions {
            for page in older.dead.elements { live[Int(page >> 12)] -= UInt16(space.chunks.granules(page)) }
        }
        let fresh = space.freeze(epoch: version.epoch).filter { live[$0] > 0 }
        let image = PageImage(epoch: version.epoch, directory: version.directory, live: live)
        return FrozenPages(image: image, fresh: fresh, inFile: fresh.filter { space.memories[$0].isStorage }, tables: tables, disk: disk)
    }

    /// Takes the chunks for the table, and collects the disk space that can be released for them. A taken chunk may be a new chunk, which
    /// adds an entry to the table.
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

    /// Calls `body` with the bytes of a frozen chunk. Any thread may call it.
    package func withBytes<Result>(ofChunk chunk: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let base = space.chunks[chunk: chunk] ?? space.supply(chunk)
        return try body(UnsafeRawBufferPointer(start: base, count: PageLayout.chunkByteCount))
    }

    /// Makes all chunks available to writers that no version of this process and no owner needs, and no other chunks. Releases the memory
    /// and disk space that is not needed soon. Call it before the first draft, or while no writer waits. Complexity: O(chunks).
    package func reuse(_ owners: ChunkOwners) {
        var rest = beginReuse(owners, keepsSpares: true)
        while !rest.isDone {
            take(&rest)
            rest.releaseTaken()
        }
    }

    /// Does the same as `reuse`, but without releasing anything. Call it only while no thread writes. Complexity: O(chunks).
    ///
    /// - Parameter keepsSpares: Whether some MiB of empty chunks keep their memory and disk space for the next changes.
    /// - Returns: A value that releases the rest: the caller calls `take` and `releaseTaken` alternately until it is done.
    package func beginReuse(_ owners: ChunkOwners, keepsSpares: Bool) -> ChunkRelease {
        defer { noteTotals() }
        return space.reuse(owners, spareCount: keepsSpares ? PageSpace.spareChunkCount : 0)
    }

    /// Takes a MiB of empty chunks for `ChunkRelease.releaseTaken`, and puts back the chunks that the last call took. Call it only while no
    /// thread writes; others may write before the next call.
    package func take(_ rest: inout ChunkRelease) {
        space.take(&rest)
        noteTotals()
    }

    /// Lets another thread supply memory for the next changes. Call it only while no thread writes. Complexity: O(1).
    package func prepareNext() { space.memory.prepareNext() }

    /// The chunks of versions that are mapped from a file: the file from which the timeline was opened, or the file of its storage. Read it
    /// only while no thread writes. Complexity: O(chunks).
    package var mappedChunks: (ofSource: [Int], ofStorage: [Int]) { space.mappedChunks }

    /// Sets the storage for chunks for which the budget has no memory. Call it before the first draft.
    package func keepPages(in storage: any PageStorage) { space.storage = storage }

    /// Keeps an object alive as long as the timeline or one of its graphs exists.
    package func keep(_ companion: AnyObject) { space.companion = companion }

    /// The budget for the memory of pages.
    package var budget: MemoryBudget { space.memory.budget }

    /// Replaces the memory of frozen chunks by a mapping of the file in which they are stored. `stored` must ascend. Other threads may read
    /// the chunks at the same time.
    package func replace(_ stored: ArraySlice<Int>) {
        space.replace(stored)
        noteTotals()
    }
}
