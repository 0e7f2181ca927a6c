package import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

extension Volume {
    /// Takes a lock as `lock(_:)` does. While another thread or process holds the lock, pauses and tries again, until the pauses add up to
    /// a limit. Then throws `.locked`.
    ///
    /// The kernel can wait for a lock, but not for a limited time. So the call tries again after 1 ms, and doubles each later pause up to
    /// 50 ms.
    ///
    /// - Parameters:
    ///   - limit: the time for which the call waits; `.zero` or less for one attempt.
    ///   - pause: blocks the calling thread.
    package func lock(
        _ path: String, waitingUpTo limit: Duration, pause: (Duration) -> Void = LockPause.sleep
    ) throws(CambiumError) -> any VolumeLock {
        var (waited, next) = (Duration.zero, LockPause.shortest)
        while true {
            do throws(CambiumError) {
                return try lock(path)
            } catch {
                guard error.code == .locked, waited < limit else { throw error }
            }
            let length = min(next, limit - waited)
            pause(length)
            waited += length
            next = min(next * 2, LockPause.longest)
        }
    }
}

/// The pauses between two attempts to take a lock.
package enum LockPause {
    static let shortest = Duration.milliseconds(1)
    static let longest = Duration.milliseconds(50)

    /// Blocks the calling thread. A signal handler may end the pause early.
    package static func sleep(_ length: Duration) {
        let (seconds, attoseconds) = length.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }
}
