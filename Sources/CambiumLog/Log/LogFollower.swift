package import CambiumModel

/// A reader of a log to which another process is writing. It reads the log up to its durable end, and continues there later.
///
/// The writer never waits for a follower. The follower syncs bytes before it reads them, so that no caller acts on a transaction that a
/// power failure may remove. An open segment stays readable after the writer has sealed or replaced it.
package struct LogFollower {
    private let volume: any Volume
    private var cursor: LogCursor
    private var isJudged = false
    /// The newest transaction that had a checkpoint when the follower was created. The log must not end before this transaction.
    private let storedEnd: TransactionNumber

    /// - Parameters:
    ///   - first: the first transaction to read, if there is no base.
    ///   - base: the part of the log that is already known. Reading begins with the transaction after this part.
    package init(
        _ log: LogReader, from first: TransactionNumber = TransactionNumber(rawValue: 1), after base: LogPrefix? = nil
    ) throws(CambiumError) {
        volume = log.volume
        storedEnd = try log.newestCheckpoint()
        cursor = try LogCursor(log, from: base?.transaction.next ?? first, after: base, mayBeWritten: true)
    }

    /// Calls `body` with the transactions that were appended since the last call, in order.
    ///
    /// The first call determines how the log ends. It throws `.corrupted` if the log is corrupt or ends before a checkpoint, and
    /// `.notFound` if the log contains no transaction.
    ///
    /// A later call throws `.corrupted` if a segment is corrupt and another segment follows it. It ignores bytes at the end of the log that
    /// fail verification, because another process may be writing these bytes. If the store was removed or replaced, a later call without
    /// new transactions throws `.notFound`, because the open files get no more transactions.
    ///
    /// If `body` throws, the call throws that error, and the next call reads the same transactions again.
    ///
    /// Complexity: O(bytes that were appended), and at least one listing of the directory.
    package mutating func advance(_ body: (LogRecord) throws -> Void) throws {
        var next = cursor
        try next.advance(body)
        if !isJudged {
            let end = try next.judge(body)
            try end.requireTransaction(in: volume)
            try end.requireTransactions(of: storedEnd, in: volume)
        }
        next.stepBack()
        if isJudged, next.end.lastTransaction == cursor.end.lastTransaction, try next.isDisplaced() { throw Self.displaced(volume) }
        cursor = next
        isJudged = true
    }

    /// Returns the error for a store that was removed, or whose place another store or an older copy has taken.
    package static func displaced(_ volume: any Volume) -> CambiumError {
        CambiumError(
            .notFound,
            "The store '\(volume.name)' was removed or replaced while its log was followed. Follow the log again, or restore the store "
                + "from a backup.")
    }
}
