import CambiumGraph
import CambiumModel
import Dispatch

extension Store {
    /// Runs a transaction: either all changes of `body` take effect, or none of them.
    ///
    /// Waits for the preceding transactions, and then for the disk, as `durability` requires. If `body` throws, or if rules of the schema
    /// are broken, the store stays unchanged. One `.ruleViolated` reports all broken rules. In an asynchronous function, the compiler
    /// chooses the `write` for tasks and requires `await`.
    ///
    /// A commit has three possible outcomes. The commit is done if this call returns. The commit is not done if this call throws any error
    /// except `.outcomeUnknown`. With `.outcomeUnknown`, the disk failed after it received the transaction, so the store may or may not
    /// contain the transaction when it is next opened. Open the store again to find out, or repeat the write with the same request id. This
    /// store object accepts no more writes. A transaction that changes nothing and has no request never throws `.outcomeUnknown`.
    ///
    /// - Parameters:
    ///   - author: The author of the change, its reason and its request, which the log keeps.
    ///   - durability: The durability for which this transaction waits; `nil` for the durability of the store. A transaction cannot request
    ///     a weaker durability than that of the store.
    ///   - body: Changes the transaction that it receives.
    /// - Throws: the errors of `body`. Throws `.repeated`, with a `RepeatedRequest`, if the author's request was applied earlier, and
    ///   `.conflict` if a different request with the same id was applied. In both cases, `body` is not called. Throws `.ruleViolated` if
    ///   rules of the schema are broken, and `.invalidInput` for a weaker durability than that of the store. Throws `.limitExceeded` if a
    ///   text of the author is too long. Throws `.ioFailure` or `.notWritable` if the log cannot be written, and `.outcomeUnknown` as
    ///   described above. Throws `.misuse` inside the closure of another write of the store.
    @discardableResult
    @inlinable
    public func write<Result>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, receipt: Receipt) {
        var result: Result?
        let receipt = try settled(author, durability) { transaction in result = try body(&transaction) }
        guard let result else { preconditionFailure("A successful commit has called its closure.") }
        return (result, receipt)
    }

    /// Does the work of `write` for a closure without a result, so that only `write` is specialized for the type of the result.
    @usableFromInline
    func settled(
        _ author: Author, _ durability: Durability?, _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Receipt {
        try commits.settle(try pipeline.commit(author, durability, waiter: .thread, body))
    }

    /// Does the same as the blocking `write`, for tasks. The closures run one at a time on a queue of the store. No thread waits for the
    /// disk, except for a request that was applied earlier. Transactions that arrive during a sync share the next sync.
    ///
    /// If the task is cancelled before `body` begins, `body` is not called, and the call throws `CancellationError` at once, even if other
    /// writers are busy. A transaction that has begun is finished. Otherwise throws as the blocking `write` does.
    @discardableResult
    public func write<Result: Sendable>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
    ) async throws -> (result: Result, receipt: Receipt) {
        let call = WaitingCall()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                call.wait { continuation.resume(throwing: CancellationError()) }
                queue.async {
                    if call.isCancelled { return }
                    do {
                        // The task may also be cancelled while this block waits for other writers.
                        let (result, ticket) = try self.enqueue(author, durability, .listener) { transaction in
                            guard call.begin() else { throw CancellationError() }
                            return try body(&transaction)
                        }
                        ticket.whenSettled { continuation.resume(with: $0.map { (result, $0) }.mapError { $0 as any Error }) }
                    } catch {
                        if call.begin() { continuation.resume(throwing: error) }
                    }
                }
            }
        } onCancel: {
            call.cancel()
        }
    }

    /// Runs a transaction as `write` does, but returns before the transaction is durable. The ticket reports the outcome.
    ///
    /// Waits for the preceding transactions, but not for the disk. If the author's request was applied earlier, however, the call waits
    /// until the transaction that applied it is durable, and then throws `.repeated`. Later transactions build on the new transaction.
    /// Readers see the new transaction once it is as durable as `durability` requires. If the disk fails, the tickets of the new
    /// transaction and of all transactions that build on it throw. Throws as `write` does.
    public func enqueue<Result>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, ticket: Ticket) {
        try enqueue(author, durability, .ticket, body)
    }

    private func enqueue<Result>(
        _ author: Author, _ durability: Durability?, _ waiter: CommitQueue.Waiter, _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, ticket: Ticket) {
        var result: Result?
        let pending = try pipeline.commit(author, durability, waiter: waiter, for: "enqueue") { transaction in
            result = try body(&transaction)
        }
        guard let result else {
            _ = try commits.settle(pending)
            throw CambiumError(.repeated, "The request was applied earlier. This call changed nothing. Use the result of the first call.")
        }
        return (result, Ticket(pending))
    }

    /// Runs a transaction whose closure returns no result. `body` may also change the draft directly, and append the corresponding ops.
    package func transact(
        _ author: Author, as use: StoreMetrics.LockUse = .commit, for call: String = "write",
        _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Receipt {
        let pending = try pipeline.commit(author, nil, waiter: .thread, as: use, for: call, body)
        return try commits.settle(pending)
    }
}
