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
