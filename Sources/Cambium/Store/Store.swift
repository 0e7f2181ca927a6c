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
/// SENDABLE: it has no state of its own but that of its committer.
public final class Store: Sendable {
    /// What opening found at the end of the log.
    public let recovery: RecoveryReport

    let committer: Committer
    private let queue = DispatchQueue(label: "cambium.store.write")

    init(committer: Committer, recovery: RecoveryReport) {
        self.committer = committer
        self.recovery = recovery
    }

    /// How the store waits for the disk when a transaction does not ask for more.
    public var durability: Durability { committer.durability }

    /// The newest graph that is as durable as the store promises. O(1); never waits for a writer or for the disk.
    public var graph: Graph { committer.graph }

    public var schema: Schema { graph.schema }

    // MARK: Writing

    /// Runs a transaction: all of what `body` does, or nothing.
    ///
    /// Waits for the transactions before it, then for the disk, as `durability` says. What `body` throws, and every broken rule
    /// of the schema (one `.ruleViolated` for all of them), leaves the store as it was.
    ///
    /// A commit has three outcomes. It is done if this returns. It is not done if this throws, except for `.outcomeUnknown`: then the
    /// disk failed after it was given the transaction, and the next opening may find the transaction or not. Open the store again and
    /// look, or repeat the write with the same request id. This store takes no more writes.
    ///
    /// - Parameter durability: what this transaction waits for; nil for what the store was opened with, which it cannot weaken.
    /// - Throws: what `body` throws; `.repeated`, with a `RepeatedRequest`, if the author's request was applied before, and `.conflict`
    ///   if another request with its id was, in which cases `body` is not called; `.ruleViolated`; `.ioFailure` and `.notWritable` if
    ///   the log cannot be written; `.outcomeUnknown`; `.misuse` inside the closure of another write of the store.
    @discardableResult
    @inlinable
    public func write<Result>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, receipt: Receipt) {
        var result: Result?
        let receipt = try settled(author, durability) { transaction in result = try body(&transaction) }
        guard let result else { preconditionFailure("A commit that succeeds has called its closure.") }
        return (result, receipt)
    }

    /// What `write` does, but for the type of the result: that is specialised where it is called.
    @usableFromInline
    func settled(
        _ author: Author, _ durability: Durability?, _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Receipt {
        try committer.settle(try committer.commit(author, durability, waiter: .thread, body))
    }

    /// As the blocking `write`. The closure runs on a thread of the store's own, one after the other; nobody's thread waits for
    /// the disk, and transactions that come while it is busy share the next sync.
    ///
    /// If the task is cancelled before `body` begins, `body` is not called, and this throws `CancellationError`. A transaction that has
    /// begun is finished.
    @discardableResult
    public func write<Result: Sendable>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: @escaping @Sendable (inout WriteTransaction) throws -> Result
    ) async throws -> (result: Result, receipt: Receipt) {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    do {
                        // Before it waits for other writers, and again when its turn has come.
                        try cancellation.check()
                        let (result, ticket) = try self.enqueue(author, durability, .listener) { transaction in
                            try cancellation.check()
                            return try body(&transaction)
                        }
                        ticket.whenSettled { continuation.resume(with: $0.map { (result, $0) }.mapError { $0 as any Error }) }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Runs a transaction as `write` does, and returns before it is durable. The ticket tells when it is.
    ///
    /// Waits for the transactions before it, never for the disk. Later transactions build on this one; readers see it when it
    /// is as durable as it has to be. If the disk refuses, the ticket throws, and so do those of all that build on it. Throws as `write`.
    public func enqueue<Result>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, ticket: Ticket) {
        try enqueue(author, durability, .ticket, body)
    }

    private func enqueue<Result>(
        _ author: Author, _ durability: Durability?, _ waiter: Committer.Waiter, _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, ticket: Ticket) {
        var result: Result?
        let pending = try committer.commit(author, durability, waiter: waiter, for: "enqueue") { transaction in
            result = try body(&transaction)
        }
        guard let result else {
            _ = try committer.settle(pending)
            throw CambiumError(.repeated, "The request was applied before.")
        }
        return (result, Ticket(committer, pending))
    }

    /// Writes the digest of the newest graph into the log: a replay that comes to another one stops there.
    ///
    /// The digest is computed while others write. The writer's lock is held for the part that was committed meanwhile. Complexity:
    /// O(graph). Throws as `write`.
    @discardableResult
    public func recordDigest(_ author: Author = Author()) throws -> Receipt {
        try committer.recordDigest(author)
    }

    /// Gives a moment a name, by which it can be asked for as long as the store is: `label:NAME` on the command line.
    ///
    /// Throws `.invalidInput` for a name that cannot be one, `.ruleViolated` where another moment has it, unless `moves`, and `.notFound`
    /// where there is no such transaction; and as `write`.
    ///
    /// - Parameter transaction: nil for the newest one.
    /// - Returns: the transaction that has the name.
    @discardableResult
    public func label(
        _ name: String, _ transaction: TransactionNumber? = nil, moves: Bool = false, author: Author = Author()
    ) throws -> TransactionNumber {
        try TransactionLabel.check(name)
        var labelled = TransactionNumber.none
        _ = try transact(author, for: "label") { writing in
            let newest = writing.draft.original
            labelled = transaction ?? newest.transaction
            if let other = newest.labels[name] {
                if other == labelled { return }
                guard moves else { throw CambiumError(.ruleViolated, "Transaction \(other) has the label '\(name)' already.") }
            }
            guard labelled <= newest.transaction else {
                throw CambiumError(.notFound, "There is no transaction \(labelled); the last one is \(newest.transaction).")
            }
            try writing.record(.label(name, labelled))
        }
        return labelled
    }

    /// Runs a transaction that is not recorded op by op: `body` changes the draft and appends what that comes to.
    func transact(
        _ author: Author, as use: StoreMetrics.LockUse = .commit, for call: String = "write",
        _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Receipt {
        let pending = try committer.commit(author, nil, waiter: .thread, as: use, for: call, body)
        return try committer.settle(pending)
    }

    /// Has the system supply memory ahead of its use, for so many bytes of pages beyond those in use: a clone or an import of a
    /// million objects takes some 100 MB, and the system supplies fresh memory more slowly than they fill it. A store in which was
    /// cloned has as much supplied behind its back as the last clone took and a quarter more, at most 160 MiB.
    ///
    /// Waits for the transaction under way, and returns when the memory is there. It counts as resident from then on. Traps with a
    /// sentence inside the closure of a write.
    public func reserveMemory(byteCount: Int) { committer.reserveMemory(byteCount: byteCount) }

    // MARK: Checkpoints

    /// Stores the newest graph, so that the next opening begins with it. Writers go on meanwhile; one checkpoint is made at a time. That
    /// happens by itself when the log behind the last one is some MiB long, and at closing.
    ///
    /// Throws `.ioFailure` where the disk refuses: then the checkpoints that there are stay, and nothing else changes; `.misuse` inside the
    /// closure of a write. Complexity: O(pages that have changed since the last one).
    @discardableResult
    public func checkpoint() throws -> CheckpointReceipt { try committer.checkpoint() }

    /// Which checkpoints are kept, as `store.json` has it. Throws `.invalidInput` for a store in memory, `.ioFailure`.
    public func checkpointPolicy() throws -> CheckpointPolicy { try committer.checkpointPolicy() }

    /// Has a policy followed from the next checkpoint on, and written into `store.json`.
    ///
    /// Throws `.invalidInput` for a policy that cannot be, and for a store in memory; `.ioFailure` where the disk refuses.
    public func setCheckpointPolicy(_ policy: CheckpointPolicy) throws { try committer.setCheckpointPolicy(policy) }

    /// Retires what of the log a policy does not keep: of those transactions only who made them, when and why is left, and a hash of
    /// what they did; a checkpoint stands for that. What happened and what the graph was before it cannot be asked for any more.
    /// Writers go on meanwhile.
    ///
    /// Before that the pages are packed and a checkpoint is made, whatever the policy. If the newest transaction has one already and there
    /// was something to pack, the new checkpoint takes its place. No transaction is committed for it.
    ///
    /// Nothing is retired before the checkpoint was compared with what the log comes to. Throws `.notFound` if there is no such moment, or
    /// if it is later than the newest transaction, and `.invalidInput` for a retention that cannot be: then nothing was written. Throws
    /// `.damaged` if the comparison fails, `.ioFailure`, `.misuse` inside the closure of a write. Complexity: O(log + graph).
    ///
    /// - Parameters:
    ///   - archive: a directory that what is retired is put into before, durably: one that is not there yet, is empty, or has what was
    ///     retired of this store before. `Backup` makes a store from both that has everything. Throws `.conflict` where it is the
    ///     archive of another store, `.cannotCreate` where something else is there, `.locked` where somebody adds to it; then nothing was
    ///     retired. Docs/ARCHIVE.md.
    ///   - isDryRun: whether to tell only what would be retired by the checkpoints that there are.
    @discardableResult
    public func compact(_ retention: Retention, archive: String? = nil, isDryRun: Bool = false) throws -> Compaction {
        guard let archive else { return try committer.compact(retention, archive: nil, isDryRun: isDryRun) }
        let volume = SystemVolume(root: archive.isEmpty ? "" : SystemVolume.absolute(archive))
        try volume.checkIsPlace()
        if isDryRun { return try committer.compact(retention, archive: volume, isDryRun: true) }
        return try volume.withDirectory { try committer.compact(retention, archive: volume, isDryRun: false) }
    }

    /// Why a checkpoint could not be made behind the back of who writes, which is tried when the log has grown; the log has everything
    /// all the same. Nil where the last one was made.
    public var checkpointFailure: CambiumError? { committer.checkpointFailure }

    /// Has a process that meets damaged pages while it reads a graph end in another way than by a trap with the error as its message.
    /// Then the next opening replays the log. Docs/CHECKPOINTS.md.
    public static func onDamagedPages(_ body: @escaping @Sendable (CambiumError) -> Never) { DamagedPages.setHandler(body) }

    // MARK: Closing

    /// Syncs, notes that nothing is left to write, and gives up the lock. A store that was closed can be read, not written.
    ///
    /// Throws `.outcomeUnknown` if what was committed before is not known to be durable, because a sync failed: the next opening shows
    /// what is there. Throws `.ioFailure` if all of it is durable and the files cannot be closed; `.misuse` inside the closure of a write,
    /// where the store stays open.
    ///
    /// Its graphs stay what they are, whoever writes to the store next: a lease names the chunks that they map from the store's files. If
    /// the lease cannot be written, the lock is given up when nobody has a graph of the store any more. Complexity: O(chunks).
    public func close() throws(CambiumError) {
        try committer.close()
    }

    /// Why segments of the log could not be sealed or merged in the background. They are as they were, and the next opening tries again.
    /// `nil` if nothing failed.
    public var sealingFailure: CambiumError? { committer.sealingFailure }

    /// How many superseded versions readers hold, the bytes of pages that only they reach, those of all pages, and the memory taken for
    /// pages. Waits for the transaction under way, and traps with a sentence inside the closure of a write. Complexity: O(versions and
    /// pages that readers hold).
    public var memory: (pinnedVersionCount: Int, pinnedByteCount: Int, pageByteCount: Int, reservedByteCount: Int) { committer.memory }
}

/// What a transaction that was enqueued waits for.
public struct Ticket: Sendable {
    private let committer: Committer
    private let pending: Committer.Pending

    init(_ committer: Committer, _ pending: Committer.Pending) {
        self.committer = committer
        self.pending = pending
    }

    /// Returns when the transaction is as durable as it has to be.
    ///
    /// Throws `.ioFailure` if the disk refused it: then it did not happen. Throws `.outcomeUnknown` if the disk failed after it was given
    /// the transaction: then the next opening may find it or not. The receipt's graph is the one that readers got with the transaction:
    /// others that shared its sync may be in it.
    public var receipt: Receipt {
        get async throws {
            if let outcome = committer.outcome(pending) { return try outcome.get() }
            return try await withCheckedThrowingContinuation { continuation in
                whenSettled { continuation.resume(with: $0.mapError { $0 as any Error }) }
            }
        }
    }

    func whenSettled(_ body: @escaping @Sendable (Result<Receipt, CambiumError>) -> Void) { committer.whenSettled(pending, body) }
}
