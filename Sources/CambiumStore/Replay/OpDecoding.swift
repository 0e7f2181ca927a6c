internal import CambiumBytes
internal import CambiumLog
import CambiumModel

/// Reads and decodes the ops of a large transaction on a dedicated thread, while the caller applies the preceding ops.
final class OpDecoding: Sendable {
    /// If a transaction has at least this number of bytes in the log, a dedicated thread decodes its ops.
    private static let byteCountMin = 256 << 10
    /// The maximum number of decoded batches that may wait for the caller. It is small because a few bytes can encode many objects.
    private static let batchCountMax = 2
    /// A batch ends with this number of ops, or with this work of applying them, in units of `ReplayWork`: the threads wait for each other
    /// less often, and a batch has at most one large op.
    private static let opCountMax = 256
    private static let workMax = 256 << 10

    private let record: LogRecord
    private let queue = BoundedQueue<[Op]>(countMax: batchCountMax)
    private let failure = Guarded<(any Error)?>(nil)

    private init(_ record: LogRecord) { self.record = record }

    /// Calls `body` with each op, on the caller's thread. Throws as `LogRecord.forEachOp` does.
    static func forEachOp(of record: LogRecord, _ body: (Op) throws -> Void) throws {
        if record.byteCount < byteCountMin { return try record.forEachOp(body) }
        let decoding = OpDecoding(record)
        guard let thread = DedicatedThread({ decoding.decodeAll() }) else { return try record.forEachOp(body) }
        defer {
            decoding.queue.close()
            thread.join()
        }
        while let ops = decoding.queue.take() { for op in ops { try body(op) } }
        if let failure = decoding.failure.withLock({ $0 }) { throw failure }
    }

    private func decodeAll() {
        struct Closed: Error {}
        var (batch, work): ([Op], Int) = ([], 0)
        func pass() throws {
            guard queue.waitForCapacity() else { throw Closed() }
            queue.put(batch)
            (batch, work) = ([], 0)
        }
        do {
            // The caller applies the ops before the corruption of a later one is reported.
            let result = Result {
                try record.forEachOp { op in
                    batch.append(op)
                    work += op.replayWork
                    if batch.count >= Self.opCountMax || work >= Self.workMax { try pass() }
                }
            }
            if case .failure(let error) = result, error is Closed { throw error }
            if !batch.isEmpty { try pass() }
            try result.get()
        } catch is Closed {
            return  // The caller's `body` has failed, and the caller reports why.
        } catch {
            failure.withLock { $0 = error }
        }
        queue.end()
    }
}
