internal import CambiumBytes
import CambiumModel
import Synchronization

/// Versions that a holder keeps for a limited time. Any thread may use a loan.
protocol Loan: AnyObject, Sendable {
    var beginTime: Timestamp { get }
    /// The time at which the loan is released; `.max` if there is no such time.
    var endTime: Timestamp { get }

    /// Releases the versions, and so ends the loan. Does nothing if the loan is not over, because its holder has returned.
    func release(where isOver: (any Loan) -> Bool)
}

extension Loan {
    /// The time that precedes the beginning of the loan by its duration. If the clock shows an earlier time, the clock was set back, and
    /// the loan is over, too. Otherwise, versions would be kept until the clock reached the end again.
    fileprivate var earliestTime: Timestamp {
        // Each property is read only once, because another thread may change it in between.
        let (begin, end) = (beginTime, endTime)
        return begin < end && end < .max ? begin - begin.distance(to: end) : .min
    }

    fileprivate func isOver(at time: Timestamp) -> Bool { endTime <= time || time < earliestTime }
}

/// The loans of one store: the graphs that leases lend, and the versions that observers keep between two deliveries.
final class Leases: Sendable {
    private let state = Guarded(State())
    /// A time at or before the earliest end of a loan, in microseconds since 1970. It is set while `state` is locked. A write reads it
    /// without that lock: if a write misses a change, the next write sees it.
    private let firstEndTime = Atomic(Timestamp.max.microsecondsSince1970)
    /// A time at or after the latest `earliestTime` of a loan. It is set and read like `firstEndTime`.
    private let lastEarliestTime = Atomic(Timestamp.min.microsecondsSince1970)
    let now: @Sendable () -> Timestamp

    private struct State {
        var loans: [ObjectIdentifier: any Loan] = [:]
    }

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// The number of loans, and the time when the oldest loan began; `nil` if there are no loans.
    var summary: (count: Int, oldestTime: Timestamp?) {
        state.withLock { state in (state.loans.count, state.loans.values.lazy.map(\.beginTime).min()) }
    }

    /// Adds a loan, or updates the time at which a loan ends to an earlier one.
    func add(_ loan: any Loan) {
        state.withLock { state in
            state.loans[ObjectIdentifier(loan)] = loan
            note(
                firstEnd: min(loan.endTime.microsecondsSince1970, firstEndTime.load(ordering: .relaxed)),
                lastEarliest: max(loan.earliestTime.microsecondsSince1970, lastEarliestTime.load(ordering: .relaxed)))
        }
    }

    func end(_ loan: any Loan) {
        _ = state.withLock { $0.loans.removeValue(forKey: ObjectIdentifier(loan)) }
        loan.release { _ in true }
    }

    func expire() { expire(at: now()) }

    /// Whether the time of some loan may be over. O(1), without a lock.
    func haveEnded(at time: Timestamp) -> Bool {
        let time = time.microsecondsSince1970
        return firstEndTime.load(ordering: .relaxed) <= time || time < lastEarliestTime.load(ordering: .relaxed)
    }

    /// Ends the loans whose time is over. O(1) if there is no such loan.
    func expire(at time: Timestamp) {
        if haveEnded(at: time) { _ = end { $0.isOver(at: time) } }
    }

    /// Ends the loans that are at least `age` old, and returns their number.
    func expire(olderThan age: Duration) -> Int {
        // If all loans must end, so must a loan that seems to begin in the future because the clock was set back. A loan whose holder is
        // active begins at `Timestamp.max`, and never ends here.
        let limit = age > .zero ? now() - age : .max
        return end { $0.beginTime <= limit && $0.beginTime < .max }
    }

    /// Ends the loans that are over, and returns their number.
    private func end(where isOver: (any Loan) -> Bool) -> Int {
        let ended = state.withLock { state in
            let over = state.loans.values.filter(isOver)
            for loan in over { state.loans[ObjectIdentifier(loan)] = nil }
            let rest = state.loans.values
            note(
                firstEnd: (rest.lazy.map(\.endTime).min() ?? .max).microsecondsSince1970,
                lastEarliest: (rest.lazy.map { $0.earliestTime }.max() ?? .min).microsecondsSince1970)
            return over
        }
        for loan in ended { loan.release(where: isOver) }
        return ended.count
    }

    /// Sets `firstEndTime` and `lastEarliestTime`. Call it only while `state` is locked.
    private func note(firstEnd: Int64, lastEarliest: Int64) {
        firstEndTime.store(firstEnd, ordering: .relaxed)
        lastEarliestTime.store(lastEarliest, ordering: .relaxed)
    }
}
