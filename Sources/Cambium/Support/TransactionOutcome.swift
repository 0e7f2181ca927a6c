internal import CambiumBytes

/// Whether a transaction was committed. After a rollback, the ids of its new objects may become the ids of other objects.
final class TransactionOutcome: Sendable {
    private let committed = Guarded(false)

    var isCommitted: Bool { committed.withLock { $0 } }

    func commit() { committed.withLock { $0 = true } }

    /// Takes back `commit()`, because the transaction could not be written.
    func rollBack() { committed.withLock { $0 = false } }
}
