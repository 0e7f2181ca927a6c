internal import CambiumBytes
public import CambiumGraph
public import CambiumModel

/// A graph that is lent until it is given back or expires: for who reads for long, and must not have the store keep what it read for ever.
///
///     let lease = store.lease(for: .seconds(60))
///     let count = try lease.read { $0.objectCount }
///
/// A `Graph` keeps all of its pages for as long as somebody has it, so that reading needs neither a lock nor an error. A lease keeps them
/// only while it is valid, and while `read` runs. Any thread.
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

    /// Whether `read` throws.
    public var isExpired: Bool {
        leases.expire()
        return loan.graph.withLock { $0 == nil }
    }

    /// Calls `body` with the graph, which stays what it is until `body` returns, even where the lease expires meanwhile. Who keeps the
    /// graph beyond that keeps its pages.
    ///
    /// Throws `.expired` where the lease has ended, and what `body` throws.
    public func read<Result>(_ body: (Graph) throws -> Result) throws -> Result {
        leases.expire()
        guard let graph = loan.graph.withLock({ $0 }) else {
            throw CambiumError(.expired, "The lease of the graph of transaction \(transaction) has ended; take another one.")
        }
        return try body(graph)
    }

    /// Gives the graph back. Nothing where the lease has ended.
    public func end() { leases.end(loan) }
}

/// What a lease is of, for as long as it is valid.
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
    private let now: @Sendable () -> Timestamp

    private struct State {
        var loans: [ObjectIdentifier: Loan] = [:]
        /// When the first of them ends; the end of time where none does.
        var firstEndTime = Timestamp.max
    }

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// How many there are, and when the oldest began; nil if there is none.
    var summary: (count: Int, oldestTime: Timestamp?) {
        state.withLock { state in (state.loans.count, state.loans.values.lazy.map(\.beginTime).min()) }
    }

    func lend(_ graph: Graph, for duration: Duration?) -> GraphLease {
        let time = now()
        let loan = Loan(graph, from: time, to: duration.map { time + max(.zero, $0) } ?? .max)
        state.withLock { state in
            state.loans[ObjectIdentifier(loan)] = loan
            state.firstEndTime = min(state.firstEndTime, loan.endTime)
        }
        return GraphLease(loan, self)
    }

    func end(_ loan: Loan) {
        _ = state.withLock { $0.loans.removeValue(forKey: ObjectIdentifier(loan)) }
        end([loan])
    }

    func expire() { expire(at: now()) }

    /// Ends those whose time is over. O(1) where there is none.
    func expire(at time: Timestamp) {
        if state.withLock({ $0.firstEndTime > time }) { return }
        end(taken { $0.endTime <= time })
    }

    /// Ends those that began so long ago. Returns how many.
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
            state.firstEndTime = state.loans.values.lazy.map(\.endTime).min() ?? .max
            return over
        }
    }

    /// Graphs are let go of outside of the locks: that may free all pages of a store.
    private func end(_ loans: [Loan]) {
        for loan in loans {
            _ = loan.graph.withLock { graph in
                defer { graph = nil }
                return graph
            }
        }
    }
}

extension Store {
    /// Lends the newest graph, until the lease is given back, let go of, or expires. O(1); never waits for a writer or for the disk.
    ///
    /// - Parameter duration: how long it is valid; nil for until `expireLeases`. What is over is noticed when it is read, and by the next
    ///   transaction, which lets go of its pages.
    public func lease(for duration: Duration? = nil) -> GraphLease { committer.leases.lend(graph, for: duration) }

    /// Ends the leases that began so long ago, or longer: who reads them gets `.expired`, and what only they reached is freed by the next
    /// transactions. Graphs that somebody has are not touched. Returns how many were ended. Complexity: O(leases).
    @discardableResult
    public func expireLeases(olderThan age: Duration = .zero) -> Int { committer.leases.expire(olderThan: age) }
}
