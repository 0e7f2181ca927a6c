internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Encodes and writes ops while the caller creates more of them. Uses a dedicated thread if there are many ops, or if an op is large.
///
/// SENDABLE: before there is a dedicated thread, only the appending thread uses the writer. After that, only the dedicated thread uses it,
/// until `finish` has joined that thread.
final class OpEncoding: @unchecked Sendable {
    /// The number of ops at which the dedicated thread is started.
    static let opCountMin = 16
    /// The number of objects in one op at which the dedicated thread is started.
    private static let objectCountMin = 1024
    /// The maximum number of ops that may wait for the dedicated thread. It is small, because one op of an import has up to 8192 objects.
    private static let opCountMax = 4

    private var writer: OpWriter
    private let queue = BoundedQueue<Op>(countMax: opCountMax)
    private var opCount = 0
    private var thread: DedicatedThread?

    init(_ writer: OpWriter) { self.writer = writer }

    func append(_ op: Op) {
        opCount += 1
        if thread == nil, opCount == Self.opCountMin || Self.isLarge(op) { thread = DedicatedThread { self.encodeAll() } }
        if thread == nil { return writer.append(op) }
        if queue.waitForCapacity() { queue.put(op) }
    }

    private static func isLarge(_ op: Op) -> Bool {
        switch op {
        case .upsert(let block): block.serials.count >= objectCountMin
        case .relink(let block): block.serials.count >= objectCountMin
        default: false
        }
    }

    private func encodeAll() {
        while let op = queue.take() { writer.append(op) }
    }

    /// Waits until the writer has received all appended ops, and returns the writer.
    func finish() -> OpWriter {
        queue.end()
        thread?.join()
        thread = nil
        return writer
    }
}
