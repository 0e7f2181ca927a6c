import CambiumModel

/// A handle with which a caller waits until an enqueued transaction is durable.
///
/// A ticket holds the graph of its receipt, as the receipt does. All tickets of one sync hold the same graph. Release a ticket after you
/// have read its receipt, so that the pages of this graph can be used again.
public struct Ticket: Sendable {
    private let commits: CommitQueue
    private let pending: PendingCommit

    init(_ commits: CommitQueue, _ pending: PendingCommit) {
        self.commits = commits
        self.pending = pending
    }

    /// The receipt of the transaction, once the transaction is as durable as it must be.
    ///
    /// Throws `.ioFailure` if the disk refused the transaction, which then has no effect. Throws `.outcomeUnknown` if the disk failed after
    /// it received the transaction: the next opening may or may not find the transaction. The receipt's graph is the graph that readers got
    /// with the transaction. That graph may also contain other transactions that became durable with the same sync.
    public var receipt: Receipt {
        get async throws {
            if let outcome = commits.outcome(pending) { return try outcome.get() }
            return try await withCheckedThrowingContinuation { continuation in
                whenSettled { continuation.resume(with: $0.mapError { $0 as any Error }) }
            }
        }
    }

    func whenSettled(_ body: @escaping @Sendable (Result<Receipt, CambiumError>) -> Void) { commits.whenSettled(pending, body) }
}
