import CambiumGraph
import CambiumModel

/// A commit that is on its way to the disk.
struct PendingCommit: Sendable {
    /// Nil if nothing was written.
    let transaction: TransactionNumber?
    /// Whether the transaction changed the graph, and not only noted a request.
    let hasChanges: Bool
    /// The graph after the commit; nil if the one of its group serves.
    let graph: Graph?
    let byteCount: Int
    /// Whether its transaction is written with those of its group.
    let isStaged: Bool
    /// What becomes of the frame that its transaction is staged for, or of one that it has read; nil if they were written before.
    let fate: FrameFate?
    /// What the commit waits for; nil if it is as durable as it has to be.
    let group: CommitGroup?
    let leads: Bool
    /// Why the commit did nothing: its request is known. Told once the transaction of that request is durable.
    var refusal: CambiumError?

    /// How the commit ends, if it gets as durable as it has to be.
    var result: Result<Receipt, CambiumError> {
        if let failure = fate?.failure { return .failure(failure) }
        if let refusal { return .failure(refusal) }
        guard let graph = graph ?? group?.graph else { preconditionFailure("A commit without a graph is in a group, which has one.") }
        let share = byteCount + (isStaged ? group?.shareByteCount ?? 0 : 0)
        return .success(Receipt(transaction: transaction, logByteCount: share, graph: graph, hasChanges: hasChanges))
    }

    /// How the commit ends, if its group ends in this way.
    func result(of outcome: CommitGroup.Outcome) -> Result<Receipt, CambiumError> {
        switch outcome {
        case .success: result
        case .failure(let cause): .failure(failure(cause))
        }
    }

    /// Why the commit fails if its group does: bytes that the system was given may be read at the next opening, others never will be.
    private func failure(_ cause: CambiumError) -> CambiumError {
        guard let fate else { return .outcomeUnknown(transaction, cause) }
        if let failure = fate.failure { return failure }
        if fate.isWritten { return .outcomeUnknown(transaction, cause) }
        return CambiumError(
            .ioFailure, "An earlier write to the disk failed, so nothing of this transaction was written. It was: \(cause.message)",
            underlying: cause)
    }
}
