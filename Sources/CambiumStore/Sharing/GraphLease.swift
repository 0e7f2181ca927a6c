internal import CambiumBytes
public import CambiumGraph
package import CambiumModel
import Synchronization

/// A right to read a graph for a limited time. A lease suits long reads, which must not force the store to keep old pages indefinitely.
///
/// ```swift
/// let lease = store.lease(for: .seconds(60))
/// let count = try lease.read { $0.objectCount }
/// ```
///
/// A `Graph` keeps all of its pages as long as any code holds the graph, so reading the graph needs no lock and cannot fail. A lease keeps
/// the pages only while it is valid, and while `read` runs. Any thread may use a lease.
public final class GraphLease: Sendable {
    /// The last transaction in the graph.
    package let transaction: TransactionNumber
    private let loan: GraphLoan
    private let leases: Leases

    fileprivate init(_ loan: GraphLoan, _ leases: Leases) {
        transaction = loan.transaction
        self.loan = loan
        self.leases = leases
    }

    deinit { leases.end(loan) }

    /// Whether the lease has ended. If so, `read` throws.
    package var isExpired: Bool {
        leases.expire()
        return loan.graph.withLock { $0 == nil }
    }

    /// Calls `body` with the graph, which stays unchanged until `body` returns, even if the lease expires earlier. If `body` stores the
    /// graph elsewhere, that graph keeps its pages even after the lease has ended.
    ///
    /// Throws `.expired` if the lease has ended. Also throws the errors of `body`.
    public func read<Result>(_ body: (Graph) throws -> Result) throws -> Result {
        leases.expire()
        guard let graph = loan.graph.withLock({ $0 }) else {
            throw CambiumError(.expired, "The lease of the graph of transaction \(transaction) has ended. Take another lease.")
        }
        return try body(graph)
    }

    /// Ends the lease and releases the graph. Does nothing if the lease has already ended.
    public func end() { leases.end(loan) }
}

/// The graph that a lease lends. The graph is released when the lease ends.
private final class GraphLoan: Loan {
    let transaction: TransactionNumber
    let beginTime: Timestamp
    let endTime: Timestamp
    let graph: Guarded<Graph?>

    init(_ graph: Graph, from beginTime: Timestamp, to endTime: Timestamp) {
        transaction = graph.transaction
        (self.beginTime, self.endTime) = (beginTime, endTime)
        self.graph = Guarded(graph)
    }

    func release(where isOver: (any Loan) -> Bool) {
        guard isOver(self) else { return }
        // The graph is released outside of the lock, because its release may free all pages of a store.
        _ = graph.withLock { graph in
            defer { graph = nil }
            return graph
        }
    }
}

extension Leases {
    func lend(_ graph: Graph, for duration: Duration?) -> GraphLease {
        let time = now()
        let loan = GraphLoan(graph, from: time, to: duration.map { time + max(.zero, $0) } ?? .max)
        add(loan)
        return GraphLease(loan, self)
    }
}
