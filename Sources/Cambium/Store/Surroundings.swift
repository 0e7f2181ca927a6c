#if canImport(Glibc)
    import Glibc
#endif

/// What a store takes from outside: the time and randomness. Tests give their own.
public struct Surroundings: Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public var now: @Sendable () -> Int64
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]

    public init(now: @escaping @Sendable () -> Int64, randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.now = now
        self.randomBytes = randomBytes
    }

    /// The system's clock and its generator of random numbers.
    public static let system = Surroundings(
        now: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        },
        randomBytes: { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        })
}
