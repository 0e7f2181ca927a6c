internal import CambiumLog
import CambiumModel

/// The part of the log that a compaction retires, and the checkpoints that the compaction drops.
struct CompactionRange {
    /// The checkpoint that replaces the part of the log before it; `nil` if nothing can be retired.
    private let anchor: TransactionNumber?
    /// The last transaction that earlier compactions retired.
    let retiredEnd: TransactionNumber
    /// The checkpoints before `anchor`, newest first.
    let dropped: [TransactionNumber]
    /// The oldest checkpoint that can replace a part of the log; `nil` if there is no such checkpoint.
    private let oldest: TransactionNumber?

    init(upTo kept: CompactionAnchor, _ reader: LogReader) throws {
        let checkpoints = try CheckpointRecord.list(reader.volume)
        let retiredEnd = try reader.retiredEnd()
        // Checkpoints before `retiredEnd` remain only while processes are reading them. Such checkpoints are in the retired part of the
        // log, so none of them can replace a part of the log.
        let standing = checkpoints.filter { $0 >= retiredEnd }
        let anchor = kept.checkpoint(of: standing)
        dropped = anchor.map { anchor in checkpoints.filter { $0 < anchor } } ?? []
        (self.anchor, self.retiredEnd, oldest) = (anchor, retiredEnd, standing.last)
    }

    /// Returns the result of a compaction.
    ///
    /// - Parameter retire: retires the part of the log before a checkpoint, or only measures it. `retire` is not called if nothing can be
    ///   retired.
    func compaction(
        of reader: LogReader, _ archive: SegmentArchive?, _ retire: (TransactionNumber, inout Compaction) throws -> Void
    ) throws -> Compaction {
        var compaction = Compaction()
        if let anchor { try retire(anchor, &compaction) } else { compaction.retiredEnd = retiredEnd }
        compaction.missingFromArchive = try archive?.missing(of: reader.volume) ?? []
        compaction.setFirstMoment(anchor ?? oldest)
        return compaction
    }
}
