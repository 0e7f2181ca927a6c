internal import CambiumLog
import CambiumModel

/// The part of the log that a compaction retires, and the checkpoints that the compaction drops.
struct CompactionRange {
    /// The checkpoint that replaces the part of the log before it; `nil` if nothing can be retired.
    private let anchor: TransactionNumber?
    /// The last transaction that earlier compactions retired.
    let retiredEnd: TransactionNumber
    /// The checkpoints before `anchor`, newest first, without those in `moments`.
    let dropped: [TransactionNumber]
    /// The checkpoints before `anchor` that the store's policy keeps as the moments of their days, in ascending order.
    private let moments: [TransactionNumber]
    /// The oldest checkpoint that can replace a part of the log; `nil` if there is no such checkpoint.
    private let oldest: TransactionNumber?

    init(upTo kept: CompactionAnchor, _ reader: LogReader) throws {
        let checkpoints = try CheckpointRecord.list(reader.volume)
        let retiredEnd = try reader.retiredEnd()
        // Checkpoints before `retiredEnd` are in the retired part of the log, so none of them can replace a part of the log.
        let standing = checkpoints.filter { $0 >= retiredEnd }
        let anchor = kept.checkpoint(of: standing)
        let earlier = anchor.map { anchor in checkpoints.filter { $0 < anchor } } ?? []
        let kept = earlier.isEmpty ? [] : try Self.moments(of: checkpoints, reader)
        dropped = earlier.filter { !kept.contains($0) }
        moments = earlier.filter(kept.contains).reversed()
        (self.anchor, self.retiredEnd, oldest) = (anchor, retiredEnd, standing.last)
    }

    private static func moments(of checkpoints: [TransactionNumber], _ reader: LogReader) throws -> Set<TransactionNumber> {
        let policy = CheckpointPolicy(try StoreSettings.read(reader.volume))
        guard policy.dayCount > 0 else { return [] }
        var times: [(number: TransactionNumber, time: Int64)] = []
        for number in checkpoints {
            do throws(CambiumError) {
                guard let root = try PageFile.root(reader.volume, store: reader.settings.store, number) else { continue }
                times.append((number, root.record.time))
            } catch {
                // During a preview, a writer may drop the checkpoint.
                guard error.code == .notFound else { throw error }
            }
        }
        return policy.moments(of: times)
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
        if compaction.retiredEnd != .none { compaction.dailyMoments = moments }
        return compaction
    }
}
