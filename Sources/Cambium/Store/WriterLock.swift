#if canImport(Glibc)
    import Glibc
#endif

/// A lock for what takes long: who waits for it sleeps. It knows its holder, so that taking it twice is told and not a hang.
///
/// SENDABLE: the mutex of the system is made for many threads; `holder` is written by who holds it.
final class WriterLock: @unchecked Sendable {
    // SAFETY: the address is made once, stays as long as the lock does, and is given to the system's mutex calls only.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// How often a lock that is taken is asked for before its waiter sleeps: mostly it is given up within microseconds, and to sleep
    /// and to be woken takes longer.
    private static let attemptCount = 500

    func hold<Result: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        var code = pthread_mutex_trylock(mutex)
        var attempts = 1
        while code == EBUSY, attempts < Self.attemptCount {
            code = pthread_mutex_trylock(mutex)
            attempts += 1
        }
        if code == EBUSY { code = pthread_mutex_lock(mutex) }
        precondition(code != EDEADLK, "A write was begun inside of a write of the same store; use the transaction that is there.")
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
