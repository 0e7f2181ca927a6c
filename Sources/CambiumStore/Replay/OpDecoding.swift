internal import CambiumBytes
internal import CambiumLog
import CambiumModel

/// Reads and decodes the ops of a large transaction on a dedicated thread, while the caller applies the preceding ops.
final class OpDecoding: Sendable {
    /// If a transaction has at least this number of bytes in the log, a dedicated thread decodes its ops.
    private static let byteCountMin = 256 << 10
    /// The maximum number of decoded ops that may wait for the caller. It is small because a few bytes can encode a block of many objects.
    private static let opCountMax = 2

    private let record: LogRecord
    private let queue = BoundedQueue<Op>(countMax: opCountMax)
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
        while let op = decoding.queue.take() { try body(op) }
        if let failure = decoding.failure.withLock({ $0 }) { throw failure }
    }

    private func decodeAll() {
        struct Closed: Error {}
        do {
            try record.forEachOp { op in
                guard queue.waitForCapacity() else { throw Closed() }
                queue.put(op)
            }
        } catch is Closed {
            return  // The caller's `body` has failed, and the caller reports why.
        } catch {
            failure.withLock { $0 = error }
        }
        queue.end()
    }
}
