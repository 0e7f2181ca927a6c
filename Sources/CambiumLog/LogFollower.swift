public import CambiumModel

/// Goes on reading a log that another process writes, up to what is durable.
///
/// It holds nothing that the writer waits for. What it reads it syncs first, so that nobody acts on what a loss of power may take;
/// a segment that is sealed or replaced meanwhile stays readable to who has it open.
public struct LogFollower {
    private var cursor: LogCursor

    /// - Parameter first: the transaction to begin with.
    public init(_ log: LogReader, from first: TransactionNumber = TransactionNumber(rawValue: 1)) throws(CambiumError) {
        cursor = try LogCursor(log, from: first, isBesideWriter: true)
    }

    /// Calls `body` with the transactions that have come since this was called last, in order.
    ///
    /// Throws `.damaged` where the log is corrupt, and what `body` throws; the next call begins where this one did. What is not
    /// whole yet is left for the next call. Complexity: O(bytes that have come), at least a look at the directory.
    public mutating func advance(_ body: (LogRecord) throws -> Void) throws {
        var next = cursor
        try next.advance(body)
        next.stepBack()
        cursor = next
    }
}
