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
        if !isStored { _ = try pack(PackingLimits(), stepCountMax: Self.stepCountMax) }
        return try store(again: false)
    }

    /// - Parameter again: whether it takes the place of a checkpoint of the same transaction, because its pages are others.
    func store(again: Bool) throws -> CheckpointReceipt {
        guard let checkpointer else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints.") }
        let begin = TickClock.now
        do {
            // So a sync under the lock has little to wait for.
            if !(writing.hold { isClosed }) { try syncLog() }
            let receipt = try checkpointer.make(
                take: { try writing.hold(as: .checkpoint) { try snapshot(unlessAt: again ? nil : checkpointer.transaction) } },
                makeDurable: syncLog, whileNobodyWrites: whileNobodyWrites)
            // A checkpoint that is there already takes no bytes.
            if receipt.byteCount > 0 { metrics.upkeep.withLock { $0.noteCheckpoint(ticks: TickClock.ticks(since: begin)) } }
            return receipt
        } catch {
            metrics.upkeep.withLock { $0.failedCheckpointCount += 1 }
            throw error
        }
    }

    /// Waits until every transaction that was committed before is durable, and so is all else that was written to the log. The lock is free
    /// meanwhile. If the store is being closed, the log stays open as long as a checkpoint is made.
    private func syncLog() throws(CambiumError) {
        let pending = writing.hold(as: .checkpoint) { join(nil, timeline.head, .synced, .thread) }
        _ = try settle(pending)
        // If another thread's sync failed meanwhile, the log may lack bytes although this sync succeeded. Then this throws.
        _ = try writing.hold(as: .checkpoint) { () throws(CambiumError) in try log?.beginSync() }
    }

    /// Whether the newest transaction is in a checkpoint.
    var isStored: Bool { writing.hold { log?.lastTransaction == checkpointer?.transaction } }

    /// The newest transaction and its time.
    var newestTransaction: (number: TransactionNumber, time: Timestamp) {
        writing.hold { (log?.lastTransaction ?? timeline.head.transaction, lastTime) }
    }

    /// Calls `body` under the writer's lock, and lets writers have the lock that wait for it.
    func whileNobodyWrites(_ body: () -> Void) {
        writing.hold(as: .reclaiming) { body() }
        writing.letOthersIn()
    }

    /// Commits the digest of the newest graph. It is computed while others write; under the lock it only follows what they have committed.
    func recordDigest(_ author: Author) throws -> Receipt {
        try checkOutsideOfWrites("recordDigest")
        return try record(KnownDigest { graph }, author)
    }

    /// Commits the digest of the newest graph, from the digest of an earlier one. The op names the transaction right before its own: a
    /// replay can compare no other.
    func record(_ known: KnownDigest, _ author: Author) throws -> Receipt {
        defer { withExtendedLifetime(known) {} }
        let pending = try commit(author, nil, checks: .none, waiter: .thread, as: .digest, for: "recordDigest") { transaction in
            var known = known
            known.advance(to: transaction.draft.original)
            transaction.ops.append(.digest(of: known.graph.transaction, known.digest))
        }
        return try settle(pending)
    }

    /// Builds ordered indexes that are not complete, in short steps between which others write. While the newest
    /// transactions may yet be taken back, they build them themselves.
    func buildIndexes() throws {
        while true {
            let hasMore = try writing.hold(as: .indexing) {
                if isClosed || timeline.isTentative { return false }
                return try timeline.buildIndexes { graph in visible.withLock { if $0.transaction == graph.transaction { $0 = graph } } }
            }
            if !hasMore { return }
            writing.letOthersIn()
        }
    }

    /// Packs the pages, in short steps between which others write. The plan is made while others write.
    ///
    /// - Returns: whether something was gained.
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

    /// A plan that is made while others write; `nil` if nothing is to be gained, or if the store was closed.
    private func packingPlan(_ limits: PackingLimits) -> PackingPlan? {
        guard let survey = writing.hold(as: .packing, { isClosed ? nil : timeline.survey(limits) }) else { return nil }
        var planned: Graph? = graph
        let plan = planned.flatMap { PackingPlan($0, survey) }
        // The lock orders this reading before writers that use the pages again. Counts of references do, too, but the thread sanitizer does
        // not see them.
        writing.hold(as: .packing) { planned = nil }
        return plan
    }

    /// Steps of packing before a checkpoint: some hundred thousand rows, or 256 MiB of pages.
    private static let stepCountMax = 1024

    /// Plans of which nothing came, one after the other: writers that change everything would have packing go on for ever.
    private static let vainPlanCountMax = 4

    /// Only while `writing` is held.
    private func step(_ plan: inout PackingPlan) throws {
        if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
        // A version that readers see is not taken back.
        if timeline.head.transaction == graph.transaction { timeline.confirm(timeline.head) }
        try timeline.pack(&plan) { showPacked($0) }
        timeline.prepareNext()
    }

    /// Shows a graph in the place of one of the same transaction, whose pages are others.
    func showPacked(_ packed: Graph) { visible.withLock { if $0.transaction == packed.transaction { $0 = packed } } }

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
        guard let log, let checkpointer, log.lastTransaction != stored else { return nil }
        try writeOthers()
        // Readers are shown what cannot be taken back. What only the kernel has of the log need not be durable before the root is.
        let position = try log.endPosition(syncs: timeline.isTentative)
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
