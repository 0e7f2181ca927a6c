import CambiumBytes
import CambiumModel

/// Reads and verifies a long log on a thread of its own, while the caller uses the transactions that were read before.
final class LogReadAhead: Sendable {
    /// Bytes of log from which on there is a thread. More than a writer keeps as zeros at the end of a segment.
    static let byteCountMin = 2 << 20
    /// Batches that wait for the caller.
    private static let batchCountMax = 2

    private let queue = BoundedQueue<[LogRecord]>(countMax: batchCountMax)
    private let outcome = Guarded<Result<LogReader.End, any Error>?>(nil)
    private let scan: @Sendable ((LogRecord) throws -> Void) throws -> LogReader.End

    init(_ scan: @escaping @Sendable ((LogRecord) throws -> Void) throws -> LogReader.End) { self.scan = scan }

    /// Calls `body` with every transaction, in order, on the caller's thread. Throws what the scan throws, after `body` has seen all that
    /// was read before, and what `body` throws.
    func run(_ body: (LogRecord) throws -> Void) throws -> LogReader.End {
        guard let thread = OwnThread({ self.read() }) else { return try scan(body) }
        defer {
            queue.close()
            thread.join()
        }
        while let batch = queue.take() { for place in batch.indices { try body(batch[place]) } }
        guard let outcome = outcome.withLock({ $0 }) else { throw CambiumError(.ioFailure, "The log was not read to its end.") }
        return try outcome.get()
    }

    private func read() {
        struct Closed: Error {}
        // Two threads that count references to the same bytes slow each other down: a batch has the records of one reading of the file.
        var batch: [LogRecord] = []
        func hand() throws {
            guard queue.waitForRoom() else { throw Closed() }
            queue.put(batch)
            batch = []
        }
        let result = Result {
            try scan { record in
                if let last = batch.last, last.source !== record.source { try hand() }
                batch.append(record)
            }
        }
        outcome.withLock { $0 = result }
        // If the queue is closed, the caller has failed, and takes no more.
        if !batch.isEmpty, queue.waitForRoom() { queue.put(batch) }
        queue.end()
    }
}

extension LogReader {
    /// As `scan`, on two threads if the log is long.
    public func scanAhead(after base: Prefix?, makesDurable: Bool, _ body: (LogRecord) throws -> Void) throws -> End {
        let first = base?.transaction.next ?? TransactionNumber(rawValue: 1)
        var cursor = try LogCursor(self, from: first, after: base, isBesideWriter: makesDurable)
        if try cursor.hasMore(than: LogReadAhead.byteCountMin) {
            return try LogReadAhead { try self.scan(after: base, makesDurable: makesDurable, $0) }.run(body)
        }
        try cursor.advance(body)
        return try cursor.judge(body)
    }
}
