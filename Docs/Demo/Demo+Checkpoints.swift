import Cambium

/// The steps of the demo for checkpoints, verification and compaction.
extension Demo {
    func checkpoint(_ store: Store) throws {
        title("Checkpoint")
        var receipt: CheckpointReceipt?
        let seconds = try timed { receipt = try store.checkpoint() }
        guard let receipt else { return }
        let size =
            receipt.byteCount > 0
            ? "\(Self.bytes(receipt.byteCount)), in \(Self.seconds(seconds))" : "automatically, in the background"
        detail("the graph of transaction \(receipt.transaction) is stored: \(size)")
    }

    func reopen(_ graph: Graph) throws {
        title("Reopen")
        var reopened: Store?
        let seconds = try timed { reopened = try Store.open(at: store) }
        guard let reopened else { return }
        let isSame = reopened.graph.digest() == graph.digest()
        let replayed = Self.count(reopened.recovery.transactionCount, "transaction")
        detail(
            "from the checkpoint of transaction \(reopened.recovery.checkpoint) and \(replayed) after it, in "
                + "\(Self.seconds(seconds)); the digest of the graph is \(isSame ? "the same" : "DIFFERENT")")
        try reopened.close()
        guard isSame else { throw CambiumError(.corrupted, "The stored graph differs from the graph in memory. Please report this.") }
    }

    func verify() throws {
        title("Verify")
        var verification: Verification?
        let seconds = try timed { verification = try Store.verify(at: store) }
        guard let verification else { return }
        detail(
            "\(verification.isSound ? "sound" : "CORRUPT"): every checksum of \(Self.bytes(verification.logByteCount)) of log, "
                + "a replay of it compared with the checkpoint, the graph's invariants and every page, in \(Self.seconds(seconds))"
        )
        detail("root    \(verification.root)")
        if let digest = verification.digest { detail("digest  \(digest)") }
        for finding in verification.findings { detail("- \(finding)") }
    }

    func compact() throws {
        title("Compact")
        let opened = try Store.open(at: store)
        let before = try Statistics(of: store).logByteCount
        var compaction: Compaction?
        let seconds = try timed { compaction = try opened.compact(.since(.label("imported"))) }
        try opened.close()
        guard let compaction else { return }
        let after = try Statistics(of: store).logByteCount
        detail(
            "the log keeps author, time, message and a hash of transactions 1 to \(compaction.retiredEnd), and all of the later ones: "
                + "\(Self.bytes(before)) became \(Self.bytes(after)), in \(Self.seconds(seconds))")
        let verification = try Store.verify(at: store)
        let soundness = verification.isSound ? "sound" : "CORRUPT"
        detail("\(soundness), and the root, the hash of the whole log, is still \(verification.root)")
    }
}
