internal import CambiumBytes
import CambiumGraph

/// Whether a transaction was committed, and its graph. After a rollback, other objects may get the ids of the objects that the transaction
/// inserted. So a `Ref` to an inserted object reads this outcome before it uses the id.
package final class TransactionOutcome: Sendable {
    private struct State {
        var isCommitted = false
        var graph: Graph?
        var original: Graph?
        var journal = RecordJournal()
    }

    private let state: Guarded<State>

    /// - Parameter original: The graph to which the transaction adds its changes.
    package init(_ original: Graph) { state = Guarded(State(original: original)) }

    package var isCommitted: Bool { state.withLock { $0.isCommitted } }

    /// The graph after the commit; `nil` if the transaction is in progress or was rolled back. The values of a record that the transaction
    /// read or saved are those of this graph.
    package var graph: Graph? { state.withLock { $0.graph } }

    /// The graph to which the transaction adds its changes; `nil` once the commit cannot fail any more. After a rollback or a failed sync,
    /// a record that the transaction saved is compared with this graph, so that a repeated save does not undo changes of other writers.
    package var original: Graph? { state.withLock { $0.original } }

    /// The changes of the transaction since its records were read or saved.
    package func withJournal<Result: Sendable>(_ body: (inout RecordJournal) -> Result) -> Result { state.withLock { body(&$0.journal) } }

    func commit(_ graph: Graph) { state.withLock { ($0.isCommitted, $0.graph) = (true, graph) } }

    /// Releases the graph before the transaction, because no failure of the disk can undo the commit any more.
    func confirm() { state.withLock { $0.original = nil } }

    /// Undoes `commit(_:)`, because the transaction could not be written.
    func rollBack() { state.withLock { ($0.isCommitted, $0.graph) = (false, nil) } }

    /// Records that the sync of the transaction failed, so that it is not known whether the next opening finds the transaction. The objects
    /// that it inserted do not count as rolled back, because a repeated save would insert them a second time.
    func lose() { state.withLock { $0.graph = nil } }
}
