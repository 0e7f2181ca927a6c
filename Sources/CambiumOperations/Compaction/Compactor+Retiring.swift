import CambiumGraph
internal import CambiumLog
import CambiumModel

extension Compactor {
    /// Removes the changes from the part of the log before the checkpoint that a retention selects. First compares that checkpoint with the
    /// log, because afterwards only the checkpoint remains.
    func retireLog(upTo kept: CompactionAnchor, _ archive: SegmentArchive?) throws -> Compaction {
        try checkpointer.whileNoneIsMade {
            let reader = try LogReader(checkpointer.volume)
            let range = try CompactionRange(upTo: kept, reader)
            return try range.compaction(of: reader, archive) { anchor, compaction in
                if range.retiredEnd < anchor {
                    try compare(anchor, with: reader)
                    // The process that made the checkpoint may have ended before the name of the record was durable.
                    try checkpointer.syncRecords()
                    try endSegment(with: anchor)
                }
                try sealing.whileNoneIsSealed { sealer, openSegment in
                    try sealer.removeCovered(before: openSegment)
                    try retireSegments(upTo: anchor, after: range.retiredEnd, archive, reader, sealer, &compaction)
                }
                compaction.droppedCount = try checkpointer.drop(range.dropped)
            }
        }
    }

    private func retireSegments(
        upTo anchor: TransactionNumber, after retiredEnd: TransactionNumber, _ archive: SegmentArchive?, _ reader: LogReader,
        _ sealer: SegmentSealer, _ compaction: inout Compaction
    ) throws {
        let volume = checkpointer.volume
        // The segment that contains transaction `anchor` may also contain later transactions, so it is split after `anchor`.
        if retiredEnd < anchor, let last = try LogDirectory.segments(volume, upTo: anchor).last {
            compaction.logByteCount += try sealer.split(last, after: anchor)
        }
        guard try LogDirectory.segments(volume, upTo: anchor.next).contains(anchor.next) || retiredEnd >= anchor else {
            throw CambiumError(
                .corrupted, "No file of the log begins right after transaction \(anchor), so nothing was retired. Run 'cambium verify'.")
        }
        var segments = try LogDirectory.segments(volume, upTo: anchor)
        // An earlier compaction may have been interrupted before it removed the last retired segment's files of ops. So this segment is
        // retired again.
        let begin = segments.last { $0 <= retiredEnd } ?? .none
        segments.removeAll { $0 < begin }
        if archive != nil {
            // Seals the segments first, because the archive can find the end of a sealed segment without reading the whole segment.
            for segment in segments {
                guard let size = try sealer.seal(segment) else { continue }
                compaction.logByteCount += size.before - size.after
            }
        }
        // All segments are archived before the first segment is retired, so nothing is lost if archiving fails.
        try compaction.keep(segments, upTo: anchor, in: archive, reader)
        var opsFiles = try sealer.opsFiles()
        for segment in segments {
            guard let size = try sealer.retire(segment, removing: &opsFiles) else { continue }
            compaction.segmentCount += 1
            compaction.logByteCount += size.before - size.after
        }
        compaction.retiredEnd = try reader.retiredEnd()
    }

    /// Throws `.corrupted` if a checkpoint is not sound, or if a replay of the log results in another graph. The replay begins with the
    /// preceding checkpoint, or with the first transaction.
    private func compare(_ anchor: TransactionNumber, with reader: LogReader) throws {
        let memory = checkpointer.writer.timeline.budget
        let stored = try LoadedCheckpoint(reader, of: anchor, checksAll: true, memory: memory)
        let graph = stored.timeline.head
        for finding in graph.invariantFindings() + PageChecker.findings(in: stored.timeline) {
            throw CambiumError(
                .corrupted,
                "The checkpoint of transaction \(anchor) is corrupt, so nothing was retired. Run 'cambium verify'. The cause: \(finding)")
        }
        var replay: Replay
        do throws(CambiumError) {
            let before = EarlierMoment(number: TransactionNumber(rawValue: anchor.rawValue - 1))
            replay = try Replay(LoadedCheckpoint(reader, notAfter: before, memory: memory))
        } catch {
            // `.notFound` means that a part of the log before the checkpoint was retired. The compaction that retired this part has already
            // compared its checkpoint with the log.
            if error.code == .notFound { return }
            throw error
        }
        // If a part of the log between the beginning of the replay and `anchor` is retired, no replay is possible. The compaction that
        // retired this part has already compared its checkpoint with the log.
        if try replay.origin.flaws.isEmpty && replay.origin.transaction < reader.retiredEnd() { return }
        _ = try replay.run(makesDurable: true) { $0.number > anchor }
        let head = replay.timeline.head
        guard head.digest() == graph.digest(), head.nextSerials == graph.nextSerials else {
            throw CambiumError(
                .corrupted,
                "The checkpoint of transaction \(anchor) differs from a replay of the log, so nothing was retired. Run 'cambium verify'.")
        }
    }
}
