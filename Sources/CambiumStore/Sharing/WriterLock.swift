internal import CambiumBytes
import CambiumModel
import Glibc
import Synchronization

/// A lock for long work: a waiting thread sleeps, and no thread waits forever while other threads take the lock again and again. The lock
/// knows its holder. So a thread that takes the lock twice gets an error, or traps, instead of waiting for itself. The lock also measures
/// how long it is held.
///
/// SENDABLE: many threads may use the operating system's mutexes; `holder` and the measurements are atomic; only the holder uses the rest.
package final class WriterLock: @unchecked Sendable {
    // SAFETY: the memory is allocated once and lives as long as the lock. Only the mutex calls of the operating system get its address.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// A thread that has been waiting for a long time also takes this mutex, so that no thread that arrives later gets `mutex` first.
    // SAFETY: the memory is allocated once and lives as long as the lock. Only the mutex calls of the operating system get its address.
    private let turn = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// The number of threads that have been waiting for a long time.
    private let starvingCount = Atomic(0)
    /// The thread that holds the lock; 0 if no thread holds it. If a thread finds its own id here, this thread is the holder.
    private let holder = Atomic<UInt>(0)
    private let waiters = Atomic(0)
    let clock = TickClock()
    // SAFETY: the memory has one element for each use, is allocated once, and lives as long as the lock. Every access is atomic.
    private let longestTicks = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: Use.allCases.count)

    // The following properties are accessed only while the lock is held.
    /// The tick at which the lock last started to count time; 0 while the lock counts no time.
    @exclusivity(unchecked) private var countedSince: UInt64 = 0
    /// The ticks that were counted since the lock was last taken, without those since `countedSince`.
    @exclusivity(unchecked) private var countedTicks: UInt64 = 0

    package typealias Use = StoreMetrics.LockUse

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_mutex_init(turn, nil)
        for place in Use.allCases.indices { (longestTicks + place).initialize(to: Atomic(0)) }
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        pthread_mutex_destroy(turn)
        turn.deallocate()
        longestTicks.deinitialize(count: Use.allCases.count)
        longestTicks.deallocate()
    }

    /// The number of attempts to take a busy lock before the waiting thread sleeps. Most holders release the lock within microseconds, and
    /// sleeping and waking take longer.
    private static let attemptCount = 500
    /// The time after which a waiting thread gets the lock before all threads that arrive later.
    private static let patienceNanoseconds = 2_000_000

    /// Whether the calling thread is inside `hold`.
    var isHeldByCaller: Bool { holder.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Throws `.misuse` if the calling thread is inside `hold`, because the call would wait for itself.
    ///
    /// - Parameter call: the name of the call, for the error.
    func checkNotHeld(by call: String) throws(CambiumError) {
        if isHeldByCaller { throw CambiumError(.misuse, Self.reentry(of: call)) }
    }

    private static func reentry(of call: String) -> String {
        "'\(call)' was called inside the closure of a write to the same store, so the call would wait for itself. Use the transaction "
            + "that the closure receives, or call '\(call)' after the write."
    }

    /// Calls `body` while no other thread is inside `hold`. Traps with a message if the calling thread is already inside `hold`.
    ///
    /// - Parameters:
    ///   - use: the purpose for which the time is counted. For a commit, the time counts from `startCounting`; for any other purpose, from
    ///     the time at which the lock is taken.
    ///   - call: the name of the call, for the message.
    package func hold<Result: ~Copyable, Failure: Error>(
        as use: Use = .other, for call: @autoclosure () -> String = "hold", _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if isHeldByCaller { Trap.because(Self.reentry(of: call())) }
        if starvingCount.load(ordering: .relaxed) > 0 { waitForTurn() }
        if pthread_mutex_trylock(mutex) == EBUSY { wait() }
        holder.store(UInt(pthread_self()), ordering: .relaxed)
        (countedSince, countedTicks) = (use == .commit ? 0 : TickClock.now, 0)
        defer {
            stopCounting()
            track(countedTicks, use)
            holder.store(0, ordering: .relaxed)
            pthread_mutex_unlock(mutex)
        }
        return try body()
    }

    @inline(never)
    private func wait() {
        waiters.add(1, ordering: .relaxed)
        defer { waiters.subtract(1, ordering: .relaxed) }
        for _ in 1..<Self.attemptCount where pthread_mutex_trylock(mutex) != EBUSY { return }
        var end = Self.endOfPatience()
        if pthread_mutex_timedlock(mutex, &end) == 0 { return }
        // A mutex is not fair: a thread that writes without pauses takes it again before a sleeping thread has woken.
        starvingCount.add(1, ordering: .relaxed)
        pthread_mutex_lock(turn)
        pthread_mutex_lock(mutex)
        pthread_mutex_unlock(turn)
        starvingCount.subtract(1, ordering: .relaxed)
    }

    /// Waits until a thread that has been waiting for a long time has taken the lock.
    @inline(never)
    private func waitForTurn() {
        waiters.add(1, ordering: .relaxed)
        defer { waiters.subtract(1, ordering: .relaxed) }
        pthread_mutex_lock(turn)
        pthread_mutex_unlock(turn)
    }

    /// Returns the time until which a thread waits for `mutex` before it also locks `turn`. If the clock is set back, the thread may wait
    /// longer.
    private static func endOfPatience() -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let nanoseconds = time.tv_nsec + patienceNanoseconds
        return timespec(tv_sec: time.tv_sec + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }

    /// The number of threads that are waiting for the lock.
    var waiterCount: Int { waiters.load(ordering: .relaxed) }

    /// Pauses, so that waiting threads can take the lock before the caller takes it again. Without this pause, the caller might get the
    /// lock first each time, because a mutex is not fair. Returns immediately if no thread is waiting, and after about a millisecond if
    /// threads keep waiting.
    func letOthersIn() {
        for _ in 0..<Self.yieldCount where waiterCount > 0 { usleep(Self.yieldMicroseconds) }
    }

    private static let yieldCount = 10
    private static let yieldMicroseconds: UInt32 = 50

    // MARK: Measuring

    /// Starts to measure how long the lock is held. Call this method only while the lock is held.
    func startCounting() { countedSince = TickClock.now }

    /// Starts to measure how long the lock is held, unless the measurement is in progress. Call this method only while the lock is held.
    func resumeCounting() { if countedSince == 0 { startCounting() } }

    /// Stops the measurement, for example because the caller's code runs. Call this method only while the lock is held.
    func stopCounting() {
        if countedSince == 0 { return }
        countedTicks &+= TickClock.ticks(since: countedSince)
        countedSince = 0
    }

    private func track(_ ticks: UInt64, _ use: Use) {
        if ticks > longestTicks[use.place].load(ordering: .relaxed) { longestTicks[use.place].store(ticks, ordering: .relaxed) }
    }

    func longestTicks(_ use: Use) -> UInt64 { longestTicks[use.place].load(ordering: .relaxed) }

    /// Returns the longest hold for each use that occurred, the longest one first.
    func longestHolds(_ rate: TickRate) -> [StoreMetrics.Hold] {
        Use.allCases.compactMap { use in
            let ticks = longestTicks(use)
            return ticks == 0 ? nil : StoreMetrics.Hold(use: use, duration: rate.duration(ofTicks: ticks))
        }
        .sorted { $0.duration > $1.duration }
    }
}

extension StoreMetrics.LockUse {
    /// The index of this use in `allCases`, and of its longest time in `longestTicks`.
    fileprivate var place: Int {
        switch self {
        case .commit: 0
        case .sync: 1
        case .checkpoint: 2
        case .packing: 3
        case .reclaiming: 4
        case .digest: 5
        case .indexing: 6
        case .migration: 7
        case .other: 8
        }
    }
}
