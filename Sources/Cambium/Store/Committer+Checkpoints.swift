internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

extension Committer {
    /// Why the last background checkpoint failed; nil if it did not fail.
    var checkpointFailure: CambiumError? { checkpointer?.failure }

    /// Stores the newest graph while writers go on.
    func checkpoint() throws -> CheckpointReceipt {
        try checkOutsideOfWrites("checkpoint")
        try buildIndexes()
        if !isStored { _ = try pack(PackingLimits(), stepCountMax: 64) }
        return try store(again: false)
    }

    /// - Parameter again: whether it takes the place of a checkpoint of the same transaction, because its pages are others.
    func store(again: Bool) throws -> CheckpointReceipt {
        guard let checkpointer else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints.") }
        let begin = TickClock.now
        do {
            let receipt = try checkpointer.make(
                take: { try writing.hold(as: .checkpoint) { try snapshot(unlessAt: again ? nil : checkpointer.transaction) } },
                whileNobodyWrites: whileNobodyWrites)
            // A checkpoint that is there already takes no bytes.
            if receipt.byteCount > 0 { metrics.upkeep.withLock { $0.noteCheckpoint(ticks: TickClock.ticks(since: begin)) } }
            return receipt
        } catch {
            metrics.upkeep.withLock { $0.failedCheckpointCount += 1 }
            throw error
        }
    }

    /// Whether the newest transaction is in a checkpoint.
    var isStored: Bool { writing.hold { log?.lastTransaction == checkpointer?.transaction } }

    /// The newest transaction and its time.
    var newestTransaction: (number: TransactionNumber, time: Timestamp) {
        writing.hold { (log?.lastTransaction ?? timeline.head.transaction, lastTime) }
    }

    func whileNobodyWrites(_ body: () -> Void) { writing.hold(as: .reclaiming) { body() } }

    /// Commits the digest of the newest graph. It is computed while others write; under the lock it only follows what they have committed.
    func recordDigest(_ author: Author) throws -> Receipt {
        try checkOutsideOfWrites("recordDigest")
        return try record(KnownDigest { graph }, author)
    }

    /// Commits the digest of the newest graph, from the digest of an earlier one. The op names the transaction right before its own: a
    /// replay can compare no other.
    func record(_ known: KnownDigest, _ author: Author) throws -> Receipt {
        let pending = try commit(author, nil, checks: .none, waiter: .thread, as: .digest, for: "recordDigest") { transaction in
            var known = known
            known.advance(to: transaction.draft.original)
            transaction.ops.append(.digest(of: known.graph.transaction, known.digest))
        }
        return try settle(pending)
    }

    /// Builds ordered indexes that are not complete, in steps of well below a millisecond between which others write. While the newest
    /// transactions may yet be taken back, they build them themselves.
    func buildIndexes() throws {
        while true {
            let hasMore = try writing.hold(as: .indexing) {
                if isClosed || timeline.isTentative { return false }
                return try timeline.buildIndexes { graph in visible.withLock { if $0.transaction == graph.transaction { $0 = graph } } }
            }
            if !hasMore { return }
        }
    }

    /// Packs the pages, in steps between which others write. What may yet be taken back is not packed: the next checkpoint comes to it.
    ///
    /// - Returns: whether there was anything to do.
    func pack(_ limits: PackingLimits, stepCountMax: Int) throws -> Bool {
        let begin = TickClock.now
        var stepCount = 0
        while stepCount < stepCountMax {
            let isDone = try writing.hold(as: .packing) {
                if isClosed || timeline.isTentative { return true }
                return try !timeline.pack(limits) { graph in visible.withLock { if $0.transaction == graph.transaction { $0 = graph } } }
            }
            if isDone { break }
            stepCount += 1
        }
        metrics.upkeep.withLock { upkeep in
            upkeep.packingStepCount += stepCount
            upkeep.packingTicks += TickClock.ticks(since: begin)
        }
        return stepCount > 0
    }

    /// Which checkpoints are kept. Throws for a store in memory, which has none.
    func checkpointPolicy() throws -> CheckpointPolicy {
        guard let volume else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints.") }
        return CheckpointPolicy(try StoreSettings.read(volume))
    }

    func setCheckpointPolicy(_ policy: CheckpointPolicy) throws {
        try policy.check()
        try checkOutsideOfWrites("setCheckpointPolicy")
        guard let volume, let checkpointer else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints.") }
        // A checkpoint removes what is left of replacements that were interrupted, so none may be made beside this one.
        try checkpointer.whileNoneIsMade {
            try writing.hold {
                if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
                var settings = try StoreSettings.read(volume)
                policy.apply(to: &settings)
                try settings.replace(in: volume)
            }
        }
        checkpointer.set(policy)
    }

    /// Ends the log with a position that the checkpoint names, and freezes the pages that there are. Only while `writing` is held.
    ///
    /// - Returns: nil where the newest transaction is the one named.
    func snapshot(unlessAt stored: TransactionNumber?) throws -> Checkpointer.Snapshot? {
        if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
        guard let log, log.lastTransaction != stored else { return nil }
        try writeOthers()
        let position = try log.endPosition()
        if let full = log.takeFullSegment() { sealing?.add(full) }
        let graph = timeline.head
        timeline.confirm(graph)
        show(graph)
        let (image, fresh, inFile) = timeline.freeze()
        return Checkpointer.Snapshot(
            image: image, fresh: fresh, inFile: inFile, transaction: graph.transaction, time: log.lastTime,
            layout: graph.layout.fingerprint, logPosition: position, schema: graph.schema.catalog,
            tailByteCount: checkpointer?.tailByteCount ?? 0)
    }
}
