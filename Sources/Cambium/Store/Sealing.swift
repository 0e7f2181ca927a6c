internal import CambiumBytes
internal import CambiumLog
import CambiumModel
import Dispatch

/// Has full segments sealed one after the other, behind the back of who writes.
final class Sealing: Sendable {
    private struct State {
        var isClosed = false
        var failure: CambiumError?
    }

    private let sealer: SegmentSealer
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "cambium.store.seal", qos: .utility)

    private let isInBackground: Bool

    init(_ sealer: SegmentSealer, inBackground: Bool) {
        self.sealer = sealer
        isInBackground = inBackground
    }

    /// Why the last segment that could not be sealed was not: it is as it was, and the next opening tries again.
    var failure: CambiumError? { state.withLock { $0.failure } }

    /// Has a segment sealed that gets no more frames.
    func add(_ segment: TransactionNumber) {
        if isInBackground { queue.async { self.seal(segment) } } else { queue.sync { seal(segment) } }
    }

    /// Calls `body` while no segment is replaced behind its back. Throws `.notWritable` if the store was closed.
    func whileNoneIsSealed<Result>(_ body: (SegmentSealer) throws -> Result) throws -> Result {
        try queue.sync {
            if state.withLock({ $0.isClosed }) { throw CambiumError(.notWritable, "The store was closed.") }
            return try body(sealer)
        }
    }

    private func seal(_ segment: TransactionNumber) {
        if state.withLock({ $0.isClosed }) { return }
        do {
            try sealer.seal(segment)
        } catch {
            let failure = error as? CambiumError ?? CambiumError(.ioFailure, "\(error)")
            state.withLock { $0.failure = failure }
        }
    }

    /// Waits for the segment under way, and leaves the others as they are: nothing may be renamed once the lock is given up.
    func close() {
        state.withLock { $0.isClosed = true }
        queue.sync {}
    }
}
