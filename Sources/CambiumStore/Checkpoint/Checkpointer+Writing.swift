import CambiumGraph
internal import CambiumLog
import CambiumModel

extension Checkpointer {
    /// Writes the chunks (64 KiB of pages) that are not stored yet, and the checkpoint record.
    ///
    /// - Returns: the number of bytes that were written; `nil` if a reader is using the existing record of the transaction. In that case,
    ///   the old record and its chunks stay unchanged, and the next checkpoint writes the chunks of the snapshot again.
    func write(_ snapshot: CheckpointSnapshot, inFile: Set<Int>) throws -> Int? {
        let live = snapshot.frozen.image.live
        let taken = try keptChunks()
        // The remains of a failed checkpoint take disk space that the new checkpoint needs, so they are removed first.
        try PageFileWriter.removeInterrupted(volume)
        if taken != nil { try removeUnnamedFiles() }
        var writer = try PageFileWriter(volume, pageFile, isNamed: !chunks.isEmpty)
        defer { writer.close() }
        let fresh = unstored.filter { live[$0] > 0 }.sorted()
        // A chunk that is mapped from the file must have the same bytes in the file as in memory, so it is not compressed.
        let mapped = self.inFile
        var isFinished = false
        defer {
            // If this checkpoint has failed, releases the disk space of the chunks, because commits may need it until the next checkpoint
            // writes the chunks again.
            if !isFinished, !writer.mayBeNamed, let taken {
                writer.discard((fresh + snapshot.frozen.tables).filter { !mapped.contains($0) && !($0 < taken.count && taken[$0]) })
            }
        }
        let stored = try writer.write(
            fresh,
            { [isPacked] chunk in
                if inFile.contains(chunk) { return .none }
                return isPacked && !mapped.contains(chunk) ? .packed : .asItIs
            }
        ) { chunk, body in timeline.withBytes(ofChunk: chunk, body) }
        var next = live.enumerated().map { chunk, live in
            var next = live > 0 && chunk < chunks.count ? chunks[chunk] : CheckpointRecord.Chunk()
            next.live = live
            return next
        }
        for (chunk, stored) in zip(fresh, stored) {
            next[chunk] = CheckpointRecord.Chunk(live: live[chunk], checksum: stored.checksum, packedByteCount: stored.packedByteCount)
        }
        if let taken {
            // Marks as unused the chunks that no checkpoint needs. The next process that opens the store writes to unused chunks first.
            // Without these marks, each process would enlarge the file.
            for chunk in live.indices where live[chunk] == 0 && (chunk >= taken.count || !taken[chunk]) { next[chunk] = .unused }
        }
        for chunk in snapshot.frozen.tables { next[chunk] = .table }
        let end = LogPrefix(transaction: snapshot.transaction, time: snapshot.time, position: snapshot.logPosition)
        try tree.advance(to: end, in: volume)
        let root = CheckpointRecord(
            store: store, transaction: snapshot.transaction, time: snapshot.time, fanOutShift: UInt8(PageImage.fanOutShift),
            isPacked: isPacked, layout: snapshot.layout, logPosition: snapshot.logPosition, pageFile: pageFile,
            epoch: snapshot.frozen.image.epoch, pageDirectory: snapshot.frozen.image.directory, schema: snapshot.schema, chunks: next,
            tree: tree.tree)
        // Writing the chunks may have taken a long time. If another store has taken the place of this one, the record would become a
        // record of that store.
        try self.writer.lock.hold(as: .checkpoint) { () throws(CambiumError) in try log.checkPlace() }
        // If writing the record fails, the file of the record may have the old or the new content. So the properties of the old record are
        // removed from `kept`.
        kept[snapshot.transaction] = nil
        hasUnsyncedRecords = true
        let finished = try finish(root, &writer)
        isFinished = true
        guard let recordByteCount = finished else { return nil }
        hasUnsyncedRecords = false
        chunks = next
        unstored.subtract(fresh)
        self.inFile.subtract(fresh)
        kept[snapshot.transaction] = KeptCheckpoint(root, recordByteCount: recordByteCount)
        return writer.byteCount
    }

    /// Makes the written chunks durable, and writes the record. See `PageFileWriter.finish`.
    ///
    /// If the sync fails, the kernel treats the bytes of the mapped chunks as written. The kernel may then drop these bytes from memory,
    /// and later read older bytes from the disk. No checksum exists that could reveal the older bytes. So the store writes nothing more
    /// that depends on these pages. A full disk does not cause this failure, because disk space was preallocated for mapped chunks.
    /// Docs/Operate/SAFETY.md names the file systems that may still lack the space.
    private func finish(_ root: CheckpointRecord, _ pages: inout PageFileWriter) throws(CambiumError) -> Int? {
        do throws(CambiumError) { return try pages.finish(root, tuning: tuning) } catch {
            if let failure = pages.syncFailure, (failure.underlying as? SystemError)?.isOutOfSpace != true {
                writer.lock.hold(as: .checkpoint) {
                    if timeline.hasUnstoredInFile(unstored) { writer.distrustPages(after: failure) }
                }
            }
            throw error
        }
    }
}
