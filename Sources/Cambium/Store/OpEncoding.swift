internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Encodes ops and writes them while more of them are made, on a thread of its own where they are more than a few, or large.
///
/// SENDABLE: the writer is used by who appends, until there is a thread; from then on by the thread, until it has been waited for.
final class OpEncoding: @unchecked Sendable {
    /// From how many ops on there is a thread.
    static let opCountMin = 16
    /// From how many objects in one op on there is one, too.
    private static let objectCountMin = 1024
    /// Ops that wait. A block of an import has up to 8192 objects.
    private static let opCountMax = 4

    private var writer: OpWriter
    private let queue = BoundedQueue<Op>(countMax: opCountMax)
    private var opCount = 0
    private var thread: OwnThread?

    init(_ writer: OpWriter) { self.writer = writer }

    func append(_ op: Op) {
        opCount += 1
        if thread == nil, opCount == Self.opCountMin || Self.isLarge(op) { thread = OwnThread { self.encodeAll() } }
        if thread == nil { return writer.append(op) }
        if queue.waitForRoom() { queue.put(op) }
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

    /// The writer, once it has all that was appended.
    func finish() -> OpWriter {
        queue.end()
        thread?.join()
        thread = nil
        return writer
    }
}
