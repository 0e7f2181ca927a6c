internal import CMachine

#if canImport(Glibc)
    import Glibc
#endif

/// Measures durations with a counter of the processor, which takes less time to read than the operating system's clock.
///
/// The clock determines the counter's rate on request: it compares how far the counter and the operating system's clock have advanced since
/// the clock was made. The counters of different processors may differ by nanoseconds. A measurement that begins on one processor and ends
/// on another has this error.
public struct TickClock: Sendable {
    private let beginTicks = Self.now
    private let beginTime = Self.systemTime

    public init() {}

    /// The counter, in ticks of the clock's rate.
    public static var now: UInt64 { cmachine_ticks() }

    /// Returns the number of ticks since an earlier value of the counter.
    public static func ticks(since begin: UInt64) -> UInt64 {
        let now = now
        return now > begin ? now - begin : 0
    }

    /// The rate of the counter, as precisely as the clock can determine it at the moment.
    public var rate: TickRate {
        let (ticks, time) = (Self.ticks(since: beginTicks), Self.systemTime &- beginTime)
        return TickRate(nanosecondsPerTick: ticks == 0 ? 0 : Double(time) / Double(ticks))
    }

    /// The nanoseconds of a clock that is never set.
    private static var systemTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// The duration of one tick of a `TickClock`.
public struct TickRate: Sendable {
    let nanosecondsPerTick: Double

    /// Returns the duration of `ticks` ticks.
    public func duration(ofTicks ticks: UInt64) -> Duration { .nanoseconds(Int64(Double(ticks) * nanosecondsPerTick)) }
}
