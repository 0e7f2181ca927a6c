internal import CambiumBytes
public import CambiumGraph
internal import CambiumLog
public import CambiumModel
import Dispatch
import Synchronization

/// A graph of objects that is kept in an append-only log.
///
/// Only one process at a time writes to a store, one transaction at a time. Any number of threads can read, and readers never wait.
///
/// ```swift
/// let store = try Store.create(at: "notes", schema: schema, durability: .synced)
/// try store.write(Author(actor: "jane")) { transaction in
///     try transaction.insert("Note", ["title": "Paris"])
/// }
/// print(store.graph.objectCount)
/// try store.close()
/// ```
///
/// This class has no mutable state. It forwards its calls to the parts that have mutable state.
public final class Store: Sendable {
    /// The problems that were found when the store was opened, such as an incomplete transaction that a crash left at the end of the log.
    public let recovery: RecoveryReport

    package let writer: WriterState
    package let commits: CommitQueue
    let pipeline: CommitPipeline
    package let upkeep: GraphUpkeep
    /// Makes checkpoints; `nil` for a store in memory.
    package let checkpoints: CheckpointScheduler?
    /// Packs the pages of a store in memory; `nil` for a store on disk, which packs its pages before checkpoints.
    private let packing: PackingScheduler?
    /// Makes graphs of earlier moments, and keeps the last few of them; `nil` for a store in memory.
    package let past: EarlierGraphs?
    package let leases: Leases
    let liveQueries = LiveRegistry()
    /// The queue on which the closures of asynchronous writes run.
    let queue = DispatchQueue(label: "cambium.store.write")

    /// The queue on which the replay for observers runs. It runs one block at a time, so that any number of observers use only one thread.
    let observationQueue = DispatchQueue(label: "cambium.store.observe")

    /// Creates a store object that uses the state of a writer. The state holds the lock of the store.
    init(_ commits: CommitQueue, _ checkpoints: CheckpointScheduler?, recovery: RecoveryReport) {
        (self.commits, self.checkpoints, self.recovery) = (commits, checkpoints, recovery)
        writer = commits.writer
        writer.timeline.slowQueries.setLimit(writer.environment.slowQueryDuration)
        leases = Leases(now: writer.environment.now)
        pipeline = CommitPipeline(commits, leases)
        upkeep = GraphUpkeep(writer: writer)
        packing = checkpoints == nil ? PackingScheduler(upkeep) : nil
        past = writer.volume.map { [budget = writer.timeline.budget, store = writer.log?.store] in
            EarlierGraphs($0, store: store, budget: budget)
        }
    }

    /// The durability of transactions that do not request a stronger durability.
    public var durability: Durability { writer.durability }

    /// The newest graph that is as durable as the store promises. Complexity: O(1); never waits for a writer or for the disk.
    public var graph: Graph { writer.graph }

    /// The schema of the newest graph. Complexity: O(1).
    public var schema: Schema { graph.schema }

    // MARK: Memory

    /// Gets memory for further pages from the kernel in advance: this number of bytes, in addition to the pages in use. A clone or an
    /// import of a million objects takes about 100 MB, and fills memory faster than the kernel supplies it. After a clone, the store itself
    /// gets memory for the next clone in the background. The amount is a quarter more than the clone took, but at most 160 MiB.
    ///
    /// Waits for the transaction in progress, and returns when the memory has been supplied. From then on, the memory counts as resident.
    /// Traps with a message inside the closure of a write.
    package func reserveMemory(byteCount: Int) { writer.reserveMemory(byteCount: byteCount) }

    /// The number of old versions that readers hold. The tuple also contains three sizes in bytes: the pages that only old versions still
    /// use, all pages, and the memory allocated for pages. Waits for the transaction in progress, and traps with a message inside the
    /// closure of a write. Complexity: O(versions and pages that readers hold).
    package var memory: (pinnedVersionCount: Int, pinnedByteCount: Int, pageByteCount: Int, reservedByteCount: Int) { writer.memory }
}

/// Checkpoints.
extension Store {
    /// Makes a checkpoint of the newest graph. When the store is next opened, it begins with this graph. Writers continue at the same time;
    /// only one checkpoint is made at a time. The store also makes checkpoints automatically, in the background and before it is closed:
    /// when the log after the last checkpoint has grown to 1 MiB, or takes 50 ms to replay. After a checkpoint, the store extends the
    /// touch index, which makes histories fast (Docs/Formats/TOUCHES.md). A failure to extend it is not an error.
    ///
    /// Throws `.ioFailure` if a disk operation fails; in that case, the existing checkpoints stay, and nothing else changes. Throws
    /// `.notWritable` if the store was closed, or if an earlier write or sync has failed. Throws `.invalidInput` for a store in memory, and
    /// `.misuse` inside the closure of a write. Complexity: O(pages that have changed since the last checkpoint).
    @discardableResult
    public func checkpoint() throws -> CheckpointReceipt {
        try writer.checkOutsideOfWrites("checkpoint")
        let checkpoints = try scheduler()
        let receipt = try checkpoints.checkpoint()
        checkpoints.extendTouches()
        return receipt
    }

    /// Returns the policy that decides which checkpoints are kept, from `store.json`. Throws `.invalidInput` for a store in memory,
    /// `.ioFailure` if the file cannot be read, and `.corrupted` if it is corrupt.
    package func checkpointPolicy() throws -> CheckpointPolicy { try scheduler().checkpointer.readPolicy() }

    /// Sets the policy for later checkpoints, and writes it to `store.json`.
    ///
    /// Throws `.invalidInput` for a policy that is not valid, and for a store in memory. Throws `.ioFailure` if a disk operation fails, and
    /// `.misuse` inside the closure of a write. After an error, the policy is unchanged.
    public func setCheckpointPolicy(_ policy: CheckpointPolicy) throws {
        try policy.check()
        try writer.checkOutsideOfWrites("setCheckpointPolicy")
        try scheduler().checkpointer.replacePolicy(policy)
    }

    private func scheduler() throws(CambiumError) -> CheckpointScheduler {
        guard let checkpoints else { throw CambiumError(.invalidInput, "A store in memory has no checkpoints. Use a store on disk.") }
        return checkpoints
    }

    /// The error of the last automatic checkpoint; `nil` if that checkpoint succeeded. Even after an error, the log contains every
    /// transaction.
    public var checkpointFailure: CambiumError? { checkpoints?.failure }

    /// The last error that occurred when segments of the log were sealed or merged in the background; `nil` if there was no error. After an
    /// error, the segments are unchanged, and the store tries again when it is next opened.
    public var sealingFailure: CambiumError? { commits.sealing?.failure }

    /// Replaces the handler that runs when a read finds a corrupt page. Without a handler, the process prints the error and aborts. When
    /// the store is next opened, it checks every checkpoint completely, and replays the log after a sound checkpoint. See
    /// Docs/Formats/CHECKPOINTS.md.
    public static func onCorruptPages(_ body: @escaping @Sendable (CambiumError) -> Never) { CorruptPages.setHandler(body) }
}

/// Transactions that do not change objects: digests and labels.
extension Store {
    /// Writes the digest of the newest graph to the log. Each later replay computes the digest of its own graph, and throws `.corrupted` if
    /// the two digests differ.
    ///
    /// The digest is computed while other threads write. The writer's lock is held only for a check at the beginning, and for the last
    /// update, which adds the transactions committed in the meantime. Complexity: O(graph). Throws as `write` does.
    @discardableResult
    public func recordDigest(_ author: Author = Author()) throws -> Receipt {
        try pipeline.recordDigest(author) { graph }
    }

    /// Gives a moment a name, by which readers can refer to the moment as long as the store exists: `label:NAME` on the command line.
    ///
    /// Throws `.invalidInput` if the name is not allowed, and `.notFound` if there is no such transaction. Throws `.ruleViolated` if
    /// another moment has the name and `existing` is `.refuse`. Otherwise throws as `write` does. Complexity: O(1) expected, and O(labels)
    /// for the first call.
    ///
    /// - Parameters:
    ///   - name: The label: 1 to 255 bytes without control characters.
    ///   - transaction: The transaction to name; `nil` for the newest transaction.
    ///   - existing: The behavior if another moment already has the name.
    ///   - author: The author of the label, because setting a label is a transaction.
    /// - Returns: the transaction that now has the name.
    @discardableResult
    public func label(
        _ name: String, _ transaction: TransactionNumber? = nil, existing: ExistingLabel = .refuse, author: Author = Author()
    ) throws -> TransactionNumber {
        try TransactionLabel.check(name)
        var labeled = TransactionNumber.none
        _ = try transact(author, for: "label") { writing in
            let newest = writing.draft.original
            labeled = transaction ?? newest.transaction
            writer.labels.update(to: newest)
            if let other = writer.labels[name] {
                if other == labeled { return }
                guard existing == .move else {
                    throw CambiumError(
                        .ruleViolated,
                        "Transaction \(other) already has the label '\(name)'. Choose another name, or move the label ('existing: .move', "
                            + "or '--move' on the command line).")
                }
            }
            guard labeled > .none, labeled <= newest.transaction else {
                throw CambiumError(
                    .notFound,
                    "Transaction \(labeled) does not exist; the last transaction is \(newest.transaction). Label an existing transaction.")
            }
            try writing.record(.label(name, labeled))
        }
        return labeled
    }

    /// Lends the newest graph until the lease expires, or until the caller ends or releases the lease. Complexity: O(1); never waits for a
    /// writer or for the disk.
    ///
    /// - Parameter duration: the time for which the lease is valid; `nil` for no time limit. After that time, the lease ends at the next
    ///   read of any lease, or at the next transaction. The lease also ends if the clock is set back by more than this duration.
    ///   Transactions after the end of the lease free the pages of its graph.
    public func lease(for duration: Duration? = nil) -> GraphLease { leases.lend(graph, for: duration) }

    /// Ends the leases that are at least `age` old, and returns their number. Reads of these leases then throw `.expired`. The next
    /// transactions free the pages that only these leases reached. Graphs that other code holds are not affected. Complexity: O(leases).
    @discardableResult
    public func expireLeases(olderThan age: Duration = .zero) -> Int { leases.expire(olderThan: age) }

    /// The work of the store since it was opened, and its current size.
    ///
    /// Reading this property never waits for a writer or for the disk. Complexity: O(1).
    public var metrics: StoreMetrics {
        let (lock, metrics) = (writer.lock, writer.metrics)
        var found = StoreMetrics()
        let rate = lock.clock.rate
        (found.longestHolds, found.waitingWriterCount) = (lock.longestHolds(rate), lock.waiterCount)
        found.commitCount = metrics.commitCount.load(ordering: .relaxed)
        found.waitingCommitCount = metrics.waitingCommitCount.load(ordering: .relaxed)
        found.loggedByteCount = metrics.loggedByteCount.load(ordering: .relaxed)
        found.syncCount = metrics.syncCount.load(ordering: .relaxed)
        let upkeep = metrics.upkeep.withLock { $0 }
        (found.checkpointCount, found.failedCheckpointCount) = (upkeep.checkpointCount, upkeep.failedCheckpointCount)
        found.checkpointDuration = rate.duration(ofTicks: upkeep.checkpointTicks)
        found.longestCheckpointDuration = rate.duration(ofTicks: upkeep.longestCheckpointTicks)
        (found.packingStepCount, found.packedRowCount) = (upkeep.packingStepCount, upkeep.packedRowCount)
        (found.packedByteCount, found.packingDuration) = (upkeep.packedByteCount, rate.duration(ofTicks: upkeep.packingTicks))
        if let checkpoints {
            found.replayDuration = .nanoseconds(checkpoints.tailWork)
            found.checkpointAge = checkpoints.checkpointer.newest.time.map { max(.zero, $0.distance(to: writer.environment.now())) }
        }
        let slow = writer.timeline.slowQueries.report
        found.slowQueryCount = slow.count
        found.lastSlowQuery = slow.last.map {
            StoreMetrics.SlowQuery(text: $0.text, duration: $0.duration, transaction: $0.transaction)
        }
        let totals = writer.timeline.totals
        (found.pinnedVersionCount, found.pinnedByteCount) = (totals.pinnedVersionCount, totals.pinnedByteCount)
        (found.pageByteCount, found.heapByteCount, found.mappedByteCount) = (
            totals.pageByteCount, totals.heapByteCount, totals.mappedByteCount
        )
        return found
    }

    /// Reads how much disk space the files of the store take. Another process may compact or change these files at the same time.
    ///
    /// Throws `.invalidInput` for a store in memory, and `.ioFailure` if a file cannot be read. Complexity: O(files); calls the operating
    /// system for each of them.
    public func diskUsage() throws(CambiumError) -> DiskUsage {
        guard let volume = writer.volume else {
            throw CambiumError(.invalidInput, "A store in memory takes no disk space. Use a store on disk.")
        }
        return DiskUsage(logByteCount: try LogDirectory.files(volume).byteCount, pageByteCount: try PageFile.byteCount(volume))
    }

    /// Creates a store in memory with the newest graph of the store at a path. A program can then find the effects of a change. Takes no
    /// lock, and changes nothing in the files; another process may write to that store at the same time.
    ///
    /// Throws `.notFound` if there is no store, and `.corrupted` if its log is corrupt. Complexity: O(bytes of the log after the newest
    /// checkpoint).
    package static func rehearsal(of path: String) throws -> Store {
        let view = try EarlierView(LogReader(SystemVolume(root: path)), at: .latest, memory: .standard)
        let writer = WriterState(view.timeline, nil, nil, .memory, .system)
        writer.lastTime = view.time
        return Store(CommitQueue(writer, nil), nil, recovery: RecoveryReport())
    }
}
