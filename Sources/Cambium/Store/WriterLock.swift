internal import CambiumBytes
import CambiumModel
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A lock for long work: a thread that waits for it sleeps. It knows its holder, so that a thread that takes it twice is told so and
/// does not wait for itself.
///
/// SENDABLE: the mutex of the system is made for many threads; `holder` is atomic.
final class WriterLock: @unchecked Sendable {
    // SAFETY: the address is made once, stays as long as the lock does, and is given to the system's mutex calls only.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// The thread that holds the lock; 0 if none does. Only the holder can read its own id here.
    private let holder = Atomic<UInt>(0)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// How often a lock that is taken is asked for before its waiter sleeps: mostly it is given up within microseconds, and to sleep
    /// and to be woken takes longer.
    private static let attemptCount = 500

    /// Whether the calling thread is inside `hold`.
    var isHeldByCaller: Bool { holder.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Throws `.misuse` if the calling thread is inside `hold`, where the call would wait for itself.
    ///
    /// - Parameter call: the name of the call, for the error.
    func checkNotHeld(by call: String) throws(CambiumError) {
        if isHeldByCaller { throw CambiumError(.misuse, Self.reentry(of: call)) }
    }

    private static func reentry(of call: String) -> String {
        "'\(call)' was called inside the closure of a write of the same store, and would wait for itself. Use the transaction that the "
            + "closure is given, or call '\(call)' after the write."
    }

    /// Calls `body` while no other thread is inside `hold`. Traps with a sentence if the calling thread is.
    ///
    /// - Parameter call: the name of the call, for the sentence.
    func hold<Result: ~Copyable, Failure: Error>(
        for call: @autoclosure () -> String = "hold", _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if isHeldByCaller { Trap.because(Self.reentry(of: call())) }
        var code = pthread_mutex_trylock(mutex)
        var attempts = 1
        while code == EBUSY, attempts < Self.attemptCount {
            code = pthread_mutex_trylock(mutex)
            attempts += 1
        }
        if code == EBUSY { pthread_mutex_lock(mutex) }
        holder.store(UInt(pthread_self()), ordering: .relaxed)
        defer {
            holder.store(0, ordering: .relaxed)
            pthread_mutex_unlock(mutex)
        }
        return try body()
    }
}
