internal import CambiumBytes
import CambiumGraph
import CambiumModel
import Dispatch

/// Packs the pages of a store in memory, in the background. A store on disk packs its pages before each checkpoint instead.
///
/// An interval of five minutes begins with a commit. The first commit after the interval rings the `UpkeepAlarm` of the store.
final class PackingScheduler: Sendable {
    private let upkeep: GraphUpkeep
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "cambium.store.pack", qos: .utility)

    private struct State {
        /// The beginning of the interval, in microseconds since 1970. It is the time of the first commit, or of the first commit after the
        /// last attempt; `nil` before that commit. If the clock is set back, it is the time of the next commit.
        var begin: Int64?
        /// Whether packing is scheduled or in progress.
        var isQueued = false
    }

    /// The time between two attempts, in microseconds.
    private static let interval: Int64 = 300_000_000

    init(_ upkeep: GraphUpkeep) {
        self.upkeep = upkeep
        alarm.onRing { [weak self] in self?.consider($0) }
        state.withLock { setAlarm($0) }
    }

    private var alarm: UpkeepAlarm { upkeep.writer.alarm }

    private func consider(_ reading: UpkeepAlarm.Reading) {
        guard isDue(at: reading.time) else { return }
        // Most graphs have nothing to pack, and need no thread.
        guard isWorthwhile else { return endAttempt() }
        // A block that is waiting in the queue must not keep the store alive, so the block captures `self` weakly.
        queue.async { [weak self] in self?.attempt() }
    }

    /// Returns whether the time has come for the next attempt to pack. If so, records that an attempt is scheduled. In that case, the
    /// caller must call `endAttempt`, whether or not it makes the attempt.
    private func isDue(at time: Int64) -> Bool {
        state.withLock { state in
            if state.isQueued { return false }
            let begin = min(state.begin ?? time, time)
            state.begin = begin
            state.isQueued = time &- begin >= Self.interval
            setAlarm(state)
            return state.isQueued
        }
    }

    /// Whether the newest graph has rows to gather. A store in memory has no checkpoints, so writers may still write to all of its chunks,
    /// and packing empties none of them.
    private var isWorthwhile: Bool {
        let writer = upkeep.writer
        return writer.lock.hold(as: .packing) { !writer.isClosed && writer.timeline.head.hasThinTable(PackingLimits()) }
    }

    private func attempt() {
        do {
            _ = try upkeep.pack(PackingLimits(), stepCountMax: .max)
        } catch {
            // Packing fails only if the store was closed, and a closed store needs no packing.
            assert((error as? CambiumError)?.code == .notWritable, "\(error)")
        }
        endAttempt()
    }

    private func endAttempt() {
        state.withLock { state in
            state = State()
            setAlarm(state)
        }
    }

    /// Sets the limits at which a commit rings the alarm. Call this method only while `state` is locked.
    private func setAlarm(_ state: State) {
        if state.isQueued { return alarm.set(.never) }
        // A store in memory logs no bytes, so only the elapsed time determines when the alarm rings.
        var limits = UpkeepAlarm.Limits()
        limits.oldByteCount = 0
        if let begin = state.begin {
            let (end, isBeyond) = begin.addingReportingOverflow(Self.interval)
            (limits.oldBegin, limits.oldTime) = (begin, isBeyond ? .max : end)
        } else {
            // The interval begins with the next commit, so the next commit rings the alarm.
            limits.oldTime = .min
        }
        alarm.set(limits)
    }
}
