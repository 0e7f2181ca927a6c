/// What a store has done since it was opened, and what it holds now: numbers for a dashboard. Docs/METRICS.md.
///
/// The numbers are read one after the other while others write, so two of them may be some transactions apart.
///
///     let metrics = store.metrics
///     if let hold = metrics.longestHold { print(hold.use, hold.duration) }
public struct StoreMetrics: Sendable, Hashable {
    /// What the writer's lock is held for.
    public enum LockUse: String, Sendable, Hashable, CaseIterable {
        /// A transaction after its closure has returned: rules, encoding, writing, publication. Grows with what the closure changed.
        case commit
        /// Handing a group of transactions to the kernel, and taking note of how their sync ended.
        case sync
        /// Freezing the pages for a checkpoint.
        case checkpoint
        /// One step of packing.
        case packing
        /// One slice of taking chunks back, or of letting a file take the place of memory.
        case reclaiming
        /// A digest that follows what was committed while it was computed.
        case digest
        /// One step of building an ordered index.
        case indexing
        /// A migration, with its closure.
        case migration
        /// Everything else: closing, settings, statistics.
        case other
    }

    /// A time for which the writer's lock was held.
    public struct Hold: Sendable, Hashable {
        public let use: LockUse
        public let duration: Duration
    }

    /// For each use that there was, the longest time that the lock was held for it; the longest one first. The time in which the closure of
    /// a transaction ran is not in it.
    public internal(set) var longestHolds: [Hold] = []
    /// Threads that wait for the writer's lock.
    public internal(set) var waitingWriterCount = 0

    /// Transactions that were committed.
    public internal(set) var commitCount = 0
    /// Transactions, and calls that wait for them, that wait for the disk.
    public internal(set) var waitingCommitCount = 0
    /// Bytes that were written to the log, files of ops included.
    public internal(set) var loggedByteCount = 0
    /// Syncs of the log for transactions.
    public internal(set) var syncCount = 0

    /// Checkpoints that were made.
    public internal(set) var checkpointCount = 0
    /// Checkpoints that failed.
    public internal(set) var failedCheckpointCount = 0
    /// The time that checkpoints took, from the first look to the last file that was removed. Writers went on in it.
    public internal(set) var checkpointDuration = Duration.zero
    /// The time of the one that took longest.
    public internal(set) var longestCheckpointDuration = Duration.zero

    /// Steps of packing.
    public internal(set) var packingStepCount = 0
    /// Rows that packing has moved.
    public internal(set) var packedRowCount = 0
    /// Bytes of pages that packing has copied.
    public internal(set) var packedByteCount = 0
    /// The time that packing took, in and outside of the lock.
    public internal(set) var packingDuration = Duration.zero

    /// Superseded versions that somebody holds.
    public internal(set) var pinnedVersionCount = 0
    /// Bytes of pages that only superseded versions reach.
    public internal(set) var pinnedByteCount = 0
    /// Bytes of pages that some version reaches.
    public internal(set) var pageByteCount = 0
    /// Bytes of memory of the heap that was taken for pages.
    public internal(set) var heapByteCount = 0
    /// Bytes of chunks that are a file's, whether the system has read them or not.
    public internal(set) var mappedByteCount = 0

    /// The longest time that the lock was held; `nil` if it never was.
    public var longestHold: Hold? { longestHolds.first }
}

extension Store {
    /// What the store has done since it was opened, and what it holds now.
    ///
    /// Never waits: not for a writer, and not for the disk. Complexity: O(1).
    public var metrics: StoreMetrics { committer.currentMetrics }
}
