internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel
import Dispatch
import Synchronization

/// Runs transactions, writes them to the log, and shows their graphs to readers.
///
/// There are two heads: the head of the timeline, on which the next writer builds, and `visible`, which is as durable as the store
/// promises. The committer releases the writing lock before it waits for the disk. If the disk fails, the timeline rolls back to the last
/// confirmed version. Every caller that waited for a later version then gets an error.
///
/// SENDABLE: mutable state is touched only while `writing` is held, or is under a mutex, or is atomic.
final class Committer: @unchecked Sendable {
    let durability: Durability
    /// The longest time between two syncs that `durability` allows, in microseconds.
    let ownInterval: Int64
    let timeline: Timeline
    /// The log; `nil` for a store in memory.
    let log: LogWriter?
    /// The lock that keeps other writers out until this store can no longer write; `nil` for a store in memory.
    let lock: (any VolumeLock)?
    let environment: StoreEnvironment
    let sealing: Sealing?
    /// `nil` for a store in memory.
    let checkpointer: Checkpointer?
    /// `nil` for a store in memory.
    let past: EarlierGraphs?
    let leases: Leases
    let writing = WriterLock()
    let metrics = MetricsRecord()
    let visible: Guarded<Graph>
    /// The queue on which a group is led if no thread waits for it.
    let queue = DispatchQueue(label: "cambium.store.sync")
    /// The time of the last sync, at first of the opening, in microseconds since 1970.
    let lastSyncTime: Atomic<Int64>

    // These properties are accessed only while `writing` is held, so no two accesses overlap.
    @exclusivity(unchecked) var openGroup = CommitGroup()
    @exclusivity(unchecked) var isSyncing = false
    /// The fate of the staged transactions.
    @exclusivity(unchecked) var fate = FrameFate()
    /// The newest version that was written to the log, while later ones are staged. It is held so that the timeline can roll back to it.
    @exclusivity(unchecked) var writtenGraph: Graph?
    @exclusivity(unchecked) var isClosed = false
    @exclusivity(unchecked) var lastTime: Timestamp
    /// The number of bytes that had been appended to the log when the checkpointer last counted them.
    @exclusivity(unchecked) var notedByteCount = 0
    /// The number of bytes in files of ops that were committed.
    @exclusivity(unchecked) var opsFileByteCount = 0
    /// The timer that syncs the bytes that `buffered` leaves unsynced. It is made for the first commit that leaves any.
    @exclusivity(unchecked) var timer: (any SyncTimer)?
    /// The time at which the timer is due, in microseconds since 1970; `nil` if nothing waits for it.
    @exclusivity(unchecked) var timerTime: Int64?

    init(
        timeline: Timeline, log: LogWriter?, lock: (any VolumeLock)?, durability: Durability,
        environment: StoreEnvironment, sealing: Sealing?, checkpointer: Checkpointer?
    ) {
        self.checkpointer = checkpointer
        self.timeline = timeline
        self.log = log
        past = log.map { EarlierGraphs($0.volume, budget: timeline.budget) }
        leases = Leases(now: environment.now)
        self.lock = lock
        self.durability = durability
        ownInterval = durability.interval
        self.environment = environment
        self.sealing = sealing
        visible = Guarded(timeline.head)
        lastSyncTime = Atomic(environment.now().microsecondsSince1970)
        lastTime = Timestamp(microsecondsSince1970: log?.lastTime ?? 0)
    }

    deinit {
        timer?.cancel()
        checkpointer?.end()
        sealing?.close()
        if !isClosed { releaseLock() }
    }

    /// The reason why segments could not be sealed or merged; `nil` if nothing failed.
    var sealingFailure: CambiumError? { sealing?.failure }

    /// The newest graph that is as durable as the store promises.
    var graph: Graph { visible.withLock { $0 } }

    // MARK: Committing

    typealias Pending = PendingCommit

    enum Checks { case all, none }

    /// The kind of caller that waits for a commit. If no thread waits, `queue` leads the group, even if no caller ever asks for the
    /// outcome.
    enum Waiter {
        /// A thread that calls `settle`.
        case thread
        /// A caller that calls `whenSettled` at once.
        case listener
        /// A caller that may ask at any time. There may be thousands of them, so they hold no version that readers have not seen.
        case ticket
    }

    /// Rolls back to the last confirmed version. Call it only while `writing` is held.
    func rollBack() {
        writtenGraph = nil
        timeline.rollBack()
    }

    /// Runs a transaction and commits its changes, without waiting for the disk. The caller must then call `settle` or `whenSettled`.
    ///
    /// Throws `.misuse` inside the closure of another write of the store.
    ///
    /// - Parameters:
    ///   - use: the purpose that the time of the lock is counted for. For a commit, the time of `body` does not count.
    ///   - call: the name of the public call, for errors.
    ///   - body: makes the changes. It is not called if the author's request is known; settling reports that.
    func commit(
        _ author: Author, _ asked: Durability?, checks: Checks = .all, waiter: Waiter, as use: WriterLock.Use = .commit,
        for call: String = "write", _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Pending {
        try author.check()
        try checkOutsideOfWrites(call)
        return try writing.hold(as: use) {
            if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
            let level = try level(asked)
            // The steps before the closure take almost no time, except the search for a request.
            if author.requestID != nil { writing.startCounting() }
            if author.requestID != nil, let refusal = refusal(of: author) {
                // The transaction of the request may not be durable yet.
                var pending = join(nil, timeline.head, level, waiter)
                pending.refusal = refusal
                return pending
            }
            var transaction = WriteTransaction(draft: timeline.draft(), ops: makeOpWriter(), environment: environment, timeMin: lastTime)
            if use == .commit { writing.stopCounting() }
            try body(&transaction)
            writing.resumeCounting()
            // The closure may have caught the error that failed the transaction.
            try transaction.checkUsable()
            // A request is remembered with its outcome, so a request that changed nothing becomes a transaction without ops.
            if transaction.ops.opCount == 0, author.requestID == nil || transaction.isRehearsal {
                return join(nil, transaction.takeDraft().original, level, waiter)
            }
            return try commit(transaction, author, checks, level, waiter)
        }
    }

    /// Commits a transaction of another log with the same author, request, time and place in the tree. If its time is before that of the
    /// last transaction, the transaction gets the later time. Does not wait for the disk.
    ///
    /// Throws `.conflict` if the transaction does not follow the last one, `.notWritable` if the store was closed, and the errors of
    /// `Draft.replay`.
    ///
    /// - Returns: the commit, whose result `outcome` returns, and the time that the transaction has in this store.
    func commit(_ record: LogRecord) throws -> (pending: Pending, time: Timestamp) {
        try writing.hold(as: .commit) {
            if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
            let draft = timeline.draft()
            guard draft.transaction == record.number.rawValue else {
                throw CambiumError(
                    .conflict, "Transaction \(record.number) cannot follow transaction \(draft.transaction - 1) of the store.")
            }
            var transaction = WriteTransaction(draft: draft, ops: makeOpWriter(), environment: environment, timeMin: lastTime)
            var ops = transaction.ops
            try transaction.draft.replay(record) { ops.append($0) }
            transaction.ops = ops
            writing.startCounting()
            return (try commit(transaction, Author(record.metadata), .none, durability, .ticket, as: record), lastTime)
        }
    }

    /// The volume with the files of the log; `nil` for a store in memory.
    var volume: (any Volume)? { log?.volume }

    func reserveMemory(byteCount: Int) { writing.hold(for: "reserveMemory") { timeline.reserve(byteCount: byteCount) } }

    /// Throws `.misuse` inside the closure of a write of this store, where the call would wait for itself.
    func checkOutsideOfWrites(_ call: String) throws(CambiumError) { try writing.checkNotHeld(by: call) }

    private func makeOpWriter() -> OpWriter {
        guard let log else { return OpWriter() }
        return log.makeOpWriter()
    }

    /// Checks and publishes a transaction, and stages it for the log.
    ///
    /// - Parameter record: the transaction of another log that this one copies; `nil` for a new transaction.
    private func commit(
        _ transaction: consuming WriteTransaction, _ author: Author, _ checks: Checks, _ level: Durability, _ waiter: Waiter,
        as record: LogRecord? = nil
    ) throws -> Pending {
        let ops = transaction.ops
        let hasChanges = ops.opCount > 0
        var draft = transaction.takeDraft()
        if checks == .all { try draft.check() }
        if let request = author.requestID { try draft.note(request, author.requestDigest) }
        let number = TransactionNumber(rawValue: draft.transaction)
        let encoded = try ops.finish()
        let now = environment.now()
        let time = now.microsecondsSince1970
        let ownTime = record?.metadata.time ?? now
        lastTime = max(ownTime, lastTime)
        if let log {
            var metadata = TransactionMetadata(time: lastTime)
            // Most transactions have no text, and even copying `nil` takes time.
            if author.actor != nil { metadata.actor = author.actor }
            if author.message != nil { metadata.message = author.message }
            if author.requestID != nil { metadata.requestID = author.requestID }
            metadata.requestDigest = author.requestDigest
            if ownTime < lastTime { metadata.clockLag = ownTime.distance(to: lastTime) }
            if let record { metadata.clockLag += record.metadata.clockLag }
            if !log.hasCapacity(for: encoded) { try writeOthers() }
            try log.stage(metadata, encoded, salt: record?.saltBytes)
        }
        leases.expire(at: now)
        // No frame is written during a rotation, so the transaction waits like a synced one.
        let isSynced = level == .synced || log?.pendingRotation != nil
        if isSynced, writtenGraph == nil { writtenGraph = timeline.head }
        let byteCount = encoded.payload.fileByteCount + (isSynced ? 0 : try writeStaged(openGroup).get())
        // The group, or `visible`, releases the previous version before its pages are freed.
        let graph = try timeline.publish(draft, isUnconfirmed: isSynced) { if isSynced { openGroup.graph = $0 } else { show($0) } }
        timeline.prepareNext()
        if let log, let checkpointer {
            let appendedByteCount = log.appendedByteCount
            if checkpointer.note(encoded.payload.fileByteCount + appendedByteCount - notedByteCount, at: time) {
                checkpointer.makeSoon { [weak self] in _ = try self?.checkpoint() }
            }
            notedByteCount = appendedByteCount
        }
        opsFileByteCount += encoded.payload.fileByteCount
        metrics.noteCommit()
        noteLogged()
        return join(number, graph, level, waiter, byteCount: byteCount, at: time, hasChanges: hasChanges)
    }

    /// Adds a commit to the open group if it must wait for a sync. Call it only while `writing` is held.
    func join(
        _ number: TransactionNumber?, _ graph: Graph, _ level: Durability, _ waiter: Waiter, byteCount: Int = 0, at time: Int64 = 0,
        hasChanges: Bool = false
    ) -> Pending {
        let interval = level == durability ? ownInterval : level.interval
        let isDurable: Bool =
            switch level {
            case .memory: true
            // A transaction without changes may have read changes that are not durable yet.
            case .synced: number == nil && !isSyncing && log?.isDurable ?? true
            case .buffered:
                !(log?.hasStaged ?? false) && (number == nil || !isSyncDue(at: time, interval))
            }
        if isDurable {
            if number != nil, level != .memory { startTimer(at: time, interval) }
            return Pending(
                transaction: number, hasChanges: hasChanges, graph: graph, byteCount: byteCount, isStaged: false, fate: nil, group: nil,
                leads: false)
        }
        let group = openGroup
        let isStaged = number != nil && (level == .synced || log?.hasStaged ?? false)
        if isStaged { group.transactionCount += 1 }
        group.graph = graph
        if waiter == .thread { group.threadCount += 1 } else { group.listenerCount += 1 }
        metrics.waitingCommitCount.add(1, ordering: .relaxed)
        let leads = !isSyncing
        isSyncing = true
        if leads, waiter != .thread { queue.async { self.lead() } }
        return Pending(
            transaction: number, hasChanges: hasChanges, graph: waiter == .ticket ? nil : graph, byteCount: byteCount, isStaged: isStaged,
            fate: log?.hasStaged ?? false ? fate : nil, group: group, leads: leads && waiter == .thread)
    }

    /// Whether the last sync was at least `interval` microseconds ago, or the clock was set back to a time before it.
    func isSyncDue(at time: Int64, _ interval: Int64) -> Bool {
        let elapsed = time &- lastSyncTime.load(ordering: .relaxed)
        return elapsed < 0 || elapsed >= interval
    }

    private func level(_ asked: Durability?) throws(CambiumError) -> Durability {
        guard let asked, asked != durability else { return durability }
        guard asked.covers(durability) else {
            throw CambiumError(.invalidInput, "A transaction cannot ask for less durability than the store promises.")
        }
        if durability == .memory { throw CambiumError(.invalidInput, "A store in memory cannot be made durable.") }
        return asked
    }

    func show(_ graph: Graph) {
        visible.withLock { if graph.transaction > $0.transaction { $0 = graph } }
    }
}
