import CambiumBytes
import CambiumModel

/// Reads and verifies a long log on a thread of its own, while the caller uses the transactions that were read before.
final class LogReadAhead: Sendable {
    /// Bytes of log from which on there is a thread. More than a writer keeps as zeros at the end of a segment.
    static let byteCountMin = 2 << 20
    /// Batches that wait for the caller, and the bytes of their ops and of those that the caller uses.
    private static let batchCountMax = 2
    static let recordCountMax = 16_384
    private static let pendingByteCountMax = 32 << 20

    /// Transactions that were read at once, or some of them.
    private struct Batch {
        var records: [LogRecord] = []
        /// Bytes of ops.
        var byteCount = 0
    }

    private let queue = BoundedQueue<Batch>(countMax: batchCountMax, weightMax: pendingByteCountMax)
    /// Arrays that the caller has used, for their memory.
    private let used = Guarded<[[LogRecord]]>([])
    private let outcome = Guarded<Result<LogReader.End, any Error>?>(nil)
    private let scan: @Sendable (LogCursor.BatchBody) throws -> LogReader.End

    init(_ scan: @escaping @Sendable (LogCursor.BatchBody) throws -> LogReader.End) { self.scan = scan }

    /// Calls `body` with every transaction, in order, on the caller's thread. Throws what the scan throws, after `body` has seen all that
    /// was read before, and what `body` throws.
    func run(_ body: (LogRecord) throws -> Void) throws -> LogReader.End {
        guard let thread = OwnThread({ self.read() }) else { return try scan { try $0.forEachInPlace(body) } }
        defer {
            queue.close()
            thread.join()
        }
        while var batch = queue.take() {
            try batch.records.forEachInPlace(body)
            batch.records.removeAll(keepingCapacity: true)
            used.withLock { $0.append(batch.records) }
            queue.giveBack(weight: batch.byteCount)
        }
        guard let outcome = outcome.withLock({ $0 }) else { throw CambiumError(.ioFailure, "The log was not read to its end.") }
        return try outcome.get()
    }

    private func read() {
        struct Closed: Error {}
        let result = Result {
            try scan { records in
                var byteCount = 0
                for place in records.indices { byteCount += records[place].opsByteCount }
                let batch = Batch(records: records, byteCount: byteCount)
                records = used.withLock { $0.popLast() } ?? []
                guard queue.waitForRoom() else { throw Closed() }
                queue.put(batch, weight: byteCount)
            }
        }
        outcome.withLock { $0 = result }
        queue.end()
    }
}

extension LogReader {
    /// As `scan`, on two threads if the log is long.
    public func scanAhead(after base: Prefix?, makesDurable: Bool, _ body: (LogRecord) throws -> Void) throws -> End {
        let first = base?.transaction.next ?? TransactionNumber(rawValue: 1)
        var cursor = try LogCursor(self, from: first, after: base, isBesideWriter: makesDurable)
        if try cursor.hasMore(than: LogReadAhead.byteCountMin) {
            return try LogReadAhead { body in
                var cursor = try LogCursor(self, from: first, after: base, isBesideWriter: makesDurable)
                cursor.batchCountMax = LogReadAhead.recordCountMax
                try cursor.advance(batches: body)
                return try cursor.judge(batches: body)
            }.run(body)
        }
        try cursor.advance(body)
        return try cursor.judge(body)
    }
}
