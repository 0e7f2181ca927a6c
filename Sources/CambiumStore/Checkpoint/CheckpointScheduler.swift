internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel
import Dispatch

/// Decides when checkpoints are made, and makes them in the background while other threads write. See Docs/Formats/CHECKPOINTS.md.
///
/// When a checkpoint may be due, a write rings the `UpkeepAlarm` of the store. The scheduler then decides whether to make a checkpoint, and
/// sets new limits for the alarm.
package final class CheckpointScheduler: Sendable {
    package let checkpointer: Checkpointer
    private let upkeep: GraphUpkeep
    private let writer: WriterState
    private let tuning: LogTuning
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "cambium.store.checkpoint", qos: .utility)
    /// The queue on which the touch index is extended, so that a long extension delays no checkpoint.
    private let touchQueue = DispatchQueue(label: "cambium.store.touches", qos: .utility)
    /// The lock that a thread holds while it extends the touch index.
    private let touching = WriterLock()

    private struct State {
        /// The number of logged bytes at the time when an automatic checkpoint last failed; `nil` if no automatic checkpoint has failed.
        /// The growth of the log that triggers the next attempt is counted from this number.
        var failedByteCount: Int?
        /// The work of replaying the transactions that were committed when an automatic checkpoint last failed, as `failedByteCount`.
        var failedWork: Int?
        /// The minimum time in microseconds between `doneTime` and the next checkpoint that only the work of replay causes. It is ten times
        /// the duration of the last checkpoint, so that such checkpoints take at most about a tenth of the time.
        var workPause: Int64 = 0
        /// The time at which the interval to the next checkpoint begins, in microseconds since 1970. It is the time of the first commit
        /// after the last automatic attempt, or after the store was opened; `nil` before that commit. If the clock is set back, it is the
        /// time of the next commit.
        var doneTime: Int64?
        /// Whether an automatic checkpoint is scheduled or being made.
        var isQueued = false
        /// The minimum time in microseconds between `doneTime` and the next attempt at a checkpoint that the reserve causes. The reserve
        /// consists of the chunks that are kept free for deletions. Each attempt that the reserve causes lengthens the pause. A commit that
        /// does not use the reserve resets the pause to 0.
        var reservePause: Int64 = 0
        /// Whether a call of `endPause` is scheduled. The call attempts a checkpoint if one is still due at that time.
        var isWaiting = false
        var failure: CambiumError?
    }

    /// The length of `reservePause` after the first checkpoint that the reserve has caused, in microseconds. Each further checkpoint that
    /// the reserve causes doubles the pause, up to `checkpointInterval`.
    private static let reservePauseMin: Int64 = 1_000_000

    init(_ checkpointer: Checkpointer) {
        self.checkpointer = checkpointer
        (writer, tuning) = (checkpointer.writer, checkpointer.tuning)
        upkeep = GraphUpkeep(writer: writer)
        writer.alarm.onRing { [weak self] in self?.consider($0) }
        state.withLock { setAlarm($0) }
    }

    /// The error of the last automatic checkpoint; `nil` if that checkpoint did not fail. The log still contains every transaction, and
    /// another attempt follows later.
    var failure: CambiumError? { state.withLock { $0.failure } }

    // MARK: Making

    /// Packs the pages if the newest transaction has no checkpoint yet. Then stores the newest graph while writers continue.
    func checkpoint() throws -> CheckpointReceipt {
        try writer.checkOutsideOfWrites("checkpoint")
        try upkeep.buildIndexes()
        if !checkpointer.isNewestStored { _ = try upkeep.pack(PackingLimits(), stepCountMax: GraphUpkeep.stepCountMax) }
        return try store(again: false)
    }

    /// Stores the newest graph as a checkpoint, without packing its pages first.
    ///
    /// - Parameter again: whether to replace a checkpoint of the same transaction, if there is one. The replacement is useful if packing
    ///   has changed the pages.
    package func store(again: Bool) throws -> CheckpointReceipt {
        let begin = TickClock.now
        defer { state.withLock { setAlarm($0) } }
        do {
            let receipt = try checkpointer.make(again: again)
            // If the transaction already has a checkpoint, no bytes are written, and no checkpoint is counted.
            if receipt.byteCount > 0 { writer.metrics.upkeep.withLock { $0.trackCheckpoint(ticks: TickClock.ticks(since: begin)) } }
            return receipt
        } catch {
            if !isRefusal(error) { writer.metrics.upkeep.withLock { $0.failedCheckpointCount += 1 } }
            throw error
        }
    }

    /// Whether an error only states that the store was closed. In that case, no checkpoint has failed: closing the store makes a checkpoint
    /// if one is worthwhile.
    private func isRefusal(_ error: any Error) -> Bool {
        (error as? CambiumError)?.code == .notWritable && writer.lock.hold { writer.isClosed }
    }

    /// Makes a checkpoint before the store is closed, if opening the store again would take a long time without it.
    func makeAtClosing() {
        // These numbers include the log before a failed checkpoint, because that log must be replayed when the store is next opened.
        let newest = checkpointer.newest
        let tailByteCount = writer.alarm.loggedByteCount - newest.loggedByteCount
        if tailByteCount >= tuning.closingCheckpointByteCount || tailWork(newest) >= tuning.replayWorkMax { attempt() }
        extendTouches(countMax: tuning.closingTouchCountMax)
    }

    /// Extends the touch index up to the newest checkpoint. Commits and checkpoints continue at the same time.
    ///
    /// - Parameter countMax: The maximum number of transactions. If more are not in the index, nothing is done.
    func extendTouches(countMax: UInt64 = .max) {
        touching.hold {
            let builder = TouchBuilder(
                volume: checkpointer.volume, memory: writer.timeline.budget, tuning: tuning,
                check: { [writer] in
                    if writer.lock.hold({ writer.isClosed }) { throw CambiumError(.notWritable, "The store was closed. Open it again.") }
                },
                writing: { [checkpointer] body in try checkpointer.whileNoneIsMade(body) })
            // Histories are the same without the index. The next checkpoint extends it again.
            try? builder.extend(countMax: countMax)
        }
    }

    /// Attempts a checkpoint, and then extends the touch index in the background.
    private func attemptInBackground() {
        attempt()
        touchQueue.async { [weak self] in self?.extendTouches() }
    }

    /// Makes an automatic checkpoint. Records whether the checkpoint failed, except if it was refused because the store was closed.
    func attempt() {
        var failure: CambiumError?
        let begin = TickClock.now
        do { _ = try checkpoint() } catch {
            if isRefusal(error) { return }
            failure = error as? CambiumError ?? CambiumError(.ioFailure, "\(error)")
        }
        let duration = writer.lock.clock.rate.duration(ofTicks: TickClock.ticks(since: begin))
        state.withLock { state in
            state.isQueued = false
            state.failure = failure
            state.doneTime = nil
            state.workPause = max(tuning.replayPauseMin, min(10 * duration.microseconds, tuning.checkpointInterval))
            if failure != nil { (state.failedByteCount, state.failedWork) = (writer.alarm.loggedByteCount, writer.alarm.replayWork) }
            setAlarm(state)
        }
    }

    // MARK: Timing

    private func consider(_ reading: UpkeepAlarm.Reading) {
        // A block in the queue must not keep the store alive, so the block captures `self` weakly.
        if isDue(reading) { return queue.async { [weak self] in self?.attemptInBackground() } }
        // A deletion may be the last commit that the full graph accepts, and no commit may follow changes that take long to replay. So the
        // checkpoint must not depend on a later commit.
        guard let pause = pauseToWait(reading) else { return }
        queue.asyncAfter(deadline: .now() + .microseconds(Int(pause))) { [weak self] in self?.endPause() }
    }

    /// Returns the time until `endPause` must be called, in microseconds, if the last commit used the reserve, or if replaying the log
    /// takes long. Returns `nil` if neither is true, or if `endPause` or a checkpoint is already scheduled.
    private func pauseToWait(_ reading: UpkeepAlarm.Reading) -> Int64? {
        let newest = checkpointer.newest
        return state.withLock { state in
            let isSlow = isSlow(state, newest)
            guard reading.isFull || isSlow, tuning.checkpointsInBackground, !state.isQueued, !state.isWaiting else { return nil }
            state.isWaiting = true
            setAlarm(state)
            let pause = reading.isFull ? state.reservePause : state.workPause
            return max(0, pause - (reading.time &- (state.doneTime ?? reading.time)))
        }
    }

    /// Attempts a checkpoint after the pause, if the graph still uses its reserve, or if replaying the log still takes long.
    private func endPause() {
        let (isFull, isClosed) = writer.lock.hold { (!writer.isClosed && writer.timeline.isInReserve, writer.isClosed) }
        let newest = checkpointer.newest
        let isDue = state.withLock { state in
            state.isWaiting = false
            if state.isQueued { return false }
            if isFull { lengthenPause(&state) }
            state.isQueued = isFull || !isClosed && isSlow(state, newest)
            setAlarm(state)
            return state.isQueued
        }
        if isDue { attemptInBackground() }
    }

    private func lengthenPause(_ state: inout State) {
        state.reservePause = min(max(2 * state.reservePause, Self.reservePauseMin), tuning.checkpointInterval)
    }

    /// Whether an automatic checkpoint must be made, because the log after the last checkpoint is long, old, or slow to replay, or because
    /// memory or pages are scarce. If so, the caller must call `attempt`.
    func isDue(_ reading: UpkeepAlarm.Reading) -> Bool {
        let newest = checkpointer.newest
        return state.withLock { state in
            if state.isQueued || !tuning.checkpointsInBackground { return false }
            let doneTime = min(state.doneTime ?? reading.time, reading.time)
            state.doneTime = doneTime
            let tailByteCount = tailByteCount(state, newest)
            let isMemoryShort = reading.isMemoryTight && reading.heapByteCount > heapByteCountMax(newest)
            let isOld = tailByteCount >= tuning.oldByteCount && reading.time &- doneTime >= tuning.checkpointInterval
            // After a failed checkpoint, memory stays scarce. If every later commit caused another attempt, each attempt would pack and
            // write as many pages as the failed one. So the next attempt is made only after the log has grown.
            let canRelieve = state.failure == nil || tailByteCount >= tuning.oldByteCount
            // If a checkpoint does not free enough chunks, commits still use the reserve. In that case, the next checkpoint is attempted
            // after a pause.
            if !reading.isFull { state.reservePause = 0 }
            let isFull = reading.isFull && (reading.time &- doneTime >= state.reservePause || tailByteCount >= tuning.oldByteCount)
            let isSlow = isSlow(state, newest) && reading.time &- doneTime >= state.workPause
            let isNewDay = reading.time >= dayEnd(newest) && canRelieve
            state.isQueued =
                tailByteCount >= tailByteCountMax(newest) || isMemoryShort && canRelieve || isOld || isFull || isSlow || isNewDay
            if state.isQueued, reading.isFull { lengthenPause(&state) }
            setAlarm(state)
            return state.isQueued
        }
    }

    /// Sets the limits at which a write rings the alarm. Call this method only while `state` is locked.
    private func setAlarm(_ state: State) {
        if state.isQueued || !tuning.checkpointsInBackground { return writer.alarm.set(.never) }
        let newest = checkpointer.newest
        let begin = tailBegin(state, newest)
        var limits = UpkeepAlarm.Limits()
        limits.loggedByteCount = Self.sum(begin, tailByteCountMax(newest))
        limits.heapByteCount = heapByteCountMax(newest)
        // While `endPause` is scheduled, no commit need ring because of the work.
        if !state.isWaiting { limits.replayWork = Self.sum(max(newest.replayWork, state.failedWork ?? .min), tuning.replayWorkMax) }
        limits.watchesReserve = true
        if state.failure == nil { limits.dayTime = dayEnd(newest) }
        if let doneTime = state.doneTime {
            limits.oldByteCount = Self.sum(begin, tuning.oldByteCount)
            (limits.oldBegin, limits.oldTime) = (doneTime, Self.sum(doneTime, tuning.checkpointInterval))
        } else {
            // The interval begins with the next commit, whose time is not known yet. So the next commit rings the alarm, however little has
            // been logged. For that commit, `isDue` records the time and sets the real limits.
            (limits.oldByteCount, limits.oldTime) = (.min, .min)
        }
        writer.alarm.set(limits)
    }

    /// Returns the sum, or the maximum number of the type if the sum is greater.
    private static func sum<Number: FixedWidthInteger>(_ first: Number, _ second: Number) -> Number {
        let (sum, isTooMuch) = first.addingReportingOverflow(second)
        return isTooMuch ? .max : sum
    }

    /// The number of bytes that the store had logged at the newest checkpoint, or at the last failed automatic checkpoint if that was
    /// later.
    private func tailBegin(_ state: State, _ newest: NewestCheckpoint) -> Int { max(newest.loggedByteCount, state.failedByteCount ?? .min) }

    /// The number of bytes of log after the newest checkpoint, or after the last failed automatic checkpoint if that was later.
    private func tailByteCount(_ state: State, _ newest: NewestCheckpoint) -> Int {
        writer.alarm.loggedByteCount - tailBegin(state, newest)
    }

    /// The work of replaying the log after the newest checkpoint, in units of `ReplayWork`.
    private func tailWork(_ newest: NewestCheckpoint) -> Int { writer.alarm.replayWork - newest.replayWork }

    /// The work of replaying the log after the newest checkpoint, in units of `ReplayWork`. An opening of the store has to do this work.
    var tailWork: Int { tailWork(checkpointer.newest) }

    /// Whether replaying the log after the newest checkpoint takes long, or the log after the last failed automatic checkpoint if that was
    /// later.
    private func isSlow(_ state: State, _ newest: NewestCheckpoint) -> Bool {
        writer.alarm.replayWork - max(newest.replayWork, state.failedWork ?? .min) >= tuning.replayWorkMax
    }

    /// The end of the newest checkpoint's day, in microseconds since 1970, if the policy keeps a moment of each day. A later commit makes a
    /// checkpoint due.
    private func dayEnd(_ newest: NewestCheckpoint) -> Int64 {
        guard checkpointer.keepsDays.load(ordering: .relaxed), let time = newest.time else { return .max }
        return CheckpointPolicy.end(ofDayOf: time.microsecondsSince1970)
    }

    /// If the log after the newest checkpoint has this number of bytes, another checkpoint is made.
    private func tailByteCountMax(_ newest: NewestCheckpoint) -> Int { max(tuning.checkpointByteCount, newest.storedByteCount / 16) }

    /// If memory is scarce and the pages on the heap take more than this number of bytes, a checkpoint is made.
    private func heapByteCountMax(_ newest: NewestCheckpoint) -> Int {
        Self.sum(newest.heapByteCount, writer.timeline.budget.byteCount / 8)
    }
}
