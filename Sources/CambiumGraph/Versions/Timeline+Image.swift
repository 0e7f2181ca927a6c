import CambiumBytes
package import CambiumModel
import Synchronization

/// The description of a version's pages in a checkpoint record: the chunks, and how many granules (16 bytes each) of each chunk are in use.
/// See Docs/Formats/CHECKPOINTS.md.
package struct PageImage: Sendable {
    /// The epoch of the version: all of its pages were born in this epoch or earlier.
    package let epoch: UInt64
    /// The reference of the directory page, through which all other pages are reached.
    package let directory: UInt32
    /// For each chunk, the number of its granules (16 bytes each) that the version uses.
    package let live: [UInt16]

    package init(epoch: UInt64, directory: UInt32, live: [UInt16]) {
        self.epoch = epoch
        self.directory = directory
        self.live = live
    }

    package static let chunkByteCount = PageLayout.chunkByteCount
    /// The number of granules (16 bytes each) in a full chunk.
    package static let chunkGranuleCount = PageLayout.chunkGranules
    /// The binary logarithm of the number of rows in a group. A program with another number cannot open the image.
    package static let fanOutShift = PageLayout.fanOutShift
    /// The maximum epoch of stored pages, so that enough later epochs are left for drafts.
    private static let epochMax: UInt64 = 1 << 62

    /// Whether a graph can have this image: the numbers agree with each other and are within the limits of a page space. The first chunk is
    /// never empty, because it contains the constant pages.
    fileprivate var isPossible: Bool {
        let place = Int(directory) / PageLayout.chunkGranules
        return live.count <= PageLayout.chunkCountMax && live.allSatisfy { $0 <= PageLayout.chunkGranules }
            && live.first ?? 0 > 0 && directory > 0 && place < live.count && live[place] > 0 && epoch <= Self.epochMax
    }
}

/// A version that was frozen for a checkpoint: its pages, and the chunks that must still be stored.
package struct FrozenPages: Sendable {
    package let image: PageImage
    /// The chunks that were frozen and must be stored.
    package let fresh: [Int]
    /// The chunks of `fresh` that are mapped from the file of pages, so their bytes are already in this file.
    package let inFile: [Int]
    /// The chunks that will contain the parts of the checkpoint's table, in ascending order.
    package let tables: [Int]
    /// The steps that release the old disk space of the chunks in `tables`. The caller must run the steps before it stores anything in
    /// these chunks.
    package let disk: DiskRelease
}

extension Timeline {
    /// Creates a timeline whose newest version is a stored version. The pages are used as they are. Complexity: O(chunks).
    ///
    /// Throws `.corrupted` if the pages were written for another layout, or if no graph can have such an image.
    ///
    /// - Parameters:
    ///   - fingerprint: The fingerprint of the layout for which the pages were written.
    package convenience init(
        _ image: PageImage, layout fingerprint: UInt64, schema: SchemaCatalog, source: any ChunkSource,
        memory: MemoryBudget = .standard
    ) throws(CambiumError) {
        guard image.isPossible else {
            throw CambiumError.corruptCheckpoint("The checkpoint record describes pages that no graph can have.")
        }
        let layout = GraphLayout(try Schema(catalog: schema))
        guard layout.fingerprint == fingerprint else {
            throw CambiumError.corruptCheckpoint("Another version of this program laid out the pages of the checkpoint.")
        }
        // Drafts must get later epochs than all stored pages.
        Self.epochs.max(image.epoch, ordering: .relaxed)
        try Self.checkMemory()
        let space = PageSpace(StoredSpace(live: image.live, epoch: image.epoch, source: source), budget: memory)
        if let flaw = space.supplied(Int(image.directory) / PageLayout.chunkGranules).flaw {
            throw CambiumError.corruptCheckpoint("The pages of the checkpoint are not a graph: \(flaw).")
        }
        guard Self.isDirectory(image.directory, in: space, layout, epoch: image.epoch) else {
            throw CambiumError.corruptCheckpoint("The checkpoint record does not refer to a directory page.")
        }
        let version = Version(epoch: image.epoch, directory: image.directory, layout: layout, space: space)
        space.setHashNumbers(HashNumbers(version.reader.hashKey))
        self.init(space, version)
    }

    /// Throws `.ioFailure` if the limits of the process leave too little memory for a timeline. Call this method before you create one.
    package static func checkMemory() throws(CambiumError) {
        try CambiumError.checkMemory(PageSpace.byteCountMin, for: "opening a graph")
    }

    /// Returns whether a page is a directory page of this layout. Readers follow the references in a directory page without checking the
    /// page, so this method must check it first.
    private static func isDirectory(_ page: PageRef, in space: PageSpace, _ layout: GraphLayout, epoch: UInt64) -> Bool {
        let granules = PageLayout.granules(layout.directoryByteCount)
        return Int(page) % PageLayout.chunkGranules + granules <= PageLayout.chunkGranules && space.chunks.kind(page) == .directory
            && space.chunks.granules(page) == granules && space.chunks.birth(page) <= epoch
    }

    /// Freezes the pages of the newest version for a checkpoint: from now on, nothing is written to their chunks. No draft may be in
    /// progress, and the version must be confirmed.
    ///
    /// Throws `.limitExceeded` if there are no chunks for the table of the checkpoint. In that case nothing is frozen.
    ///
    /// - Parameter tableChunkCount: Returns the number of chunks that a table for `chunkCount` chunks takes. No page is placed in these
    ///   chunks until the next call to `reuse`.
    ///
    /// Complexity: O(chunks + pages of the superseded versions).
    package func freeze(
        tableChunkCount: (_ chunkCount: Int) throws(CambiumError) -> Int = { _ in 0 }
    ) throws(CambiumError) -> FrozenPages {
        // A rollback uses the epoch in a page's header to decide whether the page is already free. In a frozen chunk, releasing a page does
        // not change this epoch, so a rollback could release the page twice.
        precondition(!isUnconfirmed, "An unconfirmed version must not be frozen.")
        reclaim()
        let (tables, disk) = try takeTableChunks(tableChunkCount)
        let version = head.version
        var live = (0..<space.chunkCount).map { space.live[$0] }
        // The image has only the pages of the newest version. So the pages that only older versions still use are subtracted from `live`.
        for older in pinnedVersions {
            for page in older.dead.elements { live[Int(page >> 12)] -= UInt16(space.chunks.granules(page)) }
        }
        let fresh = space.freeze(epoch: version.epoch).filter { live[$0] > 0 }
        let image = PageImage(epoch: version.epoch, directory: version.directory, live: live)
        return FrozenPages(image: image, fresh: fresh, inFile: fresh.filter { space.memories[$0].isStorage }, tables: tables, disk: disk)
    }

    /// Takes the chunks for the table of a checkpoint, and returns the steps that release their disk space. Taking a new chunk may enlarge
    /// the table, so the loop computes the number of chunks again.
    private func takeTableChunks(
        _ countOf: (_ chunkCount: Int) throws(CambiumError) -> Int
    ) throws(CambiumError) -> (tables: [Int], disk: DiskRelease) {
        var tables: [Int] = []
        while true {
            let count = try countOf(space.chunkCount) - tables.count
            if count <= 0 { break }
            guard let taken = space.takeTableChunks(count) else {
                throw space.capacity.exhausted("no space is left for another checkpoint")
            }
            tables += taken
        }
        if !tables.isEmpty { updateTotals() }
        tables.sort()
        return (tables, space.discard(tables))
    }

    /// Calls `body` with the bytes of a frozen chunk. Any thread may call this method.
    package func withBytes<Result>(ofChunk chunk: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let base = space.chunks[chunk: chunk] ?? space.supply(chunk)
        return try body(UnsafeRawBufferPointer(start: base, count: PageLayout.chunkByteCount))
    }

    /// Lets writers use exactly the chunks that no version of this process and no owner needs. Releases the memory and disk space of these
    /// chunks, except at most 16 MiB that are kept for the next writes. Call this method before the first draft, or while no writer is
    /// waiting. Complexity: O(chunks).
    package func reuse(_ owners: ChunkOwners) {
        var rest = beginReuse(owners, keepsSpares: true)
        while !rest.isDone {
            take(&rest)
            rest.releaseTaken()
        }
    }

    /// Makes the same chunks available to writers as `reuse`. Returns the task that releases memory and disk space, instead of running it.
    /// Call this method only while no thread writes. Complexity: O(chunks).
    ///
    /// - Parameter keepsSpares: Whether up to 16 MiB of empty chunks keep their memory and disk space for the next changes.
    /// - Returns: The task. The caller alternately calls `take` and `releaseTaken` until the task is done.
    package func beginReuse(_ owners: ChunkOwners, keepsSpares: Bool) -> ChunkRelease {
        defer { updateTotals() }
        return space.reuse(owners, spareCount: keepsSpares ? PageSpace.spareChunkCount : 0)
    }

    /// Puts back the chunks that the last call took, and takes the next empty chunks (at most 1 MiB) for `ChunkRelease.releaseTaken`. Call
    /// this method only while no thread writes. Other threads may write between two calls.
    package func take(_ rest: inout ChunkRelease) {
        space.take(&rest)
        updateTotals()
    }

    /// Lets another thread supply memory for the next changes. Call this method only while no thread writes. Complexity: O(1).
    package func prepareNext() { space.memory.prepareNext() }

    /// The used chunks with bytes in the file from which the timeline was opened (`ofSource`), or in the file of its storage (`ofStorage`).
    /// Read this property only while no thread writes. Complexity: O(chunks).
    package var mappedChunks: (ofSource: [Int], ofStorage: [Int]) { space.mappedChunks }

    /// Returns whether a version needs a chunk that is mapped from the storage's file and that no checkpoint has stored. The bytes of such
    /// a chunk exist nowhere else. Call this method only while no thread writes. Complexity: O(chunks).
    ///
    /// - Parameter unstored: The frozen chunks that no checkpoint has stored.
    package func hasUnstoredInFile(_ unstored: Set<Int>) -> Bool {
        let open = Set(space.openChunks.map(Int.init))
        return space.mappedChunks.ofStorage.contains { unstored.contains($0) || open.contains($0) }
    }

    /// Sets the storage for chunks that exceed the memory budget. Call this method before the first draft.
    package func keepPages(in storage: any PageStorage) { space.storage = storage }

    /// Keeps an object alive as long as the timeline or one of its graphs exists.
    package func keep(_ companion: AnyObject) { space.companion = companion }

    /// The budget for the memory of pages.
    package var budget: MemoryBudget { space.memory.budget }

    /// Maps the file at the addresses of stored chunks, and releases the memory that the chunks had. The chunks must be frozen, and in
    /// ascending order. Other threads may read the chunks at the same time.
    package func replace(_ stored: ArraySlice<Int>) {
        space.replace(stored)
        updateTotals()
    }
}
