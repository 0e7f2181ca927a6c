import CambiumGraph
internal import CambiumLog
import CambiumModel

/// A store that is being opened for writing, at the last step: the log was replayed to its end, and it is known whether a crash left an
/// incomplete transaction there.
struct ReplayedStore: ~Copyable {
    let timeline: Timeline
    let pages: OwnedPages
    /// The log, which was verified up to `end`.
    let reader: LogReader
    let end: LogReader.End
    let recovery: RecoveryReport
    /// The work of the replay, in units of `ReplayWork`.
    let replayWork: Int

    /// The transactions that a log must contain.
    enum Content {
        /// At least the first transaction, which contains the schema.
        case store
        /// No transactions, because the store is being created.
        case nothing
    }

    /// Replays the log to its end. Throws `.corrupted` if the log is corrupt or ends before a checkpoint, and `.notFound` if the log has no
    /// first transaction.
    ///
    /// Complexity: O(bytes of the log after the checkpoint).
    init(_ owned: consuming OwnedCheckpoint, requiring content: Content) throws {
        let (reader, pages) = (owned.loaded.reader, owned.pages)
        var replay = try Replay(owned.loaded)
        let end = try replay.run()
        if content == .store { try end.requireTransaction(in: reader.volume) }
        // An index is incomplete if a version of Cambium without ordered indexes wrote the store, or if a process ended while it built the
        // index.
        while try replay.timeline.buildIndexes(rowCountMax: 1 << 18) {}
        (timeline, self.pages, self.reader, self.end) = (replay.timeline, pages, reader, end)
        replayWork = replay.work
        recovery = RecoveryReport(reader, replay.origin, end, transactionCount: replay.transactionCount)
    }
}
