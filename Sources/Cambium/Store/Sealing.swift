internal import CambiumBytes
internal import CambiumLog
import CambiumModel
import Dispatch

/// Seals and merges segments that get no more frames, one after the other, while others write.
final class Sealing: Sendable {
    private struct State {
        /// The segment that is written to, as far as it is known. Those before it get no more frames.
        var openSegment: TransactionNumber
        var isClosed = false
        /// Whether nothing more is begun, however small it is.
        var isAbandoned = false
        var failure: CambiumError?
    }

    private let volume: any Volume
    private let sealer: SegmentSealer
    private let state: Guarded<State>
    private let queue = DispatchQueue(label: "cambium.store.seal", qos: .utility)
    private let tuning: LogTuning

    init(_ log: LogWriter, _ tuning: LogTuning) {
        volume = log.volume
        sealer = SegmentSealer(log)
        state = Guarded(State(openSegment: log.openSegment))
        self.tuning = tuning
    }

    /// Why the last segment that could not be sealed, or merged with others, was not: it is as it was, and the next opening tries again.
    var failure: CambiumError? { state.withLock { $0.failure } }

    /// Seals a segment, given by its transactions, that gets no more frames.
    func add(_ ended: ClosedRange<TransactionNumber>) {
        state.withLock { $0.openSegment = max($0.openSegment, ended.upperBound.next) }
        run { sealing in
            sealing.attempt({ try LogReader.byteCount(sealing.volume, ended.lowerBound) }, with: { try $0.seal(ended.lowerBound) })
        }
    }

    /// Removes covered segments, seals the open ones that others follow, and merges one run of segments of each kind.
    ///
    /// So one call writes at most twice `LogTuning.mergedByteCountMax` for merging.
    func tidy() { run { $0.tidyNow() } }

    private func run(_ body: @escaping @Sendable (Sealing) -> Void) {
        guard tuning.sealsSegments else { return }
        if tuning.sealsInBackground { queue.async { body(self) } } else { queue.sync { body(self) } }
    }

    private func tidyNow() {
        let end = state.withLock { $0.openSegment }
        // What covers others and is not the same is not merged.
        guard attempt({ 0 }, with: { try $0.removeCovered(before: end) }) else { return }
        attempt({ 0 }, with: { try tidy($0, before: end) })
    }

    private func tidy(_ sealer: SegmentSealer, before end: TransactionNumber) throws {
        for (segment, byteCount) in try sealer.openSegments(before: end) { attempt({ byteCount }, with: { try $0.seal(segment) }) }
        let runs = try sealer.mergeableRuns(before: end)
        for run in [runs.first { !$0.isRetired }, runs.first { $0.isRetired }].compactMap(\.self) {
            attempt({ run.byteCount }, with: { try $0.merge(run) })
        }
    }

    /// Calls `body`, and notes why it failed. If the store is being closed, only a few bytes are worth it.
    ///
    /// - Returns: false if `body` was not called or failed.
    @discardableResult
    private func attempt(_ byteCount: () throws -> Int, with body: (SegmentSealer) throws -> Void) -> Bool {
        do {
            let byteCount = try byteCount()
            let isWorthIt = state.withLock { !$0.isAbandoned && (!$0.isClosed || byteCount <= tuning.closingMergeByteCountMax) }
            if isWorthIt { try body(sealer) }
            return isWorthIt
        } catch {
            let failure = error as? CambiumError ?? CambiumError(.ioFailure, "\(error)")
            state.withLock { $0.failure = failure }
            return false
        }
    }

    /// Calls `body` while no segment is replaced by anybody else. Throws `.notWritable` if the store was closed.
    ///
    /// - Parameter body: gets the segment that is written to, too. Those before it get no more frames.
    func whileNoneIsSealed<Result>(_ body: (SegmentSealer, _ openSegment: TransactionNumber) throws -> Result) throws -> Result {
        try queue.sync {
            let state = state.withLock { $0 }
            if state.isClosed { throw CambiumError(.notWritable, "The store was closed.") }
            return try body(sealer, state.openSegment)
        }
    }

    /// Waits for what is under way, and for small segments that wait. The others stay as they are: nothing may be renamed once the lock is
    /// given up.
    func close() {
        state.withLock { $0.isClosed = true }
        queue.sync {}
    }

    /// Waits for what is under way and does nothing more, as far as the death of a process can be followed.
    func abandon() {
        state.withLock { ($0.isClosed, $0.isAbandoned) = (true, true) }
        queue.sync {}
    }
}
