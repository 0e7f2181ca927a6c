import CambiumBytes
import CambiumModel

/// Reads and verifies a long log on a thread of its own, while the caller uses the transactions that were read before.
final class LogReadAhead: Sendable {
    /// Bytes of log from which on there is a thread. More than a writer keeps as zeros at the end of a segment.
    static let byteCountMin = 2 << 20
    /// Batches that wait for the caller, and the bytes of their ops and of those that the caller uses.
    private static let batchCountMax = 2
    private static let pendingByteCountMax = 32 << 20
    private static let batchByteCountMax = 8 << 20

    /// Transactions that were read at once, or some of them.
    private struct Batch {
        var records: [LogRecord] = []
        /// Bytes of ops.
        var byteCount = 0
    }

    private let queue = BoundedQueue<Batch>(countMax: batchCountMax, weightMax: pendingByteCountMax)
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
        while let batch = queue.take() {
            for place in batch.records.indices { try body(batch.records[place]) }
            queue.giveBack(weight: batch.byteCount)
        }
        guard let outcome = outcome.withLock({ $0 }) else { throw CambiumError(.ioFailure, "The log was not read to its end.") }
        return try outcome.get()
    }

    private func read() {
        struct Closed: Error {}
        // Two threads that count references to the same bytes slow each other down: a batch has the records of one reading of the file.
        var batch = Batch()
        func hand() throws {
            guard queue.waitForRoom() else { throw Closed() }
            queue.put(batch, weight: batch.byteCount)
            batch = Batch()
        }
        let result = Result {
            try scan { record in
                if let last = batch.records.last, last.source !== record.source || batch.byteCount >= Self.batchByteCountMax { try hand() }
                batch.records.append(record)
                if case .present(let bytes) = record.payload { batch.byteCount += bytes.count }
            }
        }
        outcome.withLock { $0 = result }
        // If the queue is closed, the caller has failed, and takes no more.
        if !batch.records.isEmpty, queue.waitForRoom() { queue.put(batch, weight: batch.byteCount) }
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
