import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Compacts a store: moves rows together so that pages become free, stores the pages, and retires (removes) the part of the log that a
/// checkpoint replaces.
struct Compactor {
    let scheduler: CheckpointScheduler
    let upkeep: GraphUpkeep
    let sealing: Sealing
    let past: EarlierGraphs
    var checkpointer: Checkpointer { scheduler.checkpointer }

    /// Compacts the store, and retires (removes) the part of the log that `retention` does not keep. Other threads can write during the
    /// compaction.
    func compact(_ retention: Retention, archive volume: (any Volume)?, isDryRun: Bool) throws -> Compaction {
        // Checks the retention first, so that a refused compaction writes nothing.
        let anchor = try CompactionAnchor(retention, in: checkpointer.volume, newest: checkpointer.writer.newestTransaction)
        let archive = try volume.map { try SegmentArchive(adding: $0, of: checkpointer.store) }
        // A checkpoint cannot be dropped while a kept graph of an earlier moment is using it. So all kept graphs are released.
        past.forget()
        if isDryRun { return try preview(upTo: anchor, archive) }
        let compaction =
            if let archive {
                try archive.withLock(apartFrom: checkpointer.volume) { try packAndRetire(upTo: anchor, archive) }
            } else {
                try packAndRetire(upTo: anchor, nil)
            }
        sealing.tidy()
        return compaction
    }

    private func preview(upTo anchor: CompactionAnchor, _ archive: SegmentArchive?) throws -> Compaction {
        try checkpointer.whileNoneIsMade {
            let preview = CompactionPreview(reader: try LogReader(checkpointer.volume), archive: archive)
            return try sealing.whileNoneIsSealed { _, _ in try preview.compaction(upTo: anchor) }
        }
    }

    private func packAndRetire(upTo anchor: CompactionAnchor, _ archive: SegmentArchive?) throws -> Compaction {
        let before = try PageFile.byteCount(checkpointer.volume)
        var isPacked = try upkeep.pack(.thorough, stepCountMax: .max)
        _ = try scheduler.store(again: isPacked)
        // Packing leaves holes in the chunks (64 KiB of pages) to which it writes. Writers no longer change these chunks after the new
        // checkpoint, so a further round of packing can empty them.
        for _ in 0..<Self.packingRoundCountMax where isPacked {
            isPacked = try upkeep.pack(.thorough, stepCountMax: .max)
            if isPacked { _ = try scheduler.store(again: true) }
        }
        var compaction = try retireLog(upTo: anchor, archive)
        try checkpointer.reclaimChunks()
        compaction.storedByteCount = before - (try PageFile.byteCount(checkpointer.volume))
        return compaction
    }

    /// The maximum number of times that pages are packed and stored again. Each round has much less to do than the previous one.
    private static let packingRoundCountMax = 3

    /// If the segment (file of the log) to which the writer appends contains `transaction`, ends that segment. Later transactions are then
    /// in another segment.
    func endSegment(with transaction: TransactionNumber) throws {
        let (writer, log) = (checkpointer.writer, checkpointer.log)
        try writer.lock.hold {
            try writer.checkOpen()
            try checkpointer.queue.writeOthers()
            try log.endSegment(with: transaction)
            if let ended = log.takeEndedSegment() { sealing.add(ended) }
        }
    }
}
