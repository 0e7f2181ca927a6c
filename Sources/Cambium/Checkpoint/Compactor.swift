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
        let anchor = try anchor(for: retention)
        let archive = try volume.map { try SegmentArchive(adding: $0, of: checkpointer.store) }
        // A checkpoint cannot be dropped while a kept graph of an earlier moment is using it. So all kept graphs are released.
        past.forget()
        if isDryRun { return try retireLog(upTo: anchor, archive, isDryRun: true) }
        let compaction =
            if let archive {
                try archive.withLock(apartFrom: checkpointer.volume) { try packAndRetire(upTo: anchor, archive) }
            } else {
                try packAndRetire(upTo: anchor, nil)
            }
        sealing.tidy()
        return compaction
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
        var compaction = try retireLog(upTo: anchor, archive, isDryRun: false)
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

    /// Returns the rule by which a retention chooses the checkpoint that replaces the retired part of the log. Throws `.notFound` if the
    /// moment of the retention does not exist, or if it is after the newest transaction. Throws `.invalidInput` for an invalid retention.
    private func anchor(for retention: Retention) throws -> CompactionAnchor {
        switch retention {
        case .all: return .none
        case .since(.latest): return .newest(notAfter: TransactionNumber(rawValue: .max))
        case .since(let point):
            if case .time(let time) = point { try checkNotAfterNewest(time) }
            do {
                return .newest(notAfter: try EarlierView(checkpointer.volume, at: point, memory: .standard).graph.transaction)
            } catch let error as CambiumError where error.code == .notFound {
                // All transactions that remain in the log are later than the given time, so there is nothing to retire.
                if case .time = point { return .none }
                throw error
            }
        case .checkpoints(let count):
            guard count > 0 else {
                throw CambiumError(.invalidInput, "A compaction cannot keep \(count) checkpoints. Keep 1 or more.")
            }
            return .oldest(of: count)
        }
    }

    /// Throws `.notFound` for a time after the newest transaction. A time in the future, or a time in the wrong unit, would select the
    /// newest transaction, and everything before it would be retired.
    private func checkNotAfterNewest(_ time: Timestamp) throws(CambiumError) {
        let (number, newest) = checkpointer.writer.newestTransaction
        guard time > newest else { return }
        throw CambiumError(
            .notFound,
            "The newest transaction, \(number), was committed at \(newest), earlier than \(time). Name an earlier time, or transaction "
                + "\(number). Nothing was retired.")
    }
}
