internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
public import CambiumModel

/// The part of a log that is kept.
public enum Retention: Sendable, Hashable {
    /// All of the log.
    case all
    /// The transactions since a moment, from the newest checkpoint that is not later than the moment. A moment after the newest transaction
    /// is an error, because it would retire everything.
    case since(Point)
    /// With the number N: the transactions since the oldest of the N newest checkpoints. Older checkpoints are dropped. If there are fewer
    /// than N, nothing is retired.
    case checkpoints(Int)
}

/// The checkpoint that stands for the retired transactions.
enum CompactionAnchor: Equatable {
    /// No checkpoint: nothing is retired.
    case none
    /// The newest checkpoint that is not later than a transaction.
    case newest(notAfter: TransactionNumber)
    /// With the number N: the oldest of the N newest checkpoints. If there are fewer than N, nothing is retired.
    case oldest(of: Int)
}

/// The result of a compaction, or the expected result of a dry run.
public struct Compaction: Sendable, Equatable {
    /// Whether a compaction retires transactions, or only reports which ones it could retire.
    public enum Effect: Sendable, Hashable { case retire, preview }

    /// The last transaction of which only author, time, message and a hash are left; `.none` if no transaction is retired.
    public internal(set) var retiredEnd = TransactionNumber.none
    /// The earliest transaction whose graph can still be shown.
    public internal(set) var firstMoment = TransactionNumber.none
    /// The number of segments of the log that were retired now.
    package internal(set) var segmentCount = 0
    /// The number of bytes by which the log has shrunk, without the header of a segment that was begun for the compaction.
    public internal(set) var logByteCount = 0
    /// The number of checkpoints that were dropped now.
    package internal(set) var droppedCount = 0
    /// The number of bytes by which the stored pages have shrunk; negative if the checkpoint that was made for the compaction takes more.
    public internal(set) var storedByteCount = 0
    /// The number of segments that were put into the archive now.
    package internal(set) var archivedSegmentCount = 0
    /// The number of bytes of the files that the compaction created in the archive.
    package internal(set) var archivedByteCount = 0
    /// The retired transactions that the given archive lacks; empty if no archive was given.
    public internal(set) var missingFromArchive: [ClosedRange<TransactionNumber>] = []
}

extension Compaction {
    /// Puts segments into an archive before they are retired.
    fileprivate mutating func keep(
        _ segments: [TransactionNumber], upTo end: TransactionNumber, in archive: SegmentArchive?, isDryRun: Bool, _ reader: LogReader
    ) throws {
        guard let archive else { return }
        let added = try isDryRun ? archive.measure(segments, of: reader.volume) : archive.add(segments, from: reader.volume)
        (archivedSegmentCount, archivedByteCount) = added
        if isDryRun { return }
        // Errors for early moments name the archive of this note. So the note is written only if the archive is complete.
        guard try archive.missing(of: reader.volume).isEmpty else { return }
        try ArchiveNote(archive.volume.name, upTo: end).write(to: reader.volume, store: reader.settings.store)
    }
}

extension Committer {
    /// Retires the part of the log that a retention does not keep. Writers continue at the same time.
    func compact(_ retention: Retention, archive volume: (any Volume)?, isDryRun: Bool) throws -> Compaction {
        try checkOutsideOfWrites("compact")
        guard let checkpointer, let sealing else { throw CambiumError(.invalidInput, "A store in memory has no log to compact.") }
        // This check comes before anything is written: a refused compaction writes nothing.
        let anchor = try anchor(for: retention, checkpointer.volume)
        let archive = try volume.map { try SegmentArchive(adding: $0, of: checkpointer.store) }
        // Earlier graphs that are kept in memory share checkpoints that the compaction may drop.
        past?.forget()
        if isDryRun { return try checkpointer.compact(anchor, archive, isDryRun: true, sealing) { _ in } }
        let compaction =
            if let archive {
                try archive.withLock(apartFrom: checkpointer.volume) { try compact(anchor, archive, checkpointer, sealing) }
            } else {
                try compact(anchor, nil, checkpointer, sealing)
            }
        sealing.tidy()
        return compaction
    }

    private func compact(
        _ anchor: CompactionAnchor, _ archive: SegmentArchive?, _ checkpointer: Checkpointer, _ sealing: Sealing
    ) throws -> Compaction {
        let before = try PageFile.byteCount(checkpointer.volume)
        var isPacked = try pack(.thorough, stepCountMax: .max)
        _ = try store(again: isPacked)
        // Packing leaves holes in open chunks. The checkpoint has frozen these chunks, so they can be emptied, too.
        for _ in 0..<Self.packingRoundCountMax where isPacked {
            isPacked = try pack(.thorough, stepCountMax: .max)
            if isPacked { _ = try store(again: true) }
        }
        var compaction = try checkpointer.compact(anchor, archive, isDryRun: false, sealing, endSegment)
        try checkpointer.reclaimChunks(whileNoThreadWrites: whileNoThreadWrites)
        compaction.storedByteCount = before - (try PageFile.byteCount(checkpointer.volume))
        return compaction
    }

    /// The maximum number of times that pages are packed and stored once more. Each round has little to do, compared with the one before.
    private static let packingRoundCountMax = 3

    /// Ends the segment that is written to if it has `transaction`, so that later transactions are in another segment.
    private func endSegment(with transaction: TransactionNumber) throws {
        try writing.hold {
            if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
            try writeOthers()
            try log?.endSegment(with: transaction)
            if let ended = log?.takeEndedSegment() { sealing?.add(ended) }
        }
    }

    /// Returns the anchor that a retention names. Throws `.notFound` if there is no such moment, or if it is after the newest transaction;
    /// `.invalidInput` for a retention that is not valid.
    private func anchor(for retention: Retention, _ volume: any Volume) throws -> CompactionAnchor {
        switch retention {
        case .all: return .none
        case .since(.latest): return .newest(notAfter: TransactionNumber(rawValue: .max))
        case .since(let point):
            if case .time(let time) = point { try checkNotAfterNewest(time) }
            do {
                return .newest(notAfter: try ReadOnlyStore(volume, point: point).graph.transaction)
            } catch let error as CambiumError where error.code == .notFound {
                // Everything that the log still has happened after this time.
                if case .time = point { return .none }
                throw error
            }
        case .checkpoints(let count):
            guard count > 0 else { throw CambiumError(.invalidInput, "A compaction keeps at least one checkpoint. Use 1 or more.") }
            return .oldest(of: count)
        }
    }

    /// Throws `.notFound` for a time after the newest transaction. A time in the future, or in other units, would stand for the newest
    /// transaction, so that everything before that would be retired.
    private func checkNotAfterNewest(_ time: Timestamp) throws(CambiumError) {
        let (number, newest) = newestTransaction
        guard time > newest else { return }
        throw CambiumError(
            .notFound,
            "The newest transaction, \(number), has the time \(newest), which is before \(time). Name an earlier time, or transaction "
                + "\(number). Nothing was retired.")
    }
}

extension Checkpointer {
    /// Retires segments up to the checkpoint that a retention names. First compares that checkpoint with the log, because afterwards only
    /// the checkpoint is left.
    ///
    /// - Parameter endSegment: ends the segment that is written to if it has a transaction.
    func compact(
        _ kept: CompactionAnchor, _ archive: SegmentArchive?, isDryRun: Bool, _ sealing: Sealing,
        _ endSegment: (TransactionNumber) throws -> Void
    ) throws -> Compaction {
        try whileNoneIsMade {
            let reader = try LogReader(volume)
            let roots = try CheckpointRecord.list(volume)
            let retiredEnd = try reader.retiredEnd()
            // Earlier checkpoints no longer stand for any part of the log. They exist only because processes read them.
            let standing = roots.filter { $0 >= retiredEnd }
            var compaction = Compaction()
            let anchor = anchor(kept, standing)
            if let anchor {
                if !isDryRun, retiredEnd < anchor {
                    try compare(anchor, with: reader)
                    try endSegment(anchor)
                }
                try sealing.whileNoneIsSealed { sealer, openSegment in
                    if isDryRun { return try measure(upTo: anchor, after: retiredEnd, archive, reader, &compaction) }
                    try sealer.removeCovered(before: openSegment)
                    try retire(upTo: anchor, after: retiredEnd, archive, reader, sealer, &compaction)
                }
                let dropped = roots.filter { $0 < anchor }
                compaction.droppedCount = dropped.count
                if !isDryRun { compaction.droppedCount = try drop(dropped) }
            } else {
                compaction.retiredEnd = retiredEnd
            }
            compaction.missingFromArchive = try archive?.missing(of: volume) ?? []
            let first = compaction.retiredEnd == .none ? TransactionNumber(rawValue: 1) : anchor ?? standing.last
            compaction.firstMoment = first ?? TransactionNumber(rawValue: 1)
            return compaction
        }
    }

    private func retire(
        upTo anchor: TransactionNumber, after retiredEnd: TransactionNumber, _ archive: SegmentArchive?, _ reader: LogReader,
        _ sealer: SegmentSealer, _ compaction: inout Compaction
    ) throws {
        // The last segment may have transactions after the anchor, too.
        if retiredEnd < anchor, let last = try LogDirectory.segments(volume, upTo: anchor).last {
            compaction.logByteCount += try sealer.split(last, after: anchor)
        }
        guard try LogDirectory.segments(volume, upTo: anchor.next).contains(anchor.next) || retiredEnd >= anchor else {
            throw CambiumError(.damaged, "No segment begins right after transaction \(anchor), so nothing was retired.")
        }
        var segments = try LogDirectory.segments(volume, upTo: anchor)
        // The segment that was retired last may still have files of ops, if its retirement was interrupted.
        let begin = segments.last { $0 <= retiredEnd } ?? .none
        segments.removeAll { $0 < begin }
        if archive != nil {
            // The archive need not read a sealed segment to know where it ends.
            for segment in segments {
                guard let size = try sealer.seal(segment) else { continue }
                compaction.logByteCount += size.before - size.after
            }
        }
        // All segments are archived before the first one is retired, so nothing is gone if archiving fails.
        try compaction.keep(segments, upTo: anchor, in: archive, isDryRun: false, reader)
        for segment in segments {
            guard let size = try sealer.retire(segment) else { continue }
            compaction.segmentCount += 1
            compaction.logByteCount += size.before - size.after
        }
        compaction.retiredEnd = try reader.retiredEnd()
    }

    /// Measures what would be retired. If a segment would be split, only its bytes before the checkpoint count.
    private func measure(
        upTo anchor: TransactionNumber, after retiredEnd: TransactionNumber, _ archive: SegmentArchive?, _ reader: LogReader,
        _ compaction: inout Compaction
    ) throws {
        var segments = try LogDirectory.segments(volume, upTo: anchor).filter { $0 > retiredEnd }
        compaction.retiredEnd = segments.isEmpty ? retiredEnd : anchor
        compaction.segmentCount = segments.count
        var byteCount = 0
        let isWhole = try LogDirectory.segments(volume, upTo: anchor.next).contains(anchor.next)
        if !isWhole, let last = segments.popLast(), let root = try PageFile.root(volume, store: store, anchor)?.record {
            byteCount = try LogDirectory.byteCount(volume, last, upTo: LogPrefix(root))
        }
        try compaction.keep(segments, upTo: anchor, in: archive, isDryRun: true, reader)
        if archive != nil, byteCount > 0 {
            compaction.archivedSegmentCount += 1
            compaction.archivedByteCount += byteCount
        }
        compaction.logByteCount = try segments.reduce(byteCount) { $0 + (try LogDirectory.byteCount(volume, $1)) }
    }

    /// Returns the checkpoint that will stand for everything before it, or `nil` if nothing can be retired.
    ///
    /// - Parameter roots: the existing checkpoints, newest first.
    private func anchor(_ kept: CompactionAnchor, _ roots: [TransactionNumber]) -> TransactionNumber? {
        switch kept {
        case .none: nil
        case .newest(let last): roots.first { $0 <= last }
        case .oldest(let count): roots.count < count ? nil : roots[count - 1]
        }
    }

    /// Throws `.damaged` if a checkpoint is not sound, or if a replay of the log gives another graph. The replay begins with the preceding
    /// checkpoint, or with the first transaction.
    private func compare(_ anchor: TransactionNumber, with reader: LogReader) throws {
        let stored = try StoredGraph(reader, of: anchor, checksAll: true)
        for finding in stored.timeline.head.invariantFindings() + PageChecker.findings(in: stored.timeline) {
            throw CambiumError(.damaged, "The checkpoint of transaction \(anchor) is not sound, so nothing was retired: \(finding)")
        }
        let before: StoredGraph
        do throws(CambiumError) {
            before = try StoredGraph(reader, notAfter: EarlierMoment(number: TransactionNumber(rawValue: anchor.rawValue - 1)))
        } catch {
            // An interrupted compaction made the comparison before it retired the first segment.
            if error.code == .notFound { return }
            throw error
        }
        // The same holds if the log between the two checkpoints was retired in part, and there is no sound checkpoint between them.
        if try before.flaws.isEmpty && before.transaction < reader.retiredEnd() { return }
        var replay = try Replay(before)
        _ = try replay.run(reader, makesDurable: true) { $0.number > anchor }
        guard replay.timeline.head.digest() == stored.timeline.head.digest() else {
            throw CambiumError(
                .damaged, "The checkpoint of transaction \(anchor) differs from a replay of the log, so nothing was retired.")
        }
    }
}
