internal import CambiumBytes
public import CambiumGraph
public import CambiumModel
import Synchronization

/// A graph that is lent for a limited time. A lease suits long reads, which must not make the store keep old pages for ever.
///
///     let lease = store.lease(for: .seconds(60))
///     let count = try lease.read { $0.objectCount }
///
/// A `Graph` keeps all of its pages as long as any code holds it, so reading it needs neither a lock nor an error. A lease keeps them only
/// while it is valid, and while `read` runs. Any thread may use a lease.
public final class GraphLease: Sendable {
    /// The last transaction in the graph.
    public let transaction: TransactionNumber
    private let loan: Loan
    private let leases: Leases

    init(_ loan: Loan, _ leases: Leases) {
        transaction = loan.transaction
        self.loan = loan
        self.leases = leases
    }

    deinit { leases.end(loan) }

    /// Whether the lease has ended, so that `read` throws.
    public var isExpired: Bool {
        leases.expire()
        return loan.graph.withLock { $0 == nil }
    }

    /// Calls `body` with the graph, which stays unchanged until `body` returns, even if the lease expires before that. A caller that keeps
    /// the graph longer keeps its pages, too.
    ///
    /// Throws `.expired` if the lease has ended, and the errors of `body`.
    public func read<Result>(_ body: (Graph) throws -> Result) throws -> Result {
        leases.expire()
        guard let graph = loan.graph.withLock({ $0 }) else {
            throw CambiumError(.expired, "The lease of the graph of transaction \(transaction) has ended. Take another lease.")
        }
        return try body(graph)
    }

    /// Ends the lease, so that the graph is released. Does nothing if the lease has ended already.
    public func end() { leases.end(loan) }
}

/// The graph that a lease lends, as long as the lease is valid.
final class Loan: Sendable {
    let transaction: TransactionNumber
    let beginTime: Timestamp
    let endTime: Timestamp
    let graph: Guarded<Graph?>

    init(_ graph: Graph, from beginTime: Timestamp, to endTime: Timestamp) {
        transaction = graph.transaction
        (self.beginTime, self.endTime) = (beginTime, endTime)
        self.graph = Guarded(graph)
    }
}

/// The leases of one store.
final class Leases: Sendable {
    private let state = Guarded(State())
    /// The earliest end of a loan, in microseconds since 1970. It is set while `state` is locked. A write reads it without that lock: if it
    /// misses a change, the next one sees it.
    private let firstEndTime = Atomic(Timestamp.max.microsecondsSince1970)
    private let now: @Sendable () -> Timestamp

    private struct State {
        var loans: [ObjectIdentifier: Loan] = [:]
    }

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// The number of leases, and the time when the oldest lease began; `nil` if there are no leases.
    var summary: (count: Int, oldestTime: Timestamp?) {
        state.withLock { state in (state.loans.count, state.loans.values.lazy.map(\.beginTime).min()) }
    }

    func lend(_ graph: Graph, for duration: Duration?) -> GraphLease {
        let time = now()
        let loan = Loan(graph, from: time, to: duration.map { time + max(.zero, $0) } ?? .max)
        state.withLock { state in
            state.loans[ObjectIdentifier(loan)] = loan
            if loan.endTime.microsecondsSince1970 < firstEndTime.load(ordering: .relaxed) { noteFirstEnd(loan.endTime) }
        }
        return GraphLease(loan, self)
    }

    func end(_ loan: Loan) {
        _ = state.withLock { $0.loans.removeValue(forKey: ObjectIdentifier(loan)) }
        end([loan])
    }

    func expire() { expire(at: now()) }

    /// Whether the time of some lease is over. O(1), without a lock.
    func haveEnded(at time: Timestamp) -> Bool { firstEndTime.load(ordering: .relaxed) <= time.microsecondsSince1970 }

    /// Ends the leases whose time is over. O(1) if there is no such lease.
    func expire(at time: Timestamp) {
        if !haveEnded(at: time) { return }
        end(taken { $0.endTime <= time })
    }

    /// Ends the leases that are at least `age` old, and returns their number.
    func expire(olderThan age: Duration) -> Int {
        let limit = now() - age
        let ended = taken { $0.beginTime <= limit }
        end(ended)
        return ended.count
    }

    private func taken(where isOver: (Loan) -> Bool) -> [Loan] {
        state.withLock { state in
            let over = state.loans.values.filter(isOver)
            for loan in over { state.loans[ObjectIdentifier(loan)] = nil }
            noteFirstEnd(state.loans.values.lazy.map(\.endTime).min() ?? .max)
            return over
        }
    }

    /// Call it only while `state` is locked.
    private func noteFirstEnd(_ time: Timestamp) { firstEndTime.store(time.microsecondsSince1970, ordering: .relaxed) }

    /// Releases the graphs outside of the locks, because that may free all pages of a store.
    private func end(_ loans: [Loan]) {
        for loan in loans {
            _ = loan.graph.withLock { graph in
                defer { graph = nil }
                return graph
            }
        }
    }
}
