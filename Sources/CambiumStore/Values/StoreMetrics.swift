public import CambiumModel

/// The work of a store since it was opened, and its current size: numbers for a dashboard. See Docs/Operate/METRICS.md.
///
/// The numbers are read one by one while other threads are writing, so two of them may be some transactions apart.
///
/// ```swift
/// let metrics = store.metrics
/// if let hold = metrics.longestHolds.first { print(hold.use, hold.duration) }
/// ```
public struct StoreMetrics: Sendable, Hashable {
    /// The purposes for which the writer's lock is held.
    public enum LockUse: String, Sendable, Hashable, CaseIterable {
        /// A transaction after its closure has returned: checking rules, encoding, writing, publishing. The time grows with the number of
        /// changes that the closure makes.
        case commit
        /// Passing a group of transactions to the kernel, and recording how their sync ended.
        case sync
        /// Freezing the pages for a checkpoint.
        case checkpoint
        /// One step of packing, which moves rows together so that pages become free.
        case packing
        /// One short step that makes unneeded chunks (64 KiB of pages) available again, or that replaces memory with a mapping of a file.
        case reclaiming
        /// The last part of computing a digest, which updates the digest for the transactions that were committed in the meantime.
        case digest
        /// One step of building an ordered index.
        case indexing
        /// A migration, with its closure.
        case migration
        /// Everything else: closing, settings, statistics.
        case other
    }

    /// A period in which the writer's lock was held for one purpose.
    public struct Hold: Sendable, Hashable {
        /// The purpose for which the lock was held.
        public let use: LockUse
        /// The time for which the lock was held.
        public let duration: Duration
    }

    /// A query that took at least as long as `StoreEnvironment.slowQueryDuration`.
    public struct SlowQuery: Sendable, Hashable {
        /// The entity, the condition, the sort keys, the limit and the offset of the query. Parameters appear by name, without their
        /// values. A text of more than 1,000 characters is cut off.
        public let text: String
        /// The time that the query took.
        public let duration: Duration
        /// The last transaction of the graph on which the query ran.
        public let transaction: TransactionNumber
    }

    /// For each use that occurred, the longest time that the lock was held; the uses with the longest times come first. The time of a
    /// transaction's closure does not count, except in a migration.
    public internal(set) var longestHolds: [Hold] = []
    /// The number of threads that are waiting for the writer's lock.
    public internal(set) var waitingWriterCount = 0

    /// The number of transactions that were committed.
    public internal(set) var commitCount = 0
    /// The number of transactions that are waiting for the disk, plus the number of calls that are waiting for these transactions.
    public internal(set) var waitingCommitCount = 0
    /// The number of bytes that were written to the log, including files of ops.
    public internal(set) var loggedByteCount = 0
    /// The number of syncs of the log for transactions.
    public internal(set) var syncCount = 0

    /// The number of checkpoints that were made.
    public internal(set) var checkpointCount = 0
    /// The number of checkpoints that failed.
    public internal(set) var failedCheckpointCount = 0
    /// The total time of the checkpoints, from the first sync of the log until the last unneeded file was removed. Writers continued during
    /// that time.
    public internal(set) var checkpointDuration = Duration.zero
    /// The time of the longest checkpoint.
    public internal(set) var longestCheckpointDuration = Duration.zero

    /// The time since the last transaction that the newest checkpoint contains; `nil` if there is no checkpoint that the store continues.
    public internal(set) var checkpointAge: Duration?
    /// The estimated time of replaying the log after the newest checkpoint, which the next opening has to do. It is counted from the
    /// changes, so it does not depend on the machine (Docs/CHECKPOINTS.md).
    public internal(set) var replayDuration = Duration.zero

    /// The number of queries that took at least as long as `StoreEnvironment.slowQueryDuration`. Queries of transactions, previews and live
    /// queries count, too, also if they were cancelled. Queries on graphs of earlier moments do not count.
    public internal(set) var slowQueryCount = 0
    /// The last slow query; `nil` if there was none.
    public internal(set) var lastSlowQuery: SlowQuery?

    /// The number of packing steps.
    package internal(set) var packingStepCount = 0
    /// The number of rows that packing has moved.
    package internal(set) var packedRowCount = 0
    /// The number of bytes of pages that packing has copied.
    package internal(set) var packedByteCount = 0
    /// The total time of packing, inside and outside of the lock.
    public internal(set) var packingDuration = Duration.zero

    /// The number of old versions of the graph that readers still hold.
    public internal(set) var pinnedVersionCount = 0
    /// The number of bytes in pages that an old version still uses, but the newest version does not.
    public internal(set) var pinnedByteCount = 0
    /// The number of bytes in all pages that are part of at least one version of the graph.
    public internal(set) var pageByteCount = 0
    /// The number of bytes of heap memory that are allocated for pages.
    public internal(set) var heapByteCount = 0
    /// The number of bytes of chunks (64 KiB of pages) that are mapped from a file, whether or not the kernel has read them.
    public internal(set) var mappedByteCount = 0
}

/// The disk space of a store.
///
/// ```swift
/// let usage = try store.diskUsage()
/// print(usage.logByteCount + usage.pageByteCount)
/// ```
public struct DiskUsage: Sendable, Hashable {
    /// The number of bytes in the segments of the log and in its files of ops.
    public let logByteCount: Int
    /// The number of bytes that the files of pages take on disk. Holes in these files do not count.
    public let pageByteCount: Int
}
