internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel
import Dispatch
import Synchronization

/// The way of a transaction from a closure into the log and to the readers.
///
/// There are two heads: the timeline's, on which the next writer builds, and `visible`, which is as durable as the store
/// promises. The writing lock is given up before the disk is waited for. If the disk refuses, the timeline goes back to the last
/// version that is durable, and everybody who waited for a later one is told.
///
/// SENDABLE: what changes is touched while `writing` is held, or is under a mutex, or is atomic.
final class Committer: @unchecked Sendable {
    let durability: Durability
    /// What `durability` lets pass between two syncs, in microseconds.
    let ownInterval: Int64
    let timeline: Timeline
    /// Nil for a store that is kept in memory.
    let log: LogWriter?
    /// Given up when nobody can write any more; nil for a store that is kept in memory.
    let lock: (any VolumeLock)?
    let surroundings: Surroundings
    let sealing: Sealing?
    /// Nil for a store that is kept in memory.
    let checkpointer: Checkpointer?
    /// Nil for a store that is kept in memory.
    let past: PastGraphs?
    let leases: Leases
    let writing = WriterLock()
    let metrics = MetricsRecord()
    let visible: Guarded<Graph>
    /// Where a group that nobody blocks for is led.
    let queue = DispatchQueue(label: "cambium.store.sync")
    /// Microseconds since 1970.
    let lastSyncTime: Atomic<Int64>

    // While `writing` is held, so that no access overlaps another.
    @exclusivity(unchecked) var openGroup = CommitGroup()
    @exclusivity(unchecked) var isSyncing = false
    /// What becomes of the transactions that are staged.
    @exclusivity(unchecked) var fate = FrameFate()
    /// The newest version that the log has been given, while later ones are staged; it is held so that it can be gone back to.
    @exclusivity(unchecked) var writtenGraph: Graph?
    @exclusivity(unchecked) var isClosed = false
    @exclusivity(unchecked) var lastTime: Timestamp
    /// Bytes that the log had been given when the checkpointer was told last.
    @exclusivity(unchecked) var notedByteCount = 0
    /// Bytes of the files of ops that were committed.
    @exclusivity(unchecked) var opsFileByteCount = 0
    /// Syncs what `buffered` left unsynced; made for the first commit that leaves something.
    @exclusivity(unchecked) var timer: (any SyncTimer)?
    /// When the timer is due, in microseconds since 1970; nil while nothing waits for it.
    @exclusivity(unchecked) var timerTime: Int64?

    init(
        timeline: Timeline, log: LogWriter?, lock: (any VolumeLock)?, durability: Durability,
        surroundings: Surroundings, sealing: Sealing?, checkpointer: Checkpointer?
    ) {
        self.checkpointer = checkpointer
        self.timeline = timeline
        self.log = log
        past = log.map { PastGraphs($0.volume, budget: timeline.budget) }
        leases = Leases(now: surroundings.now)
        self.lock = lock
        self.durability = durability
        ownInterval = durability.interval
        self.surroundings = surroundings
        self.sealing = sealing
        visible = Guarded(timeline.head)
        lastSyncTime = Atomic(surroundings.now().microsecondsSince1970)
        lastTime = Timestamp(microsecondsSince1970: log?.lastTime ?? 0)
    }

    deinit {
        timer?.cancel()
        checkpointer?.end()
        sealing?.close()
        if !isClosed { giveUpLock() }
    }

    /// Why segments could not be sealed or merged; `nil` if nothing failed.
    var sealingFailure: CambiumError? { sealing?.failure }

    /// The newest graph that is as durable as the store promises.
    var graph: Graph { visible.withLock { $0 } }

    // MARK: Committing

    typealias Pending = PendingCommit

    enum Checks { case all, none }

    /// Who waits for a commit. What nobody's thread waits for is led elsewhere, whether anybody asks for the outcome or not.
    enum Waiter {
        /// A thread, in `settle`.
        case thread
        /// Somebody who asks at once to be told, by `whenSettled`.
        case listener
        /// Somebody who may ask at any time. There may be thousands, for whom no version is held that nobody has seen.
        case ticket
    }

    /// Goes back to what is durable. Only while `writing` is held.
    func rollBack() {
        writtenGraph = nil
        timeline.rollBack()
    }

    /// Runs a transaction and commits what it did, without waiting for the disk. `settle` or `whenSettled` has to follow.
    ///
    /// Throws `.misuse` inside the closure of another write of the store.
    ///
    /// - Parameters:
    ///   - use: what the time of the lock is counted for. For a commit the time of `body` does not count.
    ///   - call: the name of the public call, for errors.
    ///   - body: is not called if the author's request is known, which settling reports.
    func commit(
        _ author: Author, _ asked: Durability?, checks: Checks = .all, waiter: Waiter, as use: WriterLock.Use = .commit,
        for call: String = "write", _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Pending {
        try author.check()
        try checkOutsideOfWrites(call)
        return try writing.hold(as: use) {
            if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
            let level = try level(asked)
            // What is done before the closure takes no time, unless a request is looked for.
            if author.requestID != nil { writing.startCounting() }
            if author.requestID != nil, let refusal = refusal(of: author) {
                // The transaction of the request may not be durable yet.
                var pending = join(nil, timeline.head, level, waiter)
                pending.refusal = refusal
                return pending
            }
            var transaction = WriteTransaction(draft: timeline.draft(), ops: makeOpWriter(), surroundings: surroundings, timeMin: lastTime)
            if use == .commit { writing.stopCounting() }
            try body(&transaction)
            writing.resumeCounting()
            // The closure may have caught what failed the transaction.
            try transaction.checkUsable()
            // A request is remembered with its outcome, so one that changed nothing is a transaction without ops.
            if transaction.ops.opCount == 0, author.requestID == nil || transaction.isRehearsal {
                return join(nil, transaction.takeDraft().original, level, waiter)
            }
            return try commit(transaction, author, checks, level, waiter)
        }
    }

    /// Commits a transaction of another log as it is there: with its author, its request, its place in the tree, and its time, unless
    /// that is before the last one's. Does not wait for the disk.
    ///
    /// Throws `.conflict` where it is not the one that follows, and as `Draft.replay`.
    ///
    /// - Returns: what `outcome` tells of, and the time that the transaction has.
    func commit(_ record: LogRecord) throws -> (pending: Pending, time: Timestamp) {
        try writing.hold(as: .commit) {
            if isClosed { throw CambiumError(.notWritable, "The store was closed.") }
            let draft = timeline.draft()
            guard draft.transaction == record.number.rawValue else {
                throw CambiumError(
                    .conflict, "Transaction \(record.number) cannot follow transaction \(draft.transaction - 1) of the store.")
            }
            var transaction = WriteTransaction(draft: draft, ops: makeOpWriter(), surroundings: surroundings, timeMin: lastTime)
            var ops = transaction.ops
            try transaction.draft.replay(record) { ops.append($0) }
            transaction.ops = ops
            writing.startCounting()
            return (try commit(transaction, Author(record.metadata), .none, durability, .ticket, as: record), lastTime)
        }
    }

    /// The files of the log; nil for a store that is kept in memory.
    var volume: (any Volume)? { log?.volume }

    func reserveMemory(byteCount: Int) { writing.hold(for: "reserveMemory") { timeline.reserve(byteCount: byteCount) } }

    /// Throws `.misuse` inside the closure of a write, where the call would wait for itself.
    func checkOutsideOfWrites(_ call: String) throws(CambiumError) { try writing.checkNotHeld(by: call) }

    private func makeOpWriter() -> OpWriter {
        guard let log else { return OpWriter() }
        return log.makeOpWriter()
    }

    /// - Parameter record: the transaction of another log that this one is a copy of.
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
        let now = surroundings.now()
        let time = now.microsecondsSince1970
        let ownTime = record?.metadata.time ?? now
        lastTime = max(ownTime, lastTime)
        if let log {
            var metadata = TransactionMetadata(time: lastTime)
            // Mostly there is no text, and to copy what is not there takes time, too.
            if author.actor != nil { metadata.actor = author.actor }
            if author.message != nil { metadata.message = author.message }
            if author.requestID != nil { metadata.requestID = author.requestID }
            metadata.requestDigest = author.requestDigest
            if ownTime < lastTime { metadata.clockLag = ownTime.distance(to: lastTime) }
            if let record { metadata.clockLag += record.metadata.clockLag }
            if !log.hasRoom(for: encoded) { try writeOthers() }
            try log.stage(metadata, encoded, salt: record?.saltBytes)
        }
        leases.expire(at: now)
        // While a segment is begun, no frame is written, so the transaction waits like one that is synced.
        let isSynced = level == .synced || log?.pendingRotation != nil
        if isSynced, writtenGraph == nil { writtenGraph = timeline.head }
        let byteCount = encoded.payload.fileByteCount + (isSynced ? 0 : try writeStaged(openGroup).get())
        // Whoever holds the version before lets go of it first.
        let graph = try timeline.publish(draft, isTentative: isSynced) { if isSynced { openGroup.graph = $0 } else { show($0) } }
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

    /// Notes what a commit has to wait for. Only while `writing` is held.
    func join(
        _ number: TransactionNumber?, _ graph: Graph, _ level: Durability, _ waiter: Waiter, byteCount: Int = 0, at time: Int64 = 0,
        hasChanges: Bool = false
    ) -> Pending {
        let interval = level == durability ? ownInterval : level.interval
        let isDurable: Bool =
            switch level {
            case .memory: true
            // What a transaction without changes has read may not be durable yet.
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

    /// Whether the last sync is so long ago, or the clock has gone back to before it.
    func isSyncDue(at time: Int64, _ interval: Int64) -> Bool {
        let elapsed = time &- lastSyncTime.load(ordering: .relaxed)
        return elapsed < 0 || elapsed >= interval
    }

    private func level(_ asked: Durability?) throws(CambiumError) -> Durability {
        guard let asked, asked != durability else { return durability }
        guard asked.covers(durability) else {
            throw CambiumError(.invalidInput, "A transaction cannot ask for less than the store promises.")
        }
        if durability == .memory { throw CambiumError(.invalidInput, "A store in memory cannot be made durable.") }
        return asked
    }

    func show(_ graph: Graph) {
        visible.withLock { if graph.transaction > $0.transaction { $0 = graph } }
    }
}
