import CambiumGraph
import CambiumModel

/// A commit that may not be durable yet.
struct PendingCommit: Sendable {
    /// The transaction; `nil` if nothing was written.
    let transaction: TransactionNumber?
    /// Whether the transaction changed the graph. If not, it only recorded a request.
    let hasChanges: Bool
    /// The graph after the commit; `nil` if `group` contains this graph.
    let graph: Graph?
    let byteCount: Int
    /// Whether the transaction is written together with the group, and therefore gets an equal share of the group's bytes.
    let isStaged: Bool
    /// Reports whether the log received the transactions that were unwritten when the commit joined its group. These transactions include
    /// the commit's own transaction, or other transactions whose changes the commit may have read. `nil` if no transaction was unwritten at
    /// that time.
    let fate: FrameFate?
    /// The group for which the commit waits; `nil` if the commit is already as durable as it must be.
    let group: CommitGroup?
    /// Whether the thread that is waiting for the commit must write and sync the group.
    let leads: Bool
    /// The error of a commit that did nothing, because its request was applied earlier. The error is reported once the transaction that
    /// applied the request is durable.
    var refusal: CambiumError?
    /// Whether the commit writes nothing: no change, and no request to remember. Such a commit waits only because the changes that it may
    /// have read must become durable.
    var isEmpty = false

    /// The result of the commit, unless the sync of its group fails.
    var result: Result<Receipt, CambiumError> {
        if let failure = fate?.failure { return .failure(own(failure)) }
        if let refusal { return .failure(refusal) }
        guard let graph = graph ?? group?.graph else { preconditionFailure("A commit or its group must have a graph.") }
        let share = byteCount + (isStaged ? group?.shareByteCount ?? 0 : 0)
        return .success(Receipt(transaction: transaction, logByteCount: share, graph: graph, hasChanges: hasChanges))
    }

    /// Returns the result of the commit if its group has a given outcome.
    func result(of outcome: CommitGroup.Outcome) -> Result<Receipt, CambiumError> {
        switch outcome {
        case .success: result
        case .failure(let cause): .failure(own(failure(cause)))
        }
    }

    /// Returns the error of the commit if its group fails. The outcome is unknown only if the kernel received the bytes of the commit.
    /// Otherwise, these bytes cannot be in the log when the store is next opened.
    private func failure(_ cause: CambiumError) -> CambiumError {
        guard let fate else { return .outcomeUnknown(transaction, cause) }
        if let failure = fate.failure { return failure }
        if fate.isWritten { return .outcomeUnknown(transaction, cause) }
        return CambiumError(
            .ioFailure,
            "An earlier write to the disk failed, so this transaction was not written. Repeat the transaction. The earlier error: "
                + cause.message,
            underlying: cause)
    }

    /// Returns the error that this commit throws if a write or sync failed with `error`. A commit that writes nothing never has an unknown
    /// outcome, even if changes that it read may be lost.
    private func own(_ error: CambiumError) -> CambiumError {
        guard isEmpty, error.code == .outcomeUnknown else { return error }
        let cause = error.underlying as? CambiumError ?? error
        if cause.code == .notWritable { return cause }
        return CambiumError(
            .ioFailure,
            "The disk failed before earlier transactions were durable, so the store may or may not contain them. This call changed "
                + "nothing. Open the store again, and repeat the call. The cause: \(cause.message)",
            underlying: cause)
    }

    // MARK: Without a waiting thread

    /// The result of the commit; `nil` if it is not known yet.
    var outcome: Result<Receipt, CambiumError>? {
        guard let group else { return result }
        return group.outcomeIfSettled.map(result(of:))
    }

    /// Calls `body` when the commit is as durable as it must be, or has failed. `body` runs on an arbitrary thread, and must not block that
    /// thread.
    func whenSettled(_ body: @escaping @Sendable (Result<Receipt, CambiumError>) -> Void) {
        guard let group else { return body(result) }
        group.notify { outcome in body(result(of: outcome)) }
    }
}
