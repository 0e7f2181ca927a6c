public import CambiumModel
import Glibc

/// The environment of a store: the time, random bytes, and the time after which a query is slow. Tests supply their own environment.
///
/// ```swift
/// let noon = Timestamp(microsecondsSince1970: 1_774_958_400_000_000)
/// let environment = StoreEnvironment(now: { noon }, randomBytes: { Array(repeating: 7, count: $0) })
/// let store = try Store.inMemory(schema: schema, environment: environment)
/// ```
public struct StoreEnvironment: Sendable {
    package var now: @Sendable () -> Timestamp
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// Creates the timer of a store, which runs `action`.
    package var makeTimer: @Sendable (_ action: @escaping @Sendable () -> Void) -> any SyncTimer = { DispatchSyncTimer($0) }

    /// A query that takes at least this time counts as slow in `Store.metrics`. The default is 100 ms. To measure each query costs two
    /// readings of the processor's time counter.
    ///
    /// ```swift
    /// var environment = StoreEnvironment.system
    /// environment.slowQueryDuration = .milliseconds(20)
    /// let store = try Store.open(at: path, environment: environment)
    /// ```
    public var slowQueryDuration = Duration.milliseconds(100)

    /// Creates an environment.
    ///
    /// - Parameters:
    ///   - now: Returns the current time.
    ///   - randomBytes: Returns as many random bytes as the store requests.
    public init(now: @escaping @Sendable () -> Timestamp, randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.now = now
        self.randomBytes = randomBytes
    }

    /// The clock and the random number generator of the operating system.
    public static let system = StoreEnvironment(
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
