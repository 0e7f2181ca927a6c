internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
public import CambiumModel

/// What of a log is kept.
public enum Retention: Sendable, Hashable {
    /// All of it.
    case all
    /// What has happened since a moment, from the newest checkpoint on that is not later. A moment after the newest transaction is an
    /// error: it would retire everything.
    case since(Point)
    /// What has happened since the oldest of so many checkpoints, the newest ones; others are dropped. Nothing is retired if there are
    /// fewer.
    case checkpoints(Int)
}

/// Which checkpoint stands for what is retired.
enum CompactionAnchor: Equatable {
    /// None: nothing is retired.
    case none
    /// The newest one that is not later than a transaction.
    case newest(notAfter: TransactionNumber)
    /// The oldest of so many, if there are so many.
    case oldest(of: Int)
}

/// What compaction came to, or would come to.
public struct Compaction: Sendable, Equatable {
    /// The last transaction of which only who, when, why and a hash is left; none where all is there.
    public internal(set) var retiredEnd = TransactionNumber.none
    /// The earliest transaction whose graph can still be shown.
    public internal(set) var firstMoment = TransactionNumber.none
    /// Segments of the log that were retired now.
    public internal(set) var segmentCount = 0
    /// Bytes that the log has less, without the header of a segment that was begun for it.
    public internal(set) var logByteCount = 0
    /// Checkpoints that were dropped now.
    public internal(set) var droppedCount = 0
    /// Bytes that the stored pages take less; negative where the checkpoint that was made for it takes more.
    public internal(set) var storedByteCount = 0
    /// Segments that were put into the archive now.
    public internal(set) var archivedSegmentCount = 0
    /// Bytes of their files in the archive.
    public internal(set) var archivedByteCount = 0
    /// Transactions that were retired and that the archive which was given does not have; empty where none was given.
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
        // What is not known to be whole is not promised to who asks for an early moment.
        guard try archive.missing(of: reader.volume).isEmpty else { return }
        try ArchiveNote(archive.volume.name, upTo: end).write(to: reader.volume, store: reader.settings.store)
    }
}

extension Committer {
    /// Retires what a policy does not keep. Writers go on meanwhile.
    func compact(_ retention: Retention, archive volume: (any Volume)?, isDryRun: Bool) throws -> Compaction {
        try checkOutsideOfWrites("compact")
        guard let checkpointer, let sealing else { throw CambiumError(.invalidInput, "A store in memory has no log to compact.") }
        // Before anything is written: a compaction that is refused writes nothing.
        let anchor = try anchor(for: retention, checkpointer.volume)
        let archive = try volume.map { try SegmentArchive(adding: $0, of: checkpointer.store) }
        // Kept moments hold roots that may have to go.
        past?.forget()
        if isDryRun { return try checkpointer.compact(anchor, archive, isDryRun: true, sealing) { _ in } }
        let compaction =
            if let archive {
                try archive.withLock(beside: checkpointer.volume) { try compact(anchor, archive, checkpointer, sealing) }
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
        // Packing leaves holes in the chunks that are open. The checkpoint has ended these, so they can be emptied too.
        for _ in 0..<Self.packingRoundCountMax where isPacked {
            isPacked = try pack(.thorough, stepCountMax: .max)
            if isPacked { _ = try store(again: true) }
        }
        var compaction = try checkpointer.compact(anchor, archive, isDryRun: false, sealing, endSegment)
        try checkpointer.reclaimChunks(whileNobodyWrites: whileNobodyWrites)
        compaction.storedByteCount = before - (try PageFile.byteCount(checkpointer.volume))
        return compaction
    }

    /// How often pages are packed and stored once more. Each round has little to do beside the one before.
    private static let packingRoundCountMax = 3

    /// Has what follows begin another segment, if the one that is written to has a transaction.
    private func endSegment(with transaction: TransactionNumber) throws {
        try writing.hold {
            if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
            try writeOthers()
            try log?.endSegment(with: transaction)
            if let ended = log?.takeEndedSegment() { sealing?.add(ended) }
        }
    }

    /// What a retention comes to. Throws `.notFound` if there is no such moment, or if it is after the newest transaction;
    /// `.invalidInput` for a retention that cannot be.
    private func anchor(for retention: Retention, _ volume: any Volume) throws -> CompactionAnchor {
        switch retention {
        case .all: return .none
        case .since(.latest): return .newest(notAfter: TransactionNumber(rawValue: .max))
        case .since(let point):
            if case .time(let time) = point { try checkNotAfterNewest(time) }
            do {
                return .newest(notAfter: try ReadOnlyStore(volume, point: point).graph.transaction)
            } catch let error as CambiumError where error.code == .notFound {
                // All that there is has happened since a time before the store.
                if case .time = point { return .none }
                throw error
            }
        case .checkpoints(let count):
            guard count > 0 else { throw CambiumError(.invalidInput, "A compaction keeps at least one checkpoint; ask for 1 or more.") }
            return .oldest(of: count)
        }
    }

    /// A time in the future, or in other units, would stand for the newest transaction, and everything before that would be retired.
    private func checkNotAfterNewest(_ time: Timestamp) throws(CambiumError) {
        let (number, newest) = newestTransaction
        guard time > newest else { return }
        throw CambiumError(
            .notFound,
            "No transaction is as late as \(time): the newest one, \(number), is of \(newest). Name a moment that is not later, or "
                + "transaction \(number) itself. Nothing was retired.")
    }
}

extension Checkpointer {
    /// Segments are retired up to the checkpoint that the policy names, which is compared with the log first: it is what is left.
    ///
    /// - Parameter endSegment: ends the segment that is written to if it has a transaction.
    func compact(
        _ kept: CompactionAnchor, _ archive: SegmentArchive?, isDryRun: Bool, _ sealing: Sealing,
        _ endSegment: (TransactionNumber) throws -> Void
    ) throws -> Compaction {
        try whileNoneIsMade {
            let reader = try LogReader(volume)
            let roots = try RootRecord.list(volume)
            let retiredEnd = try reader.retiredEnd()
            // Those before that stand for nothing any more, and are there for who reads them.
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
        if retiredEnd < anchor, let last = try LogReader.segments(volume, upTo: anchor).last {
            compaction.logByteCount += try sealer.split(last, after: anchor)
        }
        guard try LogReader.segments(volume, upTo: anchor.next).contains(anchor.next) || retiredEnd >= anchor else {
            throw CambiumError(.damaged, "No segment begins after transaction \(anchor), so nothing is retired.")
        }
        var segments = try LogReader.segments(volume, upTo: anchor)
        // The last one that was retired may have files of ops, if that was interrupted.
        let begin = segments.last { $0 <= retiredEnd } ?? .none
        segments.removeAll { $0 < begin }
        if archive != nil {
            // The archive need not read a sealed segment to know where it ends.
            for segment in segments {
                guard let size = try sealer.seal(segment) else { continue }
                compaction.logByteCount += size.before - size.after
            }
        }
        // All of it before the first one is retired: where it fails, nothing is gone.
        try compaction.keep(segments, upTo: anchor, in: archive, isDryRun: false, reader)
        for segment in segments {
            guard let size = try sealer.retire(segment) else { continue }
            compaction.segmentCount += 1
            compaction.logByteCount += size.before - size.after
        }
        compaction.retiredEnd = try reader.retiredEnd()
    }

    /// Finds out what would be retired. Of a segment that would be split the bytes before the checkpoint are counted.
    private func measure(
        upTo anchor: TransactionNumber, after retiredEnd: TransactionNumber, _ archive: SegmentArchive?, _ reader: LogReader,
        _ compaction: inout Compaction
    ) throws {
        var segments = try LogReader.segments(volume, upTo: anchor).filter { $0 > retiredEnd }
        compaction.retiredEnd = segments.isEmpty ? retiredEnd : anchor
        compaction.segmentCount = segments.count
        var byteCount = 0
        let isWhole = try LogReader.segments(volume, upTo: anchor.next).contains(anchor.next)
        if !isWhole, let last = segments.popLast(), let root = try PageFile.root(volume, store: store, anchor)?.record {
            byteCount = try LogReader.byteCount(volume, last, upTo: LogReader.Prefix(root))
        }
        try compaction.keep(segments, upTo: anchor, in: archive, isDryRun: true, reader)
        if archive != nil, byteCount > 0 {
            compaction.archivedSegmentCount += 1
            compaction.archivedByteCount += byteCount
        }
        compaction.logByteCount = try segments.reduce(byteCount) { $0 + (try LogReader.byteCount(volume, $1)) }
    }

    /// The checkpoint that is to stand for all before it; nil if nothing can be retired.
    ///
    /// - Parameter roots: those that there are, newest first.
    private func anchor(_ kept: CompactionAnchor, _ roots: [TransactionNumber]) -> TransactionNumber? {
        switch kept {
        case .none: nil
        case .newest(let last): roots.first { $0 <= last }
        case .oldest(let count): roots.count < count ? nil : roots[count - 1]
        }
    }

    /// Throws where the stored graph with what the log has behind it is not what the whole log comes to, as far as it is there.
    private func compare(_ anchor: TransactionNumber, with reader: LogReader) throws {
        let stored = try StoredGraph(reader, of: anchor, checksAll: true)
        for finding in stored.timeline.head.invariantFindings() + PageChecker.findings(in: stored.timeline) {
            throw CambiumError(.damaged, "The checkpoint of transaction \(anchor) is not sound, so nothing is retired: \(finding)")
        }
        let before: StoredGraph
        do throws(CambiumError) {
            before = try StoredGraph(reader, notAfter: PastMoment(number: TransactionNumber(rawValue: anchor.rawValue - 1)))
        } catch {
            // A compaction that was interrupted made the comparison before it retired the first segment.
            if error.code == .notFound { return }
            throw error
        }
        // The same: what leads from the earlier checkpoint to this one was retired in part, and no sound one is between.
        if try before.flaws.isEmpty && before.transaction < reader.retiredEnd() { return }
        var replay = try Replay(before)
        _ = try replay.run(reader, makesDurable: true) { $0.number > anchor }
        guard replay.timeline.head.digest() == stored.timeline.head.digest() else {
            throw CambiumError(.damaged, "The checkpoint of transaction \(anchor) is not what the log comes to, so nothing is retired.")
        }
    }
}
