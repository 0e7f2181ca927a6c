internal import CambiumBytes
package import CambiumLog
import CambiumModel
import Dispatch

/// Seals full segments (files of the log) and merges small ones, in the background. To seal a segment is to write it again in its final
/// form, with an index.
package final class Sealing: Sendable {
    private struct State {
        /// The segment (a file of the log) to which the writer appends, as far as this object knows. No transaction is added to earlier
        /// segments.
        var openSegment: TransactionNumber
        var isClosed = false
        /// Whether all further work is forbidden, including the small merges that are still allowed after `isClosed` is set.
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

    /// The last error of sealing or merging; `nil` if there was no error. After an error, the segments are unchanged, and the store tries
    /// again when it is next opened.
    var failure: CambiumError? { state.withLock { $0.failure } }

    /// Seals a segment (a file of the log) to which no more transactions are added.
    ///
    /// - Parameter ended: the transactions of the segment.
    package func add(_ ended: ClosedRange<TransactionNumber>) {
        state.withLock { $0.openSegment = max($0.openSegment, ended.upperBound.next) }
        run { sealing in
            sealing.attempt({ try LogDirectory.byteCount(sealing.volume, ended.lowerBound) }, with: { try $0.seal(ended.lowerBound) })
        }
    }

    /// Tidies the segments (files of the log) to which no more transactions are added. Removes each segment whose transactions another
    /// segment also contains. Seals the segments that are not sealed yet. Then merges one series of consecutive segments without ops, and
    /// one series of consecutive segments with ops.
    ///
    /// So one call writes at most twice `LogTuning.mergedByteCountMax` for merging.
    package func tidy() { run { $0.tidyNow() } }

    private func run(_ body: @escaping @Sendable (Sealing) -> Void) {
        guard tuning.sealsSegments else { return }
        if tuning.sealsInBackground { queue.async { body(self) } } else { queue.sync { body(self) } }
    }

    private func tidyNow() {
        let end = state.withLock { $0.openSegment }
        // `removeCovered` throws `.corrupted` if two segments have different content for the same transactions. In that case the log is
        // corrupt, so nothing is sealed or merged.
        guard attempt({ 0 }, with: { try $0.removeCovered(before: end) }) else { return }
        attempt({ 0 }, with: { try tidy($0, before: end) })
    }

    private func tidy(_ sealer: SegmentSealer, before end: TransactionNumber) throws {
        var closed = try sealer.closedSegments(before: end)
        let open = closed.filter(\.isOpen)
        for segment in open { attempt({ segment.byteCount }, with: { try $0.seal(segment.first) }) }
        // Lists the segments again only if this call has sealed some of them, because a log may have thousands of segments.
        if !open.isEmpty { closed = try sealer.closedSegments(before: end) }
        let runs = sealer.mergeableRuns(in: closed)
        for run in [runs.first { !$0.isRetired }, runs.first { $0.isRetired }].compactMap(\.self) {
            attempt({ run.byteCount }, with: { try $0.merge(run) })
        }
    }

    /// Calls `body`, and records its error. If the store is being closed, calls `body` only if few bytes must be written
    /// (`LogTuning.closingMergeByteCountMax`).
    ///
    /// - Returns: `false` if `body` was not called or failed.
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

    /// Calls `body` while no other thread replaces a segment. Throws `.notWritable` if the store was closed.
    ///
    /// - Parameter body: receives the sealer, and the segment to which the writer appends. No transaction is added to earlier segments.
    package func whileNoneIsSealed<Result>(_ body: (SegmentSealer, _ openSegment: TransactionNumber) throws -> Result) throws -> Result {
        try queue.sync {
            let state = state.withLock { $0 }
            if state.isClosed { throw CambiumError(.notWritable, "The store was closed. Open it again.") }
            return try body(sealer, state.openSegment)
        }
    }

    /// Waits for the work in progress, and for the queued work on small segments. Skips the queued work on larger segments: no file may be
    /// renamed after the store's lock is released, so this work would delay the release. A compaction that ends later may still call
    /// `tidy`, which then does nothing.
    func close() {
        state.withLock { $0.isClosed = true }
        queue.sync { state.withLock { $0.isAbandoned = true } }
    }

    /// Waits for the work in progress, and does not begin more. This imitates the death of a process as closely as possible.
    func abandon() {
        state.withLock { ($0.isClosed, $0.isAbandoned) = (true, true) }
        queue.sync {}
    }
}
