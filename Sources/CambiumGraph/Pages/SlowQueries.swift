import CambiumBytes
package import CambiumModel
import Synchronization

/// Counts the queries on the graphs of an opened store that take longer than a limit, and keeps the last one.
package final class SlowQueries: Sendable {
    /// A query that took longer than the limit.
    package struct Entry: Sendable {
        /// The query as text, without the values of parameters. It is cut off after `textLengthMax` characters.
        package let text: String
        package let duration: Duration
        /// The last transaction of the graph on which the query ran.
        package let transaction: TransactionNumber
    }

    private struct State {
        var limit = SlowQueries.standardLimit
        var count = 0
        var last: Entry?
    }

    private let clock = TickClock()
    private let state = Guarded(State())
    /// A number of ticks that certainly takes less time than the limit. A query that took no more than this is not slow. 0 until a query
    /// has taken longer, because the rate of the clock is not known before.
    private let quickTicks = Atomic<UInt64>(0)

    /// The limit for a store that states no other one.
    package static let standardLimit = Duration.milliseconds(100)
    /// The maximum number of characters of the text of a query that is kept.
    package static let textLengthMax = 1000

    init() {}

    /// The number of slow queries, and the last one.
    package var report: (count: Int, last: Entry?) { state.withLock { ($0.count, $0.last) } }

    /// Changes the limit.
    package func setLimit(_ limit: Duration) {
        state.withLock { $0.limit = limit }
        quickTicks.store(0, ordering: .relaxed)
    }

    /// Counts a query if it was slow.
    ///
    /// - Parameters:
    ///   - text: The query as text.
    ///   - transaction: The last transaction of the graph on which the query ran.
    ///   - begin: The value of the clock when the query began.
    func track(_ text: @autoclosure () -> String, _ transaction: TransactionNumber, since begin: UInt64) {
        let ticks = TickClock.ticks(since: begin)
        if ticks <= quickTicks.load(ordering: .relaxed) { return }
        let rate = clock.rate
        let (duration, limit) = (rate.duration(ofTicks: ticks), state.withLock { $0.limit })
        if duration < limit {
            // This query was quick, and so is every other one that takes no longer.
            quickTicks.store(max(quickTicks.load(ordering: .relaxed), ticks), ordering: .relaxed)
            return
        }
        let entry = Entry(text: String(text().prefix(Self.textLengthMax)), duration: duration, transaction: transaction)
        state.withLock { state in
            state.count += 1
            state.last = entry
        }
    }
}
