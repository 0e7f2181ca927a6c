internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

extension Committer {
    /// The error of the last background checkpoint; `nil` if it did not fail.
    var checkpointFailure: CambiumError? { checkpointer?.failure }

    /// Stores the newest graph while writers continue.
    func checkpoint() throws -> CheckpointReceipt {
        try checkOutsideOfWrites("checkpoint")
        try buildIndexes()
        if !isStored { _ = try pack(PackingLimits(), stepCountMax: Self.stepCountMax) }
        return try store(again: false)
    }

    /// Stores the newest graph as a checkpoint, without packing its pages first.
    ///
    /// - Parameter again: whether the checkpoint replaces one of the same transaction, because packing has changed the pages.
    func store(again: Bool) throws -> CheckpointReceipt {
        guard let checkpointer else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints.") }
        let begin = TickClock.now
        do {
            // After this sync, a sync under the lock has little to wait for.
            if !(writing.hold { isClosed }) { try syncLog() }
            let receipt = try checkpointer.make(
                take: { try writing.hold(as: .checkpoint) { try snapshot(unlessAt: again ? nil : checkpointer.transaction) } },
                makeDurable: syncLog, whileNoThreadWrites: whileNoThreadWrites)
            // If the transaction has a checkpoint already, no bytes are written.
            if receipt.byteCount > 0 { metrics.upkeep.withLock { $0.noteCheckpoint(ticks: TickClock.ticks(since: begin)) } }
            return receipt
        } catch {
            metrics.upkeep.withLock { $0.failedCheckpointCount += 1 }
            throw error
        }
    }

    /// Waits until every earlier transaction, and everything else that was written to the log, is durable. The lock is free during the
    /// wait. If the store is being closed, the log stays open until the checkpoint is made.
    private func syncLog() throws(CambiumError) {
        let pending = writing.hold(as: .checkpoint) { join(nil, timeline.head, .synced, .thread) }
        _ = try settle(pending)
        // If another thread's sync failed during the wait, the log may lack bytes although this sync succeeded. Then this call throws.
        _ = try writing.hold(as: .checkpoint) { () throws(CambiumError) in try log?.beginSync() }
    }

    /// Whether the newest transaction is in a checkpoint.
    var isStored: Bool { writing.hold { log?.lastTransaction == checkpointer?.transaction } }

    /// The newest transaction and its time.
    var newestTransaction: (number: TransactionNumber, time: Timestamp) {
        writing.hold { (log?.lastTransaction ?? timeline.head.transaction, lastTime) }
    }

    /// Calls `body` under the writer's lock, and then lets waiting writers have the lock.
    func whileNoThreadWrites(_ body: () -> Void) {
        writing.hold(as: .reclaiming) { body() }
        writing.letOthersIn()
    }

    /// Commits the digest of the newest graph. The digest is computed while others write. Under the lock it only follows the transactions
    /// that were committed during that time.
    func recordDigest(_ author: Author) throws -> Receipt {
        try checkOutsideOfWrites("recordDigest")
        return try record(KnownDigest { graph }, author)
    }

    /// Commits the digest of the newest graph, computed from the digest of an earlier one. The op names the transaction right before its
    /// own, because a replay can compare no other.
    func record(_ known: KnownDigest, _ author: Author) throws -> Receipt {
        defer { withExtendedLifetime(known) {} }
        let pending = try commit(author, nil, checks: .none, waiter: .thread, as: .digest, for: "recordDigest") { transaction in
            var known = known
            known.advance(to: transaction.draft.original)
            transaction.ops.append(.digest(of: known.graph.transaction, known.digest))
        }
        return try settle(pending)
    }

    /// Builds incomplete ordered indexes in short steps, between which others write. Stops if the newest transactions may still be rolled
    /// back. Each transaction builds a part of the indexes, too.
    func buildIndexes() throws {
        while true {
            let hasMore = try writing.hold(as: .indexing) {
                if isClosed || timeline.isUnconfirmed { return false }
                return try timeline.buildIndexes { graph in visible.withLock { if $0.transaction == graph.transaction { $0 = graph } } }
            }
            if !hasMore { return }
            writing.letOthersIn()
        }
    }

    /// Packs the pages in short steps, between which others write. The plans are made while others write.
    ///
    /// - Returns: whether packing gained anything.
    func pack(_ limits: PackingLimits, stepCountMax: Int) throws -> Bool {
        let begin = TickClock.now
        var found = MetricsRecord.Upkeep()
        var (hasGained, vainCount) = (false, 0)
        while found.packingStepCount < stepCountMax, vainCount < Self.vainPlanCountMax, var plan = packingPlan(limits) {
            while !plan.isDone, found.packingStepCount < stepCountMax {
                try writing.hold(as: .packing) { try step(&plan) }
                found.packingStepCount += 1
                writing.letOthersIn()
            }
            writing.hold(as: .packing) { timeline.finish(plan) }
            (found.packedRowCount, found.packedByteCount) = (found.packedRowCount + plan.rowCount, found.packedByteCount + plan.byteCount)
            hasGained = hasGained || plan.hasGained
            vainCount = plan.hasGained ? 0 : vainCount + 1
        }
        metrics.upkeep.withLock { $0.notePacking(found, ticks: TickClock.ticks(since: begin)) }
        return hasGained
    }

    /// Returns a plan, which is made while others write. Returns `nil` if no packing is worthwhile or possible, or if the store was closed.
    private func packingPlan(_ limits: PackingLimits) -> PackingPlan? {
        guard let survey = writing.hold(as: .packing, { isClosed ? nil : timeline.survey(limits) }) else { return nil }
        var planned: Graph? = graph
        let plan = planned.flatMap { PackingPlan($0, survey) }
        // The lock orders these reads before the writes of later transactions, which may reuse the pages. Reference counts order them, too,
        // but the thread sanitizer does not see that.
        writing.hold(as: .packing) { planned = nil }
        return plan
    }

    /// The maximum number of packing steps before a checkpoint. They move some hundred thousand rows, or copy 256 MiB of pages.
    private static let stepCountMax = 1024

    /// The maximum number of consecutive plans that gain nothing. Without it, packing might never end while writers change everything.
    private static let vainPlanCountMax = 4

    /// Does one step of a plan. Call it only while `writing` is held.
    private func step(_ plan: inout PackingPlan) throws {
        if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
        // A version that readers see is never rolled back.
        if timeline.head.transaction == graph.transaction { timeline.confirm(timeline.head) }
        try timeline.pack(&plan) { showPacked($0) }
        timeline.prepareNext()
    }

    /// Shows a packed graph in place of the graph of the same transaction, which has other pages. Does nothing if another transaction is
    /// shown.
    func showPacked(_ packed: Graph) { visible.withLock { if $0.transaction == packed.transaction { $0 = packed } } }

    /// Returns the policy that decides which checkpoints are kept. Throws `.invalidInput` for a store in memory, which has no checkpoints.
    func checkpointPolicy() throws -> CheckpointPolicy {
        guard let volume else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints.") }
        return CheckpointPolicy(try StoreSettings.read(volume))
    }

    func setCheckpointPolicy(_ policy: CheckpointPolicy) throws {
        try policy.check()
        try checkOutsideOfWrites("setCheckpointPolicy")
        guard let volume, let checkpointer else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints.") }
        // A checkpoint removes the files of interrupted replacements, so no checkpoint may be made during this replacement.
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

    /// Ends the log at a position that the checkpoint can name, and freezes the existing pages. Call it only while `writing` is held.
    ///
    /// - Returns: `nil` if the newest transaction is `stored`.
    func snapshot(unlessAt stored: TransactionNumber?) throws -> Checkpointer.Snapshot? {
        if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
        guard let log, let checkpointer, log.lastTransaction != stored else { return nil }
        try writeOthers()
        // An unconfirmed version must be durable before readers see it. Otherwise the sync can wait: the log must only be durable before
        // the checkpoint record is.
        let position = try log.endPosition(syncs: timeline.isUnconfirmed)
        if let ended = log.takeEndedSegment() { sealing?.add(ended) }
        let graph = timeline.head
        timeline.confirm(graph)
        show(graph)
        showPacked(graph)
        let schema = graph.schema.catalog
        let frozen = try timeline.freeze { chunkCount throws(CambiumError) in
            try checkpointer.tableChunkCount(graph.transaction, schema, chunkCount: chunkCount)
        }
        return Checkpointer.Snapshot(
            frozen: frozen, transaction: graph.transaction, time: log.lastTime,
            layout: graph.layout.fingerprint, logPosition: position, schema: schema,
            tailByteCount: checkpointer.tailByteCount)
    }
}
