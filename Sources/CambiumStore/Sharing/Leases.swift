internal import CambiumBytes
import CambiumModel
import Synchronization

/// A loan of versions of a graph, which a holder keeps for a limited time. Any thread may use a loan.
protocol Loan: AnyObject, Sendable {
    var beginTime: Timestamp { get }
    /// The time at which the loan is released; `.max` if there is no such time.
    var endTime: Timestamp { get }

    /// If `isOver` returns true, releases the versions, and so ends the loan. Otherwise does nothing, because the holder has begun to use
    /// the versions again.
    func release(where isOver: (any Loan) -> Bool)
}

extension Loan {
    /// If the clock shows a time before `earliestTime`, the clock was set back, and the loan is over. Without this limit, versions would be
    /// kept until the clock reached `endTime` again. The limit lies as far before `beginTime` as `endTime` lies after `beginTime`; `.min`
    /// means no limit.
    fileprivate var earliestTime: Timestamp {
        // Reads each property once, because another thread may change it in the meantime.
        let (begin, end) = (beginTime, endTime)
        return begin < end && end < .max ? begin - begin.distance(to: end) : .min
    }

    fileprivate func isOver(at time: Timestamp) -> Bool { endTime <= time || time < earliestTime }
}

/// The loans of one store: the graphs that leases lend, and the versions that observers keep between two deliveries.
package final class Leases: Sendable {
    private let state = Guarded(State())
    /// A lower bound of the end times of all loans, in microseconds since 1970. It is set while `state` is locked. A write reads it without
    /// that lock: if the write misses a change, the next write sees the change.
    private let firstEndTime = Atomic(Timestamp.max.microsecondsSince1970)
    /// An upper bound of the `earliestTime` of all loans, in microseconds since 1970. It is set while `state` is locked. A write reads it
    /// without that lock, as it reads `firstEndTime`.
    private let lastEarliestTime = Atomic(Timestamp.min.microsecondsSince1970)
    let now: @Sendable () -> Timestamp

    private struct State {
        var loans: [ObjectIdentifier: any Loan] = [:]
    }

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// The number of loans, and the time when the oldest loan began. The time is `nil` if there are no loans, or if each of them belongs to
    /// an observer that is waiting for a delivery.
    package var summary: (count: Int, oldestTime: Timestamp?) {
        state.withLock { state in
            let times = state.loans.values.lazy.map(\.beginTime)
            return (state.loans.count, times.filter { $0 < .max }.min())
        }
    }

    /// Adds a loan, or records the new end of a loan that was added earlier.
    func add(_ loan: any Loan) {
        state.withLock { state in
            state.loans[ObjectIdentifier(loan)] = loan
            track(
                firstEnd: min(loan.endTime.microsecondsSince1970, firstEndTime.load(ordering: .relaxed)),
                lastEarliest: max(loan.earliestTime.microsecondsSince1970, lastEarliestTime.load(ordering: .relaxed)))
        }
    }

    func end(_ loan: any Loan) {
        _ = state.withLock { $0.loans.removeValue(forKey: ObjectIdentifier(loan)) }
        loan.release { _ in true }
    }

    func expire() { expire(at: now()) }

    /// Returns whether a loan may have ended by a given time. May return `true` although no loan has ended. O(1), without a lock.
    func haveEnded(at time: Timestamp) -> Bool {
        let time = time.microsecondsSince1970
        return firstEndTime.load(ordering: .relaxed) <= time || time < lastEarliestTime.load(ordering: .relaxed)
    }

    /// Ends the loans that are over at a given time. O(1) if there is no such loan.
    func expire(at time: Timestamp) {
        if haveEnded(at: time) { _ = end { $0.isOver(at: time) } }
    }

    /// Ends the loans that are at least `age` old, and returns their number.
    func expire(olderThan age: Duration) -> Int {
        // If the clock was set back, the begin time of a loan may be in the future. If `age` is zero, such a loan must end, too, so the
        // limit is `.max`. While an observer waits for a delivery, its loan has the begin time `.max`, and never ends here.
        let limit = age > .zero ? now() - age : .max
        return end { $0.beginTime <= limit && $0.beginTime < .max }
    }

    /// Ends the loans that are over, and returns their number.
    private func end(where isOver: (any Loan) -> Bool) -> Int {
        let ended = state.withLock { state in
            let over = state.loans.values.filter(isOver)
            for loan in over { state.loans[ObjectIdentifier(loan)] = nil }
            let rest = state.loans.values
            track(
                firstEnd: (rest.lazy.map(\.endTime).min() ?? .max).microsecondsSince1970,
                lastEarliest: (rest.lazy.map { $0.earliestTime }.max() ?? .min).microsecondsSince1970)
            return over
        }
        for loan in ended { loan.release(where: isOver) }
        return ended.count
    }

    /// Sets `firstEndTime` and `lastEarliestTime`. Call this method only while `state` is locked.
    private func track(firstEnd: Int64, lastEarliest: Int64) {
        firstEndTime.store(firstEnd, ordering: .relaxed)
        lastEarliestTime.store(lastEarliest, ordering: .relaxed)
    }
}
