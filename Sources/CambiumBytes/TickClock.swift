internal import CMachine

#if canImport(Glibc)
    import Glibc
#endif

/// Measures times by a counter of the processor, which is read faster than the system's clock.
///
/// The rate of the counter is found out when it is asked for, by comparing both since the clock was made. The counters of processors
/// may differ by nanoseconds, so a time that a thread begins on one and ends on another is that inexact.
public struct TickClock: Sendable {
    private let beginTicks = Self.now
    private let beginTime = Self.systemTime

    public init() {}

    /// The counter, in ticks of the clock's rate.
    public static var now: UInt64 { cmachine_ticks() }

    /// The ticks since an earlier look at the counter.
    public static func ticks(since begin: UInt64) -> UInt64 {
        let now = now
        return now > begin ? now - begin : 0
    }

    /// How fast the counter goes, as far as that is known now.
    public var rate: TickRate {
        let (ticks, time) = (Self.ticks(since: beginTicks), Self.systemTime &- beginTime)
        return TickRate(nanosecondsPerTick: ticks == 0 ? 0 : Double(time) / Double(ticks))
    }

    /// Nanoseconds of a clock that nobody sets.
    private static var systemTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// How long a tick of a `TickClock` takes.
public struct TickRate: Sendable {
    let nanosecondsPerTick: Double

    /// The time that so many ticks take.
    public func duration(ofTicks ticks: UInt64) -> Duration { .nanoseconds(Int64(Double(ticks) * nanosecondsPerTick)) }
}
