internal import CMachine
import Glibc

/// A clock that measures durations with a counter of the processor. Reading this counter takes less time than reading the operating
/// system's clock.
///
/// The rate of the counter is determined when `rate` is read. `rate` compares how far the counter and the operating system's clock have
/// advanced since the `TickClock` was created. The counters of different processors may differ by nanoseconds. A measurement that ends on
/// another processor may be wrong by this difference.
public struct TickClock: Sendable {
    private let beginTicks = Self.now
    private let beginTime = Self.systemTime

    public init() {}

    /// The current value of the counter, in ticks.
    public static var now: UInt64 { cmachine_ticks() }

    /// Returns the number of ticks since an earlier value of the counter.
    public static func ticks(since begin: UInt64) -> UInt64 {
        let now = now
        return now > begin ? now - begin : 0
    }

    /// The rate of the counter. The later the rate is read, the more precise it is.
    public var rate: TickRate {
        let (ticks, time) = (Self.ticks(since: beginTicks), Self.systemTime &- beginTime)
        return TickRate(nanosecondsPerTick: ticks == 0 ? 0 : Double(time) / Double(ticks))
    }

    /// The time of the operating system's monotonic clock, in nanoseconds.
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
