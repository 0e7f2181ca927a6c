internal import CambiumBytes
import CambiumGraph
import Synchronization

/// Alerts the background work of a store when there may be something to do.
///
/// A write compares measurements, such as the number of logged bytes, with limits. The comparison takes no additional lock. If a limit is
/// reached, the write rings the alarm after it has released the writer's lock. The closure of `onRing` then decides whether there is work,
/// and sets new limits.
final class UpkeepAlarm: Sendable {
    /// The measurements by which the background work decides whether there is something to do. A write passes a reading to the closure of
    /// `onRing`.
    struct Reading {
        /// The time of the write, in microseconds since 1970.
        let time: Int64
        let heapByteCount: Int
        let isMemoryTight: Bool
        /// Whether so few pages are left that only deletions may use them (the reserve).
        let isFull: Bool
    }

    struct Limits {
        /// If at least this number of bytes has been logged, every write rings the alarm.
        var loggedByteCount = Int.max
        /// If replaying the committed transactions takes at least this work, every write rings the alarm.
        var replayWork = Int.max
        /// If at least this number of bytes has been logged, a write at `oldTime` or later rings the alarm.
        var oldByteCount = Int.max
        var oldTime = Int64.max
        /// If the time of a write is before this time, the clock was set back. Such a write rings the alarm like a write at `oldTime`.
        var oldBegin = Int64.min
        /// A write at this time or later rings the alarm: the first write of a day.
        var dayTime = Int64.max
        /// If the memory budget is tight, and the pages on the heap take more than this number of bytes, a write rings the alarm.
        var heapByteCount = Int.max
        /// Whether a write rings the alarm while so few pages are left that only deletions may use them (see `Reading.isFull`).
        var watchesReserve = false

        /// Limits that no write reaches.
        static let never = Limits()
    }

    /// The number of bytes that were logged since the store was opened, according to the last commit.
    private let logged = Atomic(0)
    /// The work of replaying the transactions that were committed since the store was opened, in units of `ReplayWork`.
    private let work = Atomic(0)
    // The limits are not set in one atomic step, so a write may read some old and some new limits. An unnecessary ring does no harm. If a
    // write does not ring although it should, the next write rings.
    private let loggedLimit = Atomic(Int.max)
    private let workLimit = Atomic(Int.max)
    private let oldByteLimit = Atomic(Int.max)
    private let oldTimeLimit = Atomic(Int64.max)
    private let oldBeginLimit = Atomic(Int64.min)
    private let dayLimit = Atomic(Int64.max)
    private let heapLimit = Atomic(Int.max)
    private let watchesReserve = Atomic(false)
    private let answer = Guarded<(@Sendable (Reading) -> Void)?>(nil)

    var loggedByteCount: Int { logged.load(ordering: .relaxed) }
    var replayWork: Int { work.load(ordering: .relaxed) }

    func set(_ limits: Limits) {
        loggedLimit.store(limits.loggedByteCount, ordering: .relaxed)
        workLimit.store(limits.replayWork, ordering: .relaxed)
        oldByteLimit.store(limits.oldByteCount, ordering: .relaxed)
        oldTimeLimit.store(limits.oldTime, ordering: .relaxed)
        oldBeginLimit.store(limits.oldBegin, ordering: .relaxed)
        dayLimit.store(limits.dayTime, ordering: .relaxed)
        heapLimit.store(limits.heapByteCount, ordering: .relaxed)
        watchesReserve.store(limits.watchesReserve, ordering: .relaxed)
    }

    /// Sets the closure that runs when the alarm rings. The closure runs on the thread of a write, and must not block that thread.
    func onRing(_ answer: @escaping @Sendable (Reading) -> Void) { self.answer.withLock { $0 = answer } }

    /// Records how many bytes have been logged so far and the work of replaying one more transaction, and returns whether a limit is
    /// reached. Call this method only while the writer's lock is held.
    func track(_ loggedByteCount: Int, replayWork added: Int, at time: Int64, _ timeline: Timeline) -> Bool {
        logged.store(loggedByteCount, ordering: .relaxed)
        let replayWork = replayWork &+ added
        work.store(replayWork, ordering: .relaxed)
        return replayWork >= workLimit.load(ordering: .relaxed) || loggedByteCount >= loggedLimit.load(ordering: .relaxed)
            || loggedByteCount >= oldByteLimit.load(ordering: .relaxed)
                && (time >= oldTimeLimit.load(ordering: .relaxed) || time < oldBeginLimit.load(ordering: .relaxed))
            || time >= dayLimit.load(ordering: .relaxed)
            || timeline.reservedByteCount > heapLimit.load(ordering: .relaxed) && timeline.budget.isTight
            || timeline.isInReserve && watchesReserve.load(ordering: .relaxed)
    }

    /// Calls the closure of `onRing`. Call this method only while the writer's lock is not held.
    func ring(_ reading: Reading) { answer.withLock { $0 }?(reading) }
}

extension UpkeepAlarm.Reading {
    /// Creates the reading of a timeline at a time. Call this initializer only while the writer's lock is held.
    init(_ timeline: Timeline, at time: Int64) {
        self.time = time
        (heapByteCount, isMemoryTight, isFull) = (timeline.reservedByteCount, timeline.budget.isTight, timeline.isInReserve)
    }
}
