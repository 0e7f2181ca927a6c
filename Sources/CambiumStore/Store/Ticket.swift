import CambiumModel

/// A handle with which a caller waits until an enqueued transaction is durable.
///
/// ```swift
/// let (note, ticket) = try store.enqueue { try $0.insert("Note", ["title": "Paris"]) }
/// let receipt = try await ticket.receipt
/// print(note, receipt.logByteCount)
/// ```
///
/// A ticket holds the graph of its receipt, as the receipt does. All tickets of one sync hold the same graph. Release a ticket after you
/// have read its receipt, so that the pages of this graph can be used again. A ticket does not keep the store open.
public struct Ticket: Sendable {
    // This is the only part of the store that a ticket holds, so a kept ticket does not keep the store open. The thread or the block that
    // leads the commit's group keeps the store open until the outcome is known.
    private let pending: PendingCommit

    init(_ pending: PendingCommit) { self.pending = pending }

    /// The receipt of the transaction, once the transaction is as durable as it must be.
    ///
    /// Throws `.ioFailure` if the disk refused the transaction, which then has no effect. Throws `.outcomeUnknown` if the disk failed after
    /// it received the transaction: the store may or may not contain the transaction when it is next opened. The receipt's graph is the
    /// graph that readers got with the transaction. That graph may also contain other transactions that became durable with the same sync.
    public var receipt: Receipt {
        get async throws {
            if let outcome = pending.outcome { return try outcome.get() }
            return try await withCheckedThrowingContinuation { continuation in
                whenSettled { continuation.resume(with: $0.mapError { $0 as any Error }) }
            }
        }
    }

    func whenSettled(_ body: @escaping @Sendable (Result<Receipt, CambiumError>) -> Void) { pending.whenSettled(body) }
}
