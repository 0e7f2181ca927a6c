internal import CambiumBytes

/// Whether a transaction was committed. After a rollback, other objects may get the ids of the objects that the transaction inserted. So a
/// `Ref` to an inserted object reads this outcome before it uses the id.
final class TransactionOutcome: Sendable {
    private let committed = Guarded(false)

    var isCommitted: Bool { committed.withLock { $0 } }

    func commit() { committed.withLock { $0 = true } }

    /// Undoes `commit()`, because the transaction could not be written.
    func rollBack() { committed.withLock { $0 = false } }
}
