internal import CambiumLog
public import CambiumModel

/// The part of a log that is kept.
///
/// ```swift
/// try store.compact(.since(.label("end of March")), archive: "notes-archive")
/// ```
public enum Retention: Sendable, Hashable {
    /// The whole log.
    case all
    /// The transactions since a moment, beginning with the newest checkpoint that is not later than the moment. A moment after the newest
    /// transaction is an error, because everything would be retired.
    case since(Point)
    /// The transactions since the oldest of the N newest checkpoints, where N is the given number. Older checkpoints are dropped. If there
    /// are fewer than N checkpoints, nothing is retired.
    case checkpoints(Int)
}

/// The result of a compaction, or the expected result of a dry run.
///
/// ```swift
/// let expected = try store.compact(.checkpoints(8), effect: .preview)
/// print(expected.retiredEnd, expected.logByteCount)
/// ```
public struct Compaction: Sendable, Equatable {
    /// Whether a compaction retires transactions, or only reports which transactions it could retire.
    public enum Effect: Sendable, Hashable { case retire, preview }

    /// The last retired transaction; `.none` if no transaction is retired. Only the author, time, message and a hash of a retired
    /// transaction remain.
    public internal(set) var retiredEnd = TransactionNumber.none
    /// The earliest transaction after which every graph can still be shown.
    public internal(set) var firstMoment = TransactionNumber.none
    /// The transactions before `firstMoment` whose graphs can still be shown, in ascending order: the moments of days that the store's
    /// `CheckpointPolicy` keeps.
    public internal(set) var dailyMoments: [TransactionNumber] = []
    /// The number of segments (files of the log) from which this compaction removed the changes.
    package internal(set) var segmentCount = 0
    /// The number of bytes by which the log has shrunk. It is negative if the hashes of the retired changes take more bytes than the
    /// changes did. If the compaction began a new file of the log, the header of that file does not count. A preview counts all bytes of
    /// the files that would be retired, because it writes no hashes.
    public internal(set) var logByteCount = 0
    /// The number of checkpoints that this compaction dropped.
    package internal(set) var droppedCount = 0
    /// The number of bytes by which the stored pages have shrunk. It is negative if the checkpoint for the compaction takes more bytes than
    /// were saved.
    package internal(set) var storedByteCount = 0
    /// The number of segments (files of the log) that this compaction copied to the archive.
    package internal(set) var archivedSegmentCount = 0
    /// The total size, in bytes, of the files that the compaction created in the archive.
    package internal(set) var archivedByteCount = 0
    /// The retired transactions that the given archive lacks; empty if no archive was given.
    public internal(set) var missingFromArchive: [ClosedRange<TransactionNumber>] = []
}

extension Compaction {
    /// Sets the earliest transaction whose graph can be shown. It is transaction 1 if no transaction is retired.
    ///
    /// - Parameter checkpoint: the oldest checkpoint that remains.
    mutating func setFirstMoment(_ checkpoint: TransactionNumber?) {
        let first = TransactionNumber(rawValue: 1)
        firstMoment = retiredEnd == .none ? first : checkpoint ?? first
    }

    /// Copies segments (files of the log) to an archive before compaction removes their changes. Records the number and size of the copies.
    mutating func keep(
        _ segments: [TransactionNumber], upTo end: TransactionNumber, in archive: SegmentArchive?, _ reader: LogReader
    ) throws {
        guard let archive else { return }
        (archivedSegmentCount, archivedByteCount) = try archive.add(segments, from: reader.volume)
        // Errors for a retired moment name the archive that `ArchiveNote` contains. So the note is written only if the archive is complete.
        guard try archive.missing(of: reader.volume).isEmpty else { return }
        try ArchiveNote(archive.volume.name, upTo: end).write(to: reader.volume, store: reader.settings.store)
    }
}
