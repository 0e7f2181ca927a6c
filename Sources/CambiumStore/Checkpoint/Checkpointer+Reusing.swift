import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Reuses chunks (64 KiB of pages) that no checkpoint and no graph needs. Call the methods only while the lock `making` is held, except
/// `reclaimChunks`.
extension Checkpointer {
    /// Makes the chunks (64 KiB of pages) of dropped checkpoints available again, if nothing else needs them. Releases the disk space of
    /// all unneeded chunks, and removes files to which no checkpoint refers.
    package func reclaimChunks() throws {
        try whileNoneIsMade { try reclaim(keptChunks(), keepsSpares: false) }
    }

    /// Makes unneeded chunks (64 KiB of pages) available again, and removes unneeded files. Call this method only while the lock `making`
    /// is held.
    ///
    /// - Parameter taken: The result of `keptChunks`. If it is `nil`, because a checkpoint record is corrupt, the method does nothing.
    /// - Parameter keepsSpares: Whether several MiB of empty chunks keep their memory and disk space, so that new pages can use both
    ///   immediately.
    func reclaim(_ taken: [Bool]?, keepsSpares: Bool = true) throws {
        // If a record is corrupt, a process may have opened the checkpoint of that record while the record was sound. So no chunk is used
        // again until the record has been removed.
        guard let taken else { return }
        // An earlier call may have removed a record, and then failed before it synced the directory.
        try syncRecords()
        try removeUnnamedFiles()
        try leases.removeEnded(from: volume)
        let owners = ChunkOwners(isRooted: taken, leased: leases.chunks(of: pageFile))
        var rest: ChunkRelease?
        writer.whileNoThreadWrites { rest = timeline.beginReuse(owners, keepsSpares: keepsSpares) }
        holdsTableChunks = false
        while var step = rest, !step.isDone {
            writer.whileNoThreadWrites { timeline.take(&step) }
            // The kernel may take a long time to release memory, so the writer's lock is free in the meantime.
            step.releaseTaken()
            rest = step
        }
    }

    /// Removes the files of pages to which no checkpoint refers. Call this method only while the lock `making` is held, and only if every
    /// checkpoint record can be read.
    func removeUnnamedFiles() throws(CambiumError) {
        try PageFileWriter.removeFiles(volume, except: Set(kept.values.map(\.pageFile)).union([pageFile]))
    }

    /// If memory is scarce, replaces the memory of stored chunks (64 KiB of pages) with mappings of the file. Works in short steps, between
    /// which writers continue.
    ///
    /// - Parameter taken: for each chunk, whether a checkpoint needs it. All kept checkpoints count, not only the newest one.
    func releaseMemory(of taken: [Bool]) {
        // The chunks in `packed` cannot be mapped, because their bytes in the file differ from their bytes in memory.
        let packed = kept.values.reduce(into: Set<Int>()) { if $1.pageFile == pageFile { $0.formUnion($1.packed) } }
        let stored = taken.indices.filter { taken[$0] && !packed.contains($0) }
        let isShort = timeline.budget.isTight
        for first in stride(from: 0, to: stored.count, by: Self.replacedCountMax) where isShort {
            writer.whileNoThreadWrites {
                if timeline.budget.isHalfUsed { timeline.replace(stored[first..<min(first + Self.replacedCountMax, stored.count)]) }
            }
        }
        writer.whileNoThreadWrites { update { $0.heapByteCount = timeline.reservedByteCount } }
    }

    /// The number of chunks (64 KiB each) that one step replaces with mappings.
    private static let replacedCountMax = 16
}
