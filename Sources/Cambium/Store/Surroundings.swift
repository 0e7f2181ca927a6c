public import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

/// What a store takes from outside: the time and randomness. Tests give their own.
public struct Surroundings: Sendable {
    public var now: @Sendable () -> Timestamp
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// Makes the timer of a store, with what it runs.
    package var makeTimer: @Sendable (_ action: @escaping @Sendable () -> Void) -> any SyncTimer = { DispatchSyncTimer($0) }

    public init(now: @escaping @Sendable () -> Timestamp, randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.now = now
        self.randomBytes = randomBytes
    }

    /// The system's clock and its generator of random numbers.
    public static let system = Surroundings(
        now: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Timestamp(microsecondsSince1970: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
        },
        randomBytes: { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        })
}
