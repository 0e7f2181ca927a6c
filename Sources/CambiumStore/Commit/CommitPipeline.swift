internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Turns the body of a transaction into ops, stages them for the log, and publishes the resulting graph.
///
/// The next writer builds on the published graph immediately. The `CommitQueue` ensures that readers see the graph only when the graph is
/// as durable as the store promises. The pipeline has no state of its own: it works on the `WriterState` while the writer's lock is held.
final class CommitPipeline: Sendable {
    let writer: WriterState
    let queue: CommitQueue
    private let leases: Leases

    init(_ queue: CommitQueue, _ leases: Leases) { (writer, self.queue, self.leases) = (queue.writer, queue, leases) }

    enum Checks { case all, none }

    /// Runs a transaction and commits its changes, without waiting for the disk. The caller must then call `settle` of the queue, or
    /// `whenSettled` of the commit.
    ///
    /// Throws `.misuse` inside the closure of another write of the store.
    ///
    /// - Parameters:
    ///   - use: the purpose for which the metrics count the time that the lock is held. For a commit, the time for which `body` runs does
    ///     not count.
    ///   - call: the name of the public call, for errors.
    ///   - body: makes the changes. `body` is not called if the author's request was applied earlier. In that case, `settle` throws.
    func commit(
        _ author: Author, _ asked: Durability?, checks: Checks = .all, waiter: CommitQueue.Waiter, as use: WriterLock.Use = .commit,
        for call: String = "write", _ body: (inout WriteTransaction) throws -> Void
    ) throws -> PendingCommit {
        try author.check()
        try writer.checkOutsideOfWrites(call)
        var upkeep: UpkeepAlarm.Reading?
        let pending = try writer.lock.hold(as: use) {
            try writer.checkOpen()
            let level = try level(asked)
            let (lock, timeline) = (writer.lock, writer.timeline)
            // Before `body` runs, only the search for an earlier request takes notable time. So the time before `body` is counted only if
            // there is a request.
            if author.requestID != nil { lock.startCounting() }
            if author.requestID != nil, let refusal = timeline.head.refusal(of: author) {
                // The transaction that applied the request may not be durable yet. The calling thread waits until that transaction is
                // durable, even in `enqueue`.
                var pending = queue.join(nil, timeline.head, level, .thread)
                pending.refusal = refusal
                return pending
            }
            var transaction = begin(timeline.draft())
            if use == .commit { lock.stopCounting() }
            try body(&transaction)
            lock.resumeCounting()
            if checks == .all { try transaction.deleteOrphans() }
            // The closure may have caught the error that made the transaction unusable.
            try transaction.checkUsable()
            // The store remembers a request with its outcome, so a request that changed nothing becomes a transaction without ops.
            if transaction.ops.opCount == 0, author.requestID == nil || transaction.isRehearsal {
                let outcome = transaction.outcome
                let graph = transaction.takeDraft().original
                outcome?.commit(graph)
                outcome?.confirm()
                var pending = queue.join(nil, graph, level, waiter)
                pending.isEmpty = true
                return pending
            }
            let outcome = transaction.outcome
            let pending = try publish(transaction, author, checks, level, waiter, upkeep: &upkeep)
            if let outcome { if let fate = pending.fate { fate.outcomes.append(outcome) } else { outcome.confirm() } }
            return pending
        }
        writer.bell.ring()
        if let upkeep { callForUpkeep(upkeep) }
        return pending
    }

    /// Commits a copy of a transaction of another log, with the same author, request, time and position in the Merkle tree. If that time is
    /// earlier than the time of this store's last transaction, the copy gets the time of the last transaction. Does not wait for the disk.
    ///
    /// Throws `.conflict` if the transaction does not follow the last transaction, `.notWritable` if the store was closed, and the errors
    /// of `Draft.replay`.
    ///
    /// - Returns: the commit, and the time of the transaction in this store. `PendingCommit.outcome` is the result of the commit.
    func copy(_ record: LogRecord) throws -> (pending: PendingCommit, time: Timestamp) {
        var upkeep: UpkeepAlarm.Reading?
        let copied = try writer.lock.hold(as: .commit) {
            try writer.checkOpen()
            let draft = writer.timeline.draft()
            guard draft.transaction == record.number.rawValue else {
                throw CambiumError(
                    .conflict,
                    "Transaction \(record.number) of the source cannot follow transaction \(draft.transaction - 1) of the target, because "
                        + "another call changed the target. Choose an empty target, and write nothing else to it.")
            }
            var transaction = begin(draft)
            var ops = transaction.ops
            try Replay.replay(&transaction.draft, record) { ops.append($0) }
            transaction.ops = ops
            writer.lock.startCounting()
            let author = Author(record.metadata)
            let pending = try publish(transaction, author, .none, writer.durability, .ticket, as: record, upkeep: &upkeep)
            return (pending, writer.lastTime)
        }
        writer.bell.ring()
        if let upkeep { callForUpkeep(upkeep) }
        return copied
    }

    private func begin(_ draft: consuming Draft) -> WriteTransaction {
        let ops = if let log = writer.log { log.makeOpWriter() } else { OpWriter() }
        return WriteTransaction(draft: draft, ops: ops, environment: writer.environment, timeMin: writer.lastTime)
    }

    /// Checks and publishes a transaction, and stages it for the log.
    ///
    /// - Parameter record: the transaction of another log that the new transaction copies; `nil` if the new transaction is not a copy.
    /// - Parameter upkeep: is set to the argument for `callForUpkeep` if background work may be due.
    private func publish(
        _ transaction: consuming WriteTransaction, _ author: Author, _ checks: Checks, _ level: Durability, _ waiter: CommitQueue.Waiter,
        as record: LogRecord? = nil, upkeep: inout UpkeepAlarm.Reading?
    ) throws -> PendingCommit {
        let timeline = writer.timeline
        let (ops, outcome) = (transaction.ops, transaction.outcome)
        let hasChanges = ops.opCount > 0
        let opsWork = ops.replayWork
        var draft = transaction.takeDraft()
        if checks == .all { try draft.check() }
        if let request = author.requestID { try RegisterWriter.record(&draft, request, author.requestDigest, object: ops.firstSubject) }
        let number = TransactionNumber(rawValue: draft.transaction)
        let encoded = try ops.finish()
        let now = writer.environment.now()
        try ClockLimit.check(record?.metadata.time ?? now, after: writer.lastTime)
        let time = now.microsecondsSince1970
        try stage(encoded, author, at: now, as: record)
        // While the next segment is being created (a rotation), no frame is written. So during a rotation, every transaction waits until
        // its group is written, as a synced transaction does.
        let isSynced = level == .synced || writer.log?.pendingRotation != nil
        if isSynced { queue.expectStaged() }
        let byteCount = encoded.payload.fileByteCount + (isSynced ? 0 : try queue.writeStaged().get())
        let isConfirmed = !timeline.isUnconfirmed
        var observed = writer.recent.isWanted ? ObservedCommit(before: timeline.head, metadata(author, at: now, as: record)) : nil
        // `publish` calls the closure before it frees pages. The closure replaces the group's or the writer's reference to the previous
        // version, so that the pages of that version can be freed.
        let graph = try timeline.publish(draft, isUnconfirmed: isSynced) { graph in
            if let observed { keep(graph, observed, isConfirmed: isConfirmed) }
            if isSynced { return queue.add(graph) }
            writer.show(graph) { previous in
                // An observer may have begun since `isWanted` was read, and may have received the previous graph. A store in memory cannot
                // replay this transaction for the observer, so the version of the transaction is kept now.
                guard writer.recent.isWanted, !writer.recent.contains(graph.transaction), previous.transaction.next == graph.transaction
                else { return }
                let late = ObservedCommit(before: previous, metadata(author, at: now, as: record))
                keep(graph, late, isConfirmed: isConfirmed)
                observed = late
            }
        }
        outcome?.commit(graph)
        if let observed { trackSupersededBytes(observed) }
        timeline.prepareNext()
        writer.trackOpsFile(byteCount: encoded.payload.fileByteCount)
        writer.metrics.countCommit()
        let work = ReplayWork.transaction + (author.requestID == nil ? 0 : ReplayWork.request) + opsWork + timeline.publishedReplayWork
        if writer.alarm.track(writer.trackLogged(), replayWork: work, at: time, timeline) || leases.haveEnded(at: now) {
            upkeep = UpkeepAlarm.Reading(timeline, at: time)
        }
        return queue.join(number, graph, level, waiter, byteCount: byteCount, at: time, hasChanges: hasChanges)
    }

    /// Assigns the time of a transaction, and adds the transaction to those that the log writes next. In a store in memory, only assigns
    /// the time.
    private func stage(_ encoded: EncodedOps, _ author: Author, at now: Timestamp, as record: LogRecord?) throws {
        writer.lastTime = max(record?.metadata.time ?? now, writer.lastTime)
        guard let log = writer.log else { return }
        if !log.hasCapacity(for: encoded) { try queue.writeOthers() }
        try log.stage(metadata(author, at: now, as: record), encoded, salt: record?.saltBytes)
    }

    /// Returns the metadata of a transaction that has the time `writer.lastTime`.
    private func metadata(_ author: Author, at now: Timestamp, as record: LogRecord?) -> TransactionMetadata {
        let time = writer.lastTime
        var metadata = TransactionMetadata(time: time)
        // Most transactions have no actor, message or request. Even copying `nil` takes time, so only existing texts are copied.
        if author.actor != nil { metadata.actor = author.actor }
        if author.message != nil { metadata.message = author.message }
        if author.requestID != nil { metadata.requestID = author.requestID }
        metadata.requestDigest = author.requestDigest
        let ownTime = record?.metadata.time ?? now
        if ownTime < time { metadata.clockLag = ownTime.distance(to: time) }
        if let record { metadata.clockLag += record.metadata.clockLag }
        return metadata
    }

    /// Ends the leases that have expired, and requests background work if it is due. Other writers continue at the same time.
    private func callForUpkeep(_ reading: UpkeepAlarm.Reading) {
        leases.expire(at: Timestamp(microsecondsSince1970: reading.time))
        writer.alarm.ring(reading)
    }

    private func level(_ asked: Durability?) throws(CambiumError) -> Durability {
        let own = writer.durability
        guard let asked, asked != own else { return own }
        guard asked.covers(own) else {
            throw CambiumError(
                .invalidInput,
                "The transaction asks for the durability \(asked), which is weaker than the store's. Ask for \(own) or a stronger one.")
        }
        if own == .memory { throw CambiumError(.invalidInput, "A store in memory cannot be made durable. Use a store on disk.") }
        return asked
    }
}

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

/// A transaction whose version is kept, because an observer wants each transaction separately.
struct ObservedCommit {
    /// The version on which the transaction builds.
    let before: Graph
    let metadata: TransactionMetadata

    init(before: Graph, _ metadata: TransactionMetadata) { (self.before, self.metadata) = (before, metadata) }
}

extension CommitPipeline {
    /// Keeps the version of a transaction for observers. Call this method only while the writer's lock is held, before readers see the
    /// version.
    ///
    /// - Parameter isConfirmed: whether the version before the transaction can no longer be rolled back.
    func keep(_ graph: Graph, _ observed: ObservedCommit, isConfirmed: Bool) {
        writer.recent.add(graph, after: observed.before, isConfirmed: isConfirmed, observed.metadata) {
            writer.timeline.supersededByteCount(of: $0)
        }
    }

    /// Records the total size of the pages that a transaction replaced, in bytes. Call this method only while the writer's lock is held,
    /// after the version of the transaction was published.
    func trackSupersededBytes(_ observed: ObservedCommit) {
        let byteCount = writer.timeline.supersededByteCount(of: observed.before)
        writer.recent.track(byteCount: byteCount, supersededFrom: observed.before.transaction)
    }
}
