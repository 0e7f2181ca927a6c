import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The use of chunks again that no owner needs. Use these methods only while no other thread makes a checkpoint.
extension Checkpointer {
    /// Makes chunks available again that only dropped checkpoints had. Releases all disk space without an owner, and removes files that no
    /// checkpoint names.
    func reclaimChunks() throws {
        try whileNoneIsMade { try reclaim(keptChunks(), keepsSpares: false) }
    }

    /// Makes unneeded chunks available again, and removes unneeded files. Call it only while `making` is held.
    ///
    /// - Parameter taken: the result of `keptChunks`.
    /// - Parameter keepsSpares: whether some MiB of empty chunks keep their memory and disk space.
    func reclaim(_ taken: [Bool]?, keepsSpares: Bool = true) throws {
        // If a record is corrupt, a process may have opened that checkpoint while it was sound. So nothing is used again until the record
        // is gone.
        guard let taken else { return }
        try removeUnnamedFiles()
        try leases.removeEnded(from: volume)
        let owners = ChunkOwners(isRooted: taken, leased: leases.chunks(of: pageFile))
        var rest: ChunkRelease?
        writer.whileNoThreadWrites { rest = timeline.beginReuse(owners, keepsSpares: keepsSpares) }
        holdsTableChunks = false
        while var step = rest, !step.isDone {
            writer.whileNoThreadWrites { timeline.take(&step) }
            // The kernel may take long for this step, so writers may use the lock in the meantime.
            step.releaseTaken()
            rest = step
        }
    }

    /// Removes the files of pages that no checkpoint names. Call it only while `making` is held, and only if every checkpoint record can be
    /// read.
    func removeUnnamedFiles() throws(CambiumError) {
        try PageFileWriter.removeFiles(volume, except: Set(kept.values.map(\.pageFile)).union([pageFile]))
    }

    /// If memory is short, maps stored chunks from the file in place of memory, in steps that writers do not notice.
    ///
    /// - Parameter taken: for each chunk, whether a checkpoint has it, even if only earlier moments need it.
    func releaseMemory(of taken: [Bool]) {
        // The bytes of a compressed chunk in the file differ from the bytes in memory.
        let packed = kept.values.reduce(into: Set<Int>()) { if $1.pageFile == pageFile { $0.formUnion($1.packed) } }
        let stored = taken.indices.filter { taken[$0] && !packed.contains($0) }
        let isShort = timeline.budget.isTight
        for first in stride(from: 0, to: stored.count, by: Self.replacedCountMax) where isShort {
            writer.whileNoThreadWrites {
                if timeline.budget.isHalfUsed { timeline.replace(stored[first..<min(first + Self.replacedCountMax, stored.count)]) }
            }
        }
        writer.whileNoThreadWrites { note { $0.heapByteCount = timeline.reservedByteCount } }
    }

    /// The number of chunks that are replaced at a time: 1 MiB.
    private static let replacedCountMax = 16
}
