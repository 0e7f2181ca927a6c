internal import CambiumBytes
import CambiumGraph
package import CambiumLog
import CambiumModel
import Synchronization

/// Makes checkpoints while writers continue. See Docs/Formats/CHECKPOINTS.md.
///
/// SENDABLE: mutable state is accessed only while `making` is held, or is under a mutex.
package final class Checkpointer: @unchecked Sendable {
    package let writer: WriterState
    package let queue: CommitQueue
    package let log: LogWriter
    let tuning: LogTuning
    /// The file of pages to which checkpoints are written.
    let pageFile: UInt64
    /// Whether checkpoints store the pages in compressed form.
    let isPacked: Bool
    /// The lock that a thread holds while it makes a checkpoint. It is taken before the writer's lock.
    private let making = WriterLock()
    private let progress: Guarded<NewestCheckpoint>

    // The following properties are accessed only while `making` is held.
    /// The chunks (64 KiB of pages) of the newest checkpoint, with their checksums.
    @exclusivity(unchecked) var chunks: [CheckpointRecord.Chunk]
    /// The chunks (64 KiB of pages) that writers no longer change, and that no checkpoint has stored yet.
    @exclusivity(unchecked) var unstored: Set<Int> = []
    /// The chunks in `unstored` that are mapped from the file of pages. Their bytes are already in the kernel's copy of the file.
    @exclusivity(unchecked) var inFile: Set<Int> = []
    /// Whether the store was closed. If so, nothing more is written, and no chunk is used again.
    @exclusivity(unchecked) private var isEnded = false
    /// Whether the last checkpoint failed. If the kernel cannot write mapped memory to its file, the kernel reports the failure only once,
    /// and then treats the bytes as written. So the checkpoint after a failed checkpoint does not rely on the kernel, and writes the bytes
    /// of mapped chunks to the file.
    @exclusivity(unchecked) private var hasFailed = false
    /// The Merkle tree over the log up to the last checkpoint. After `end` was called, any thread may read the tree.
    @exclusivity(unchecked) var tree: CheckpointTree
    /// The checkpoints that could not be used when the store was opened. They stay until there is a new checkpoint, because their data may
    /// exist nowhere else.
    @exclusivity(unchecked) var skippedCheckpoints: [TransactionNumber]
    /// Whether the next checkpoint begins a new file of pages. If so, the next checkpoint stores all pages, and first compares each stored
    /// chunk with its checksum.
    @exclusivity(unchecked) var beginsFile: Bool
    /// The properties of the existing checkpoints whose records this object has read or written.
    @exclusivity(unchecked) var kept: [TransactionNumber: KeptCheckpoint] = [:]
    @exclusivity(unchecked) var policy: CheckpointPolicy { didSet { keepsDays.store(policy.dayCount > 0, ordering: .relaxed) } }
    /// Whether the policy keeps a moment of each day. Any thread may read the value.
    let keepsDays: Atomic<Bool>
    /// The leases that existed when the store was opened. Each lease lists the chunks of graphs that readers still use, although an earlier
    /// writer has closed the store.
    @exclusivity(unchecked) var leases: ChunkLeases
    /// Whether records may have been removed or replaced since their directory was last synced. Until the directory is synced, a power
    /// failure may restore the old records. The value is `true` after opening a checkpoint, because the previous writer may have ended
    /// before it synced the directory.
    @exclusivity(unchecked) var hasUnsyncedRecords: Bool
    /// Whether chunks were reserved for a checkpoint's table of chunks after `reclaim` last ran.
    @exclusivity(unchecked) var holdsTableChunks = false

    /// - Parameter newest: the log after the checkpoint from which the store was opened. This initializer adds the checkpoint's own
    ///   properties.
    init(
        _ queue: CommitQueue, _ log: LogWriter, _ pages: OwnedPages, _ newest: NewestCheckpoint, tuning: LogTuning, policy: CheckpointPolicy
    ) {
        (self.queue, writer, self.log) = (queue, queue.writer, log)
        (leases, self.tuning, self.policy) = (pages.leases, tuning, policy)
        keepsDays = Atomic(policy.dayCount > 0)
        isPacked = policy.compression == .lz4
        pageFile = pages.file
        let root = pages.stored?.root
        var newest = newest
        if let root, pages.continuedFile != nil {
            chunks = root.chunks
            (newest.transaction, newest.storedByteCount) = (root.transaction, Self.byteCount(root.chunks))
            newest.time = Timestamp(microsecondsSince1970: root.time)
        } else {
            chunks = []
            if let root { unstored = Set(root.chunks.indices) }
        }
        progress = Guarded(newest)
        skippedCheckpoints = pages.skippedCheckpoints
        beginsFile = pages.continuedFile == nil
        hasUnsyncedRecords = root != nil
        tree = CheckpointTree(root)
    }

    package var volume: any Volume { log.volume }
    package var store: [UInt8] { log.store }
    var timeline: Timeline { writer.timeline }

    /// The newest checkpoint.
    var newest: NewestCheckpoint { progress.withLock { $0 } }

    /// Whether a checkpoint contains the newest transaction.
    var isNewestStored: Bool { writer.lock.hold { log.lastTransaction == newest.transaction } }

    /// Changes the properties of the newest checkpoint.
    func update(_ change: (inout NewestCheckpoint) -> Void) { progress.withLock { change(&$0) } }

    static func byteCount(_ chunks: [CheckpointRecord.Chunk]) -> Int { chunks.count { $0.hasPages } * PageFile.chunkByteCount }

    /// Waits until no checkpoint is being made, and refuses all later checkpoints. Call this method when the store is closed, because
    /// another writer can open the files after that.
    func end() { making.hold { isEnded = true } }

    /// Calls `body` while no checkpoint is being made. Throws `.notWritable` if the store was closed. Throws `.ioFailure` if the directory
    /// or the lock file of the store was removed or replaced.
    package func whileNoneIsMade<Result>(_ body: () throws -> Result) throws -> Result {
        try making.hold {
            if isEnded { throw CambiumError(.notWritable, "The store was closed. Open it again.") }
            // `body` finds files by their paths. If another store has taken the place of this one, `body` would change that store.
            try writer.lock.hold(as: .checkpoint) { () throws(CambiumError) in try log.checkPlace() }
            return try body()
        }
    }

    /// Makes a checkpoint of the newest graph. If that graph already has a checkpoint, does nothing unless `again` is true.
    func make(again: Bool) throws -> CheckpointReceipt {
        // Syncs before the writer's lock is taken, so that a sync under that lock has little left to write.
        if !(writer.lock.hold { writer.isClosed }) { try syncLog() }
        return try whileNoneIsMade {
            // If chunks were reserved for a table of chunks, and `reclaim` has not run since then, the last checkpoint probably failed. The
            // chunks that no checkpoint record names become available again.
            if holdsTableChunks { try reclaim(keptChunks()) }
            guard let snapshot = try writer.lock.hold(as: .checkpoint, { try snapshot(unlessAt: again ? nil : newest.transaction) }) else {
                return CheckpointReceipt(transaction: newest.transaction, byteCount: 0, droppedCount: 0)
            }
            writer.bell.ring()
            if !snapshot.frozen.tables.isEmpty { holdsTableChunks = true }
            unstored.formUnion(snapshot.frozen.fresh)
            inFile.subtract(snapshot.frozen.fresh)
            inFile.formUnion(snapshot.frozen.inFile)
            let isWrittenAgain = hasFailed
            hasFailed = true
            snapshot.frozen.disk.run()
            try syncLog()
            let written = try write(snapshot, inFile: isWrittenAgain ? [] : inFile)
            hasFailed = false
            guard let byteCount = written else {
                return CheckpointReceipt(transaction: snapshot.transaction, byteCount: 0, droppedCount: 0)
            }
            update { newest in
                (newest.transaction, newest.storedByteCount) = (snapshot.transaction, Self.byteCount(chunks))
                newest.time = Timestamp(microsecondsSince1970: snapshot.time)
                // The bytes that were logged while the checkpoint was being made belong to the log after the checkpoint.
                (newest.loggedByteCount, newest.replayWork) = (snapshot.loggedByteCount, snapshot.replayWork)
            }
            try dropSkippedCheckpoints(except: snapshot.transaction)
            let droppedCount = try dropCheckpoints()
            let taken = try keptChunks()
            releaseMemory(of: taken ?? chunks.map(\.isOwned))
            try reclaim(taken)
            return CheckpointReceipt(transaction: snapshot.transaction, byteCount: byteCount, droppedCount: droppedCount)
        }
    }
}
