import CambiumGraph
internal import CambiumLog
import CambiumModel

extension CommitPipeline {
    /// Commits the digest of the newest graph. The digest is computed while other threads write. While the writer's lock is held, the
    /// digest is only updated for the transactions that were committed in the meantime.
    ///
    /// - Parameter newest: returns the graph that readers see.
    func recordDigest(_ author: Author, following newest: () -> Graph) throws -> Receipt {
        try writer.checkOutsideOfWrites("recordDigest")
        // Without this check, a store that accepts no more writes would compute the digest before it refuses the digest.
        try writer.lock.hold(as: .digest) {
            try writer.checkOpen()
            try writer.log?.checkPoison()
        }
        return try record(KnownDigest(following: newest), author)
    }

    /// Commits the digest of the newest graph. The digest is computed from `known`, the digest of an earlier graph. The digest op names the
    /// transaction before its own. When a replay reaches the op, the graph is as it was after that transaction, so the replay can compare
    /// the digests.
    func record(_ known: KnownDigest, _ author: Author) throws -> Receipt {
        defer { withExtendedLifetime(known) {} }
        let pending = try commit(author, nil, checks: .none, waiter: .thread, as: .digest, for: "recordDigest") { transaction in
            var known = known
            known.advance(to: transaction.draft.original)
            transaction.draft.countDigest()
            transaction.ops.append(.digest(of: known.graph.transaction, known.digest))
        }
        return try queue.settle(pending)
    }
}
