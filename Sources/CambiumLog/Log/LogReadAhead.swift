import CambiumBytes
package import CambiumModel

/// A reader that reads and verifies a long log on a dedicated thread, while the caller is using the transactions that were read earlier.
final class LogReadAhead: Sendable {
    /// A log with more bytes than this is read on a dedicated thread. A writer keeps fewer zeros at the end of a segment, so zeros alone
    /// never start the thread.
    static let byteCountMin = 2 << 20
    /// The maximum number of batches that were read and are waiting for the caller.
    private static let batchCountMax = 2
    /// The maximum number of bytes of ops in the batches that were read, including the batch that the caller is using.
    private static let pendingByteCountMax = 32 << 20
    /// The maximum number of records in a batch. A batch of this size takes several MiB of memory.
    static let recordCountMax = 16_384

    private let queue = BoundedQueue<LogBatch>(countMax: batchCountMax, weightMax: pendingByteCountMax)
    /// Emptied arrays of earlier batches, so that later batches reuse their memory.
    private let used = Guarded<[LogBatch]>([])
    private let outcome = Guarded<Result<LogReader.End, any Error>?>(nil)
    private let preparation: LogBatch.Preparation
    private let scan: @Sendable (LogCursor.BatchBody) throws -> LogReader.End

    /// - Parameter preparation: the work on each batch that the thread does after it has read the batch.
    init(preparing preparation: LogBatch.Preparation, _ scan: @escaping @Sendable (LogCursor.BatchBody) throws -> LogReader.End) {
        (self.preparation, self.scan) = (preparation, scan)
    }

    /// Calls `body` with every transaction, in order, on the caller's thread. If the scan fails, throws its error after `body` has received
    /// everything that was read before the error. Also throws the errors of `body`.
    func run(_ body: (LogBatch) throws -> Void) throws -> LogReader.End {
        guard let thread = DedicatedThread({ self.read() }) else {
            return try scan { try LogBatch.pass(&$0, preparing: preparation, body) }
        }
        defer {
            queue.close()
            thread.join()
        }
        while var batch = queue.take() {
            try body(batch)
            queue.release(weight: batch.opsByteCount)
            batch.removeAll()
            used.withLock { $0.append(batch) }
        }
        guard let outcome = outcome.withLock({ $0 }) else {
            throw CambiumError(.ioFailure, "The log was not read to its end. Repeat the command.")
        }
        return try outcome.get()
    }

    private func read() {
        struct Closed: Error {}
        let result = Result {
            try scan { records in
                var batch = used.withLock { $0.popLast() } ?? LogBatch()
                swap(&batch.records, &records)
                let failure = batch.prepare(preparation)
                guard queue.waitForCapacity() else { throw Closed() }
                queue.put(batch, weight: batch.opsByteCount)
                if let failure { throw failure }
            }
        }
        outcome.withLock { $0 = result }
        queue.end()
    }
}

extension LogReader {
    /// Scans the log as `scan` does, on two threads if the log is long, and calls `body` with the transactions in batches.
    package func scanAhead(
        after base: LogPrefix?, makesDurable: Bool, preparing preparation: LogBatch.Preparation, _ body: (LogBatch) throws -> Void
    ) throws -> End {
        let first = base?.transaction.next ?? TransactionNumber(rawValue: 1)
        var cursor = try LogCursor(self, from: first, after: base, mayBeWritten: makesDurable)
        if try cursor.hasMore(than: LogReadAhead.byteCountMin) {
            return try LogReadAhead(preparing: preparation) { body in
                var cursor = try LogCursor(self, from: first, after: base, mayBeWritten: makesDurable)
                cursor.batchCountMax = LogReadAhead.recordCountMax
                try cursor.advance(batches: body)
                return try cursor.judge(batches: body)
            }.run(body)
        }
        func pass(_ records: inout [LogRecord]) throws { try LogBatch.pass(&records, preparing: preparation, body) }
        try cursor.advance(batches: pass)
        return try cursor.judge(batches: pass)
    }

    /// The number of transactions from which `scanAhead(from:through:)` uses a second thread, and the maximum number in its batches.
    private static let aheadCountMin: UInt64 = 4096
    private static let aheadBatchCountMax = 1024

    /// Calls `body` with the transactions from `first` to `last`, or to the end of the log, in batches. Reads on a dedicated thread if
    /// `last` is far.
    ///
    /// Throws as `scan(from:after:makesDurable:salvages:at:_:)` does. Stops reading after `last`.
    ///
    /// - Parameter place: as in `scan`. If `body` throws, the position may be that of a later transaction.
    /// - Returns: the end of the log; `nil` if the log was read up to `last`.
    package func scanAhead(
        from first: TransactionNumber, through last: TransactionNumber?, after base: LogPrefix?, at place: inout SegmentPlace?,
        preparing preparation: LogBatch.Preparation, _ body: (LogBatch) throws -> Void
    ) throws -> End? {
        struct Reached: Error {}
        let syncs = last.map { $0 > lastDurableTransaction } ?? true
        let isFar = last.map { $0 >= first && $0.rawValue - first.rawValue >= Self.aheadCountMin } ?? false
        let kept = Guarded(place)
        defer { place = kept.withLock { $0 } }
        let read: @Sendable (LogCursor.BatchBody) throws -> End = { body in
            var cursor = try LogCursor(
                self, from: base?.transaction.next ?? first, after: base, mayBeWritten: true, syncs: syncs, at: kept.withLock { $0 })
            if isFar { cursor.batchCountMax = Self.aheadBatchCountMax }
            defer { kept.withLock { $0 = cursor.place } }
            func pass(_ records: inout [LogRecord]) throws {
                guard let last, let newest = records.last?.number, newest >= last else { return try body(&records) }
                records.removeAll { $0.number > last }
                try body(&records)
                throw Reached()
            }
            try cursor.advance(batches: pass)
            return try cursor.judge(batches: pass)
        }
        do {
            if isFar { return try LogReadAhead(preparing: preparation, read).run(body) }
            return try read { try LogBatch.pass(&$0, preparing: preparation, body) }
        } catch is Reached { return nil }
    }
}
