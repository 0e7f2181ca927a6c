public import CambiumGraph
internal import CambiumLog
public import CambiumModel
import Dispatch
import Synchronization

/// A graph of objects that is kept in an append-only log.
///
/// One process at a time writes to a store, and in it one transaction at a time; any number of threads read, and never wait.
///
///     let store = try Store.create(at: "notes", schema: schema, durability: .synced)
///     try store.write(Author(actor: "jane")) { transaction in
///         try transaction.insert("Note", ["title": "Paris"])
///     }
///     print(store.graph.objectCount)
///     try store.close()
///
/// SENDABLE: what changes is under `writing` (a lock that one writer holds) or under the mutex of its own.
public final class Store: @unchecked Sendable {
    /// How the store waits for the disk when a transaction does not ask for more.
    public let durability: Durability
    /// What opening found at the end of the log.
    public let recovery: RecoveryReport

    let timeline: Timeline
    private let log: LogWriter
    private let lock: any VolumeLock
    private let surroundings: Surroundings
    private let observer: (@Sendable (_ transaction: TransactionNumber, _ payload: [UInt8]) -> Void)?
    private let writing = WriterLock()
    private let syncing = WriterLock()
    /// What readers see: the newest graph that is as durable as the store promises.
    private let visible: Mutex<Graph>
    private let isClosed = Mutex(false)
    /// Microseconds since 1970.
    private let lastSyncTime: Atomic<Int64>
    /// The last transaction that is known durable: who waits for it need not ask the disk.
    private let durableNumber: Atomic<UInt64>
    private let queue = DispatchQueue(label: "cambium.store.write")

    init(
        timeline: Timeline, log: LogWriter, lock: any VolumeLock, durability: Durability, recovery: RecoveryReport,
        surroundings: Surroundings, observer: (@Sendable (TransactionNumber, [UInt8]) -> Void)?
    ) {
        self.timeline = timeline
        self.log = log
        self.lock = lock
        self.durability = durability
        self.recovery = recovery
        self.surroundings = surroundings
        self.observer = observer
        visible = Mutex(timeline.head)
        lastSyncTime = Atomic(surroundings.now())
        durableNumber = Atomic(timeline.head.transaction.rawValue)
    }

    /// The newest graph that is as durable as the store promises. O(1); never waits for a writer or for the disk.
    public var graph: Graph { visible.withLock { $0 } }

    public var schema: Schema { graph.schema }

    // MARK: Writing

    /// Runs a transaction: all of what `body` does, or nothing.
    ///
    /// Waits for the transactions before it, then for the disk, as `durability` says. What `body` throws, and every broken rule
    /// of the schema (one `.ruleViolated` for all of them), leaves the store as it was. A write inside of a write traps.
    ///
    /// - Parameter durability: what this transaction waits for; nil for what the store was opened with, which it cannot weaken.
    /// - Throws: what `body` throws; `.ruleViolated`; `.ioFailure` and `.notWritable` where the log cannot be written.
    @discardableResult
    public func write<Result>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, receipt: Receipt) {
        try author.check()
        let (result, receipt, level) = try writing.hold {
            var transaction = WriteTransaction(draft: try draft())
            let result = try body(&transaction)
            let ops = transaction.ops
            let level = try self.level(durability)
            let payload = ops.isEmpty ? nil : OpCodec.encode(ops)
            return (result, try commit(transaction.takeDraft(), author, payload: payload, checks: .all, level), level)
        }
        try settle(receipt, level)
        return (result, receipt)
    }

    /// As the blocking `write`, on a thread of the store's own: no thread of the cooperative pool waits.
    @discardableResult
    public func write<Result: Sendable>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
    ) async throws -> (result: Result, receipt: Receipt) {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Swift.Result { try self.write(author, durability: durability, body) })
            }
        }
    }

    /// Writes the digest of the newest graph into the log: a replay that comes to another one stops there.
    @discardableResult
    public func recordDigest(_ author: Author = Author()) throws -> Receipt {
        let receipt = try writing.hold {
            let graph = timeline.head
            let op = Op.digest(of: graph.transaction, graph.digest())
            return try commit(try draft(), author, payload: OpCodec.encode([op]), checks: .none, durability)
        }
        try settle(receipt, durability)
        return receipt
    }

    // MARK: Committing

    enum Checks { case all, none }

    /// Runs an import's transaction. `body` returns the payload, nil where there is nothing to write.
    func transact(_ author: Author, _ body: (inout Draft) throws -> [UInt8]?) throws -> Receipt {
        try author.check()
        let receipt = try writing.hold {
            var draft = try draft()
            let payload = try body(&draft)
            return try commit(draft, author, payload: payload, checks: .all, durability)
        }
        try settle(receipt, durability)
        return receipt
    }

    /// A draft of what comes next. Only while `writing` is held.
    func draft() throws(CambiumError) -> Draft {
        if isClosed.withLock({ $0 }) { throw CambiumError(.notWritable, "The store was closed.") }
        return timeline.draft()
    }

    /// Appends and publishes a draft. Only while `writing` is held.
    private func commit(
        _ draft: consuming Draft, _ author: Author, payload: [UInt8]?, checks: Checks, _ level: Durability
    ) throws(CambiumError) -> Receipt {
        guard let payload else { return Receipt(transaction: nil, logByteCount: 0, graph: draft.original) }
        if checks == .all { try draft.check() }
        let metadata = TransactionMetadata(
            time: max(surroundings.now(), log.lastTime), actor: author.actor, message: author.message,
            requestID: author.requestID)
        let byteCount = try log.append([(metadata, payload)])
        let graph = try timeline.publish(draft) { if level != .synced { show($0) } }
        observer?(log.lastTransaction, payload)
        return Receipt(transaction: log.lastTransaction, logByteCount: byteCount, graph: graph)
    }

    private func level(_ asked: Durability?) throws(CambiumError) -> Durability {
        guard let asked, asked != durability else { return durability }
        guard asked.covers(durability) else {
            throw CambiumError(.invalidInput, "A transaction cannot ask for less than the store promises.")
        }
        if durability == .memory { throw CambiumError(.invalidInput, "A store in memory cannot be made durable.") }
        return asked
    }

    /// Waits until a commit is as durable as it has to be, and shows it to readers.
    private func settle(_ receipt: Receipt, _ level: Durability) throws(CambiumError) {
        guard let transaction = receipt.transaction else { return }
        switch level {
        case .memory: break
        case .synced: try sync(upTo: transaction)
        case .buffered(let interval):
            let now = surroundings.now()
            if now - lastSyncTime.load(ordering: .relaxed) >= interval.microseconds { try sync(upTo: transaction) }
        }
        show(receipt.graph)
    }

    private func show(_ graph: Graph) {
        visible.withLock { if graph.transaction > $0.transaction { $0 = graph } }
    }

    /// Waits for the disk. Writers that wait at the same time share a sync: it covers all that was appended before it began.
    private func sync(upTo transaction: TransactionNumber) throws(CambiumError) {
        if durableNumber.load(ordering: .acquiring) >= transaction.rawValue { return }
        try syncing.hold { () throws(CambiumError) in
            if durableNumber.load(ordering: .acquiring) >= transaction.rawValue { return }
            let pending = try writing.hold { () throws(CambiumError) -> (LogWriter.PendingSync, Graph)? in
                if log.durableTransaction >= transaction { return nil }
                return try log.beginSync().map { ($0, timeline.head) }
            }
            guard let (pending, graph) = pending else { return }
            let result = pending.run()
            try writing.hold { () throws(CambiumError) in
                try log.endSync(pending, result)
                lastSyncTime.store(surroundings.now(), ordering: .relaxed)
                durableNumber.store(pending.transaction.rawValue, ordering: .releasing)
            }
            show(graph)
        }
    }

    // MARK: Closing

    /// Syncs, notes that nothing is left to write, and gives up the lock. A store that was closed can be read, not written.
    public func close() throws(CambiumError) {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if wasClosed { return }
        defer { lock.unlock() }
        try writing.hold { () throws(CambiumError) in
            try log.close()
            show(timeline.head)
        }
    }

    deinit {
        if !isClosed.withLock({ $0 }) { lock.unlock() }
    }

    /// Gives up the lock and nothing else, as the death of the process does.
    func releaseLock() {
        isClosed.withLock { $0 = true }
        lock.unlock()
    }

    // MARK: Measuring

    /// How many superseded versions readers hold, and the memory that pages take, in bytes.
    public var memory: (pinnedVersionCount: Int, pageByteCount: Int, reservedByteCount: Int) {
        writing.hold { (timeline.pinnedVersionCount, timeline.pageByteCount, timeline.reservedByteCount) }
    }
}

extension Duration {
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
