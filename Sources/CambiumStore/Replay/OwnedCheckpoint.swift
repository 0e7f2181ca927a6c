import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The file of pages to which a writer writes, and the facts that the writer needs about the existing pages.
struct OwnedPages {
    /// The stored pages from which the store was opened; `nil` if the whole log was replayed.
    let stored: PageFile?
    /// The corrupt checkpoints that were skipped when the store was opened.
    let skippedCheckpoints: [TransactionNumber]
    /// The leases that existed when the store was opened. Each lease lists the chunks (64 KiB of pages) of graphs that readers still use,
    /// although an earlier writer has closed the store.
    let leases: ChunkLeases
    /// The existing file to which the next checkpoint is written; `nil` if the checkpoint begins a new file.
    let continuedFile: UInt64?
    /// The existing or new file to which the next checkpoint is written.
    let file: UInt64
    /// The memory that is mapped from `file`.
    let memory: PageFileMemory
}

/// The second step when a store is opened for writing. Finds the chunks (64 KiB of pages) that may be used again, and the file for new
/// pages.
///
/// The next step is a `ReplayedStore`. A replay writes pages, so the available chunks must be known before the replay.
struct OwnedCheckpoint: ~Copyable {
    let loaded: LoadedCheckpoint
    let pages: OwnedPages

    /// Prepares the pages for a writer. Call this initializer only while the lock of the store is held. Throws if a disk operation fails.
    ///
    /// - Parameter newFile: the number for a new file of pages. If a file of the store has this number, the new file gets the next number
    ///   that no file has.
    init(_ loaded: consuming LoadedCheckpoint, newFile: UInt64) throws(CambiumError) {
        let (reader, timeline, stored) = (loaded.reader, loaded.timeline, loaded.pages)
        let leases = try ChunkLeases(of: reader.volume, store: reader.settings.store)
        let continuedFile = loaded.continuedFile(leases)
        // The timeline does not know its file yet, so `reuse` releases no disk space in that file. No release is necessary, because earlier
        // writers have released the space of unneeded chunks.
        timeline.reuse(loaded.owners(of: continuedFile, leases))
        // The environment of a test may supply the same random number whenever the store is opened. A file with this number may then
        // contain the pages of an older checkpoint, so an unused number is needed.
        let file = if let continuedFile { continuedFile } else { try PageFile.unusedName(from: newFile, in: reader.volume) }
        let memory = PageFileMemory(reader.volume, file, chunkCount: stored?.root.chunks.count ?? 0)
        timeline.keepPages(in: memory)
        pages = OwnedPages(
            stored: stored, skippedCheckpoints: loaded.skippedCheckpoints, leases: leases, continuedFile: continuedFile, file: file,
            memory: memory)
        self.loaded = loaded
    }
}

extension LoadedCheckpoint {
    /// Returns the existing file to which the next checkpoint is written, or `nil` if the checkpoint begins a new file. A new file is
    /// needed if a flaw was found, or if the settings and the existing file differ in whether pages are compressed. A new file is also
    /// needed if the leases are not readable, because the leases show which chunks of the existing file readers still use.
    fileprivate borrowing func continuedFile(_ leases: ChunkLeases) -> UInt64? {
        guard let root = pages?.root, flaws.isEmpty, leases.areReadable else { return nil }
        return root.isPacked == reader.settings.compressesPages ? root.pageFile : nil
    }

    /// Returns the owners of the chunks of a file: the checkpoint that contains a chunk, and the leases of readers. Chunks without an owner
    /// are used again; otherwise the file would grow whenever the store is opened.
    ///
    /// - Parameter pageFile: the existing file to which the next checkpoint is written; `nil` for a new file, in which no chunk has an
    ///   owner.
    fileprivate borrowing func owners(of pageFile: UInt64?, _ leases: ChunkLeases) -> ChunkOwners {
        guard let pageFile, let root = pages?.root else { return .none }
        return ChunkOwners(isRooted: root.chunks.map { $0 != .unused }, leased: leases.chunks(of: pageFile))
    }
}
