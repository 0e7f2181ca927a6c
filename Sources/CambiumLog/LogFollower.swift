public import CambiumModel

/// Goes on reading a log that another process writes, up to what is durable.
///
/// It holds nothing that the writer waits for. What it reads it syncs first, so that nobody acts on what a loss of power may take;
/// a segment that is sealed or replaced meanwhile stays readable to who has it open.
public struct LogFollower {
    private let volume: any Volume
    private var cursor: LogCursor
    private var isJudged = false

    /// - Parameters:
    ///   - first: the transaction to begin with, where there is no base.
    ///   - base: what is known to stand before it.
    public init(
        _ log: LogReader, from first: TransactionNumber = TransactionNumber(rawValue: 1), after base: LogReader.Prefix? = nil
    ) throws(CambiumError) {
        volume = log.volume
        cursor = try LogCursor(log, from: base?.transaction.next ?? first, after: base, isBesideWriter: true)
    }

    /// Calls `body` with the transactions that have come since this was called last, in order.
    ///
    /// The first call judges how the log ends. It throws `.damaged` if the log is corrupt, `.notFound` if it has no transaction. Later
    /// calls throw `.damaged` if a segment is corrupt that another one follows. They leave the bytes at the end that do not verify to
    /// the next call, because another process may be writing them. Throws what `body` throws, too; then the next call begins where this
    /// one did.
    ///
    /// Complexity: O(bytes that have come), at least a look at the directory.
    public mutating func advance(_ body: (LogRecord) throws -> Void) throws {
        var next = cursor
        try next.advance(body)
        if !isJudged { try next.judge(body).requireTransaction(in: volume) }
        next.stepBack()
        cursor = next
        isJudged = true
    }
}
