public import Cambium
import CambiumBytes
public import CambiumModel

extension StoreEnvironment {
    /// An environment that makes the runs of a test reproducible. The clock starts at a given time, and advances by a fixed step each time
    /// it is read. The random bytes, and the ids that are made from them, depend only on the seed.
    ///
    /// ```swift
    /// let store = try Store.inMemory(schema: schema, environment: .fixed())
    /// ```
    ///
    /// Two stores with the same seed have the same identity. So each store accepts the refs and edits of the other store, although a store
    /// normally refuses refs and edits of another store. A test with several stores gives each of them a different seed.
    ///
    /// Each transaction reads the clock at least once, and every timeout follows this clock. For example, the limit of one minute between
    /// two requests to `Store.changes(_:)` is reached after about 60 transactions. A test with more transactions between two deliveries
    /// passes a smaller step, such as `.zero`.
    public static func fixed(
        start: Timestamp = Timestamp(microsecondsSince1970: 1_700_000_000_000_000), step: Duration = .seconds(1), seed: UInt64 = 1
    ) -> StoreEnvironment {
        let time = Guarded(start)
        let random = Guarded(SplitMix64(seed: seed))
        return StoreEnvironment(
            now: {
                time.withLock { time in
                    defer { time = time + step }
                    return time
                }
            },
            randomBytes: { count in
                random.withLock { random in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
            })
    }
}
