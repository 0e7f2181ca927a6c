public import CambiumGraph
internal import CambiumLog
public import CambiumModel
import Dispatch
import Synchronization

/// A graph of objects that is kept in an append-only log.
///
/// One process at a time writes to a store, and one transaction at a time. Any number of threads read, and readers never wait.
///
///     let store = try Store.create(at: "notes", schema: schema, durability: .synced)
///     try store.write(Author(actor: "jane")) { transaction in
///         try transaction.insert("Note", ["title": "Paris"])
///     }
///     print(store.graph.objectCount)
///     try store.close()
///
/// SENDABLE: it has no mutable state except that of its committer.
public final class Store: Sendable {
    /// The findings of the opening at the end of the log.
    public let recovery: RecoveryReport

    let committer: Committer
    private let queue = DispatchQueue(label: "cambium.store.write")

    init(committer: Committer, recovery: RecoveryReport) {
        self.committer = committer
        self.recovery = recovery
    }

    /// The durability of transactions that do not ask for a stronger one.
    public var durability: Durability { committer.durability }

    /// The newest graph that is as durable as the store promises. O(1); never waits for a writer or for the disk.
    public var graph: Graph { committer.graph }

    public var schema: Schema { graph.schema }

    // MARK: Writing

    /// Runs a transaction: either everything that `body` does happens, or nothing.
    ///
    /// Waits for the transactions before it, then for the disk, as `durability` requires. If `body` throws, or rules of the schema are
    /// broken, the store stays as it was. One `.ruleViolated` reports all broken rules.
    ///
    /// A commit has three outcomes. It is done if this call returns. It is not done if this call throws any error except `.outcomeUnknown`.
    /// With `.outcomeUnknown`, the disk failed after it was given the transaction, so the next opening may or may not find it. Open the
    /// store again and look, or repeat the write with the same request id. This store object accepts no more writes.
    ///
    /// - Parameters:
    ///   - author: The author of the change, its reason and its request, which the log keeps.
    ///   - durability: The durability that this transaction waits for; `nil` for the durability of the store. A transaction cannot
    ///     ask for less.
    ///   - body: Changes the transaction that it receives.
    /// - Throws: the errors of `body`; `.repeated`, with a `RepeatedRequest`, if the author's request was applied before, and `.conflict`
    ///   if another request with its id was (in both cases `body` is not called); `.ruleViolated`; `.invalidInput` for a weaker durability
    ///   than the store's; `.ioFailure` and `.notWritable` if the log cannot be written; `.outcomeUnknown`; `.misuse` inside the closure of
    ///   another write of the store.
    @discardableResult
    @inlinable
    public func write<Result>(
        _ author: Author = Author(), durability: Durability? = nil,
        _ body: (inout WriteTransaction) throws -> Result
    ) throws -> (result: Result, receipt: Receipt) {
        var result: Result?
        let receipt = try settled(author, durability) { transaction in result = try body(&transaction) }
        guard let result else { preconditionFailure("A successful commit has called its closure.") }
        return (result, receipt)
    }

    /// Does the work of `write` for a closure without a result, so that only `write` is specialised for the type of the result.
    @usableFromInline
    func settled(
        _ author: Author, _ durability: Durability?, _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Receipt {
        try committer.settle(try committer.commit(author, durability, waiter: .thread, body))
    }

    /// Does the same as the blocking `write`, for tasks. The closures run one after the other on a queue of the store. No thread waits for
    /// the disk, and transactions that arrive during a sync share the next one.
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
                        // The first check comes before the wait for other writers, the second one when the turn of this transaction has
                        // come.
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

    /// Runs a transaction as `write` does, but returns before it is durable. The ticket reports the outcome.
    ///
    /// Waits for the transactions before it, never for the disk. Later transactions build on this one. Readers see it after it is as
    /// durable as it must be. If the disk fails, the tickets of this transaction and of all that build on it throw. Throws as `write` does.
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

    /// Writes the digest of the newest graph into the log. A replay that computes another digest stops there.
    ///
    /// The digest is computed while others write. The writer's lock is held only while the digest follows the transactions committed during
    /// that time. Complexity: O(graph). Throws as `write` does.
    @discardableResult
    public func recordDigest(_ author: Author = Author()) throws -> Receipt {
        try committer.recordDigest(author)
    }

    /// Gives a moment a name, by which readers can ask for it as long as the store exists: `label:NAME` on the command line.
    ///
    /// Throws `.invalidInput` if the name is not allowed, and `.notFound` if there is no such transaction. Throws `.ruleViolated` if
    /// another moment has the name and `existing` is `.refuse`. Otherwise throws as `write` does.
    ///
    /// - Parameters:
    ///   - name: The label: 1 to 255 bytes without control characters.
    ///   - transaction: The transaction to name; `nil` for the newest one.
    ///   - existing: The effect if another moment has the name.
    ///   - author: The author of the label, which is a transaction itself.
    /// - Returns: the transaction that has the name now.
    @discardableResult
    public func label(
        _ name: String, _ transaction: TransactionNumber? = nil, existing: ExistingLabel = .refuse, author: Author = Author()
    ) throws -> TransactionNumber {
        try TransactionLabel.check(name)
        var labelled = TransactionNumber.none
        _ = try transact(author, for: "label") { writing in
            let newest = writing.draft.original
            labelled = transaction ?? newest.transaction
            if let other = newest.labels[name] {
                if other == labelled { return }
                guard existing == .move else {
                    throw CambiumError(
                        .ruleViolated,
                        "Transaction \(other) already has the label '\(name)'. Choose another name, or move the label with --move.")
                }
            }
            guard labelled <= newest.transaction else {
                throw CambiumError(.notFound, "Transaction \(labelled) does not exist; the last transaction is \(newest.transaction).")
            }
            try writing.record(.label(name, labelled))
        }
        return labelled
    }

    /// Runs a transaction whose closure returns no result. `body` may also change the draft directly and append the ops for that.
    func transact(
        _ author: Author, as use: StoreMetrics.LockUse = .commit, for call: String = "write",
        _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Receipt {
        let pending = try committer.commit(author, nil, waiter: .thread, as: use, for: call, body)
        return try committer.settle(pending)
    }

    /// Makes the kernel supply memory in advance, for this number of bytes of pages beyond those in use. A clone or an import of a million
    /// objects takes some 100 MB, and the kernel supplies fresh memory more slowly than they fill it. After a clone, the store itself keeps
    /// memory supplied in the background: as much as the clone took and a quarter more, at most 160 MiB.
    ///
    /// Waits for the transaction under way, and returns when the memory is supplied. From then on, the memory counts as resident. Traps
    /// with a message inside the closure of a write.
    package func reserveMemory(byteCount: Int) { committer.reserveMemory(byteCount: byteCount) }

    // MARK: Checkpoints

    /// Stores the newest graph, so that the next opening begins with it. Writers continue at the same time; one checkpoint is made at a
    /// time. The store also makes checkpoints automatically: when the log after the last one is some MiB long, and at closing.
    ///
    /// Throws `.ioFailure` if the disk refuses; then the existing checkpoints stay, and nothing else changes. Throws `.invalidInput` for a
    /// store in memory, and `.misuse` inside the closure of a write. Complexity: O(pages that have changed since the last checkpoint).
    @discardableResult
    public func checkpoint() throws -> CheckpointReceipt { try committer.checkpoint() }

    /// Returns the policy that decides which checkpoints are kept, from `store.json`. Throws `.invalidInput` for a store in memory,
    /// `.ioFailure` if the file cannot be read, and `.damaged` if it is corrupt.
    public func checkpointPolicy() throws -> CheckpointPolicy { try committer.checkpointPolicy() }

    /// Sets the policy for the following checkpoints, and writes it into `store.json`.
    ///
    /// Throws `.invalidInput` for a policy that is not valid, and for a store in memory; `.ioFailure` if the disk refuses.
    public func setCheckpointPolicy(_ policy: CheckpointPolicy) throws { try committer.setCheckpointPolicy(policy) }

    /// Retires the part of the log that a retention does not keep. A checkpoint takes the place of the retired transactions. Of each, only
    /// its author, time and message are left, and a hash of its ops. Its changes, and the graphs before the checkpoint, can no longer be
    /// shown. Writers continue at the same time.
    ///
    /// First packs the pages and makes a checkpoint, whatever the retention. If the newest transaction has a checkpoint already, and
    /// packing has changed something, the new checkpoint replaces it. No transaction is committed for this.
    ///
    /// Retires nothing before the checkpoint was compared with a replay of the log. Throws `.notFound` if there is no such moment, or if it
    /// is later than the newest transaction, and `.invalidInput` for a retention that is not valid: then nothing was written. Throws
    /// `.damaged` if the comparison fails, `.ioFailure` if the disk refuses, and `.misuse` inside the closure of a write.
    /// Complexity: O(log + graph).
    ///
    /// - Parameters:
    ///   - retention: The part of the log that is kept.
    ///   - archive: The directory that receives the retired segments. They are durable there before they are retired. The directory does
    ///     not exist yet, is empty, or has retired segments of this store. `Store.backUp` makes a store with the whole history from both.
    ///     Throws `.conflict` if it is the archive of another store, `.cannotCreate` if it contains something else, and `.locked` if
    ///     another process adds to it. Then nothing was retired. See Docs/ARCHIVE.md.
    ///   - effect: `.preview` only reports which transactions could be retired with the existing checkpoints. It changes nothing.
    @discardableResult
    public func compact(_ retention: Retention, archive: String? = nil, effect: Compaction.Effect = .retire) throws -> Compaction {
        let isDryRun = effect == .preview
        guard let archive else { return try committer.compact(retention, archive: nil, isDryRun: isDryRun) }
        let volume = SystemVolume(root: archive.isEmpty ? "" : SystemVolume.absolute(archive))
        try volume.checkIsPlace()
        if isDryRun { return try committer.compact(retention, archive: volume, isDryRun: true) }
        return try volume.withDirectory { try committer.compact(retention, archive: volume, isDryRun: false) }
    }

    /// The error of the last automatic checkpoint, which the store makes when the log has grown; `nil` if it succeeded. The log has
    /// everything all the same.
    public var checkpointFailure: CambiumError? { committer.checkpointFailure }

    /// Replaces the handler that runs when a read finds a corrupt page. Without a handler, the process prints the error and aborts.
    /// Afterwards, the next opening checks every checkpoint in whole, and replays the log after a sound one. See Docs/CHECKPOINTS.md.
    public static func onCorruptPages(_ body: @escaping @Sendable (CambiumError) -> Never) { CorruptPages.setHandler(body) }

    // MARK: Closing

    /// Syncs, records that nothing is left to write, and releases the lock. A closed store can be read, but not written.
    ///
    /// Throws `.outcomeUnknown` if earlier commits are not known to be durable, because a sync failed: the next opening shows which of them
    /// exist. Throws `.ioFailure` if all of them are durable and the files cannot be closed. Throws `.misuse` inside the closure of a
    /// write; the store then stays open.
    ///
    /// The graphs of the store stay unchanged, whichever process writes to it next: a lease names the chunks that they map from the store's
    /// files. If the lease cannot be written, the lock is released after the last graph of the store is gone. Complexity: O(chunks).
    public func close() throws(CambiumError) {
        try committer.close()
    }

    /// The last error of sealing or merging segments of the log in the background; `nil` if nothing failed. The segments are as they were,
    /// and the next opening tries again.
    public var sealingFailure: CambiumError? { committer.sealingFailure }

    /// The number of superseded versions that readers hold, and three numbers of bytes: of the pages that only these versions reach, of all
    /// pages, and of the memory taken for pages. Waits for the transaction under way, and traps with a message inside the closure of a
    /// write. Complexity: O(versions and pages that readers hold).
    package var memory: (pinnedVersionCount: Int, pinnedByteCount: Int, pageByteCount: Int, reservedByteCount: Int) { committer.memory }
}

/// A handle for waiting until an enqueued transaction is durable.
public struct Ticket: Sendable {
    private let committer: Committer
    private let pending: Committer.Pending

    init(_ committer: Committer, _ pending: Committer.Pending) {
        self.committer = committer
        self.pending = pending
    }

    /// The receipt of the transaction, as soon as the transaction is as durable as it must be.
    ///
    /// Throws `.ioFailure` if the disk refused the transaction: then it did not happen. Throws `.outcomeUnknown` if the disk failed after
    /// it was given the transaction: then the next opening may or may not find it. The receipt's graph is the one that readers got with the
    /// transaction. It may contain other transactions that shared the sync.
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
