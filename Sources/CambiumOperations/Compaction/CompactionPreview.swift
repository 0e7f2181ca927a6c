internal import CambiumLog
import CambiumModel

/// Finds what a compaction could retire with the existing checkpoints. Reads the files of a store, and changes nothing.
struct CompactionPreview {
    let reader: LogReader
    let archive: SegmentArchive?

    private var volume: any Volume { reader.volume }

    /// Returns the expected result of a compaction. Throws `.ioFailure` if a file operation fails, for example because a writer has removed
    /// a file in the meantime.
    func compaction(upTo kept: CompactionAnchor) throws -> Compaction {
        let range = try CompactionRange(upTo: kept, reader)
        return try range.compaction(of: reader, archive) { anchor, compaction in
            try measure(upTo: anchor, after: range.retiredEnd, &compaction)
            compaction.droppedCount = range.dropped.count
        }
    }

    /// Measures the segments (files of the log) that would be retired, and their files of ops. If a segment would be split, only its part
    /// before the checkpoint counts.
    private func measure(
        upTo anchor: TransactionNumber, after retiredEnd: TransactionNumber, _ compaction: inout Compaction
    ) throws {
        var segments = try LogDirectory.segments(volume, upTo: anchor).filter { $0 > retiredEnd }
        compaction.retiredEnd = segments.isEmpty ? retiredEnd : anchor
        compaction.segmentCount = segments.count
        var (byteCount, splitOpsByteCount) = (0, 0)
        let isWhole = try LogDirectory.segments(volume, upTo: anchor.next).contains(anchor.next)
        if !isWhole, let last = segments.popLast(), let root = try PageFile.root(volume, store: reader.settings.store, anchor)?.record {
            byteCount = try LogDirectory.byteCount(volume, last, upTo: LogPrefix(root))
            splitOpsByteCount = try LogDirectory.opsByteCount(volume, after: TransactionNumber(rawValue: last.rawValue - 1), upTo: anchor)
        }
        if let archive {
            (compaction.archivedSegmentCount, compaction.archivedByteCount) = try archive.measure(segments, of: volume)
            if byteCount > 0 {
                compaction.archivedSegmentCount += 1
                compaction.archivedByteCount += byteCount + splitOpsByteCount
            }
        }
        compaction.logByteCount = try segments.reduce(byteCount) { $0 + (try LogDirectory.byteCount(volume, $1)) }
        compaction.logByteCount += try LogDirectory.opsByteCount(volume, after: retiredEnd, upTo: anchor)
    }
}
