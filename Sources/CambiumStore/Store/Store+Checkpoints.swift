internal import CambiumLog
public import CambiumModel

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
