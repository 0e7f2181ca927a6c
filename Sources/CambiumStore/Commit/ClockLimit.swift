import CambiumModel

/// The limit for the times that the system's clock may give to transactions.
///
/// The times in a log never decrease. So without a limit, one transaction with a clock in a distant year would give its time to every later
/// transaction of the store.
enum ClockLimit {
    /// The time by which a clock may be later than the last transaction. It is long, because a store may get no transaction for years.
    static let lead = Duration.seconds(50 * 31_556_952)  // 50 mean years of the Gregorian calendar

    /// The time to which the clock is compared in a store without later transactions: 2026-01-01T00:00:00Z.
    static let origin = Timestamp(microsecondsSince1970: 1_767_225_600_000_000)

    /// Throws `.limitExceeded` if a transaction with this time would be too much later than the last one.
    static func check(_ time: Timestamp, after last: Timestamp) throws(CambiumError) {
        let base = max(last, origin)
        guard time > base, base.distance(to: time) > lead else { return }
        throw CambiumError(
            .limitExceeded,
            "The clock shows \(time), which is more than 50 years after \(base == last ? "the last transaction" : "the year 2026 began"), "
                + "so it is probably wrong. Each later transaction would get at least this time. Set the clock, and repeat the write.")
    }
}
