internal import CambiumBytes
import CambiumGraph
package import CambiumLog
import CambiumModel
import Synchronization

/// The state that the writing parts of a store share: the two newest graphs, the log, and the lock under which they change.
///
/// There are two newest graphs: the head of the timeline, on which the next writer builds, and `graph`, which is as durable as the store
/// promises. All writing parts refer to this object, and keep it alive while they work. So the lock of the store is not released before the
/// last part has ended.
///
/// SENDABLE: mutable state is accessed only while `lock` is held, or is under a mutex, or is atomic.
package final class WriterState: @unchecked Sendable {
    /// The writer's lock. It is taken after `closing` and `Checkpointer.making`, and before every other lock.
    package let lock = WriterLock()
    /// The lock that a thread holds while it closes the store. It is the first lock to be taken.
    let closing = WriterLock()
    package let timeline: Timeline
    /// The log; `nil` for a store in memory.
    let log: LogWriter?
    let durability: Durability
    let environment: StoreEnvironment
    let metrics = MetricsRecord()
    let alarm = UpkeepAlarm()
    /// Wakes the tasks that are waiting for a newer graph, after that graph becomes visible to readers. The bell ends when the store is
    /// closed.
    let bell = CommitBell()
    let recent: RecentVersions
    /// The lock of the store; `nil` for a store in memory.
    private let storeLock: StoreLock?
    private let visible: Guarded<Graph>

    // The following properties are accessed only while `lock` is held, so no two accesses overlap.
    @exclusivity(unchecked) private(set) var isClosed = false
    /// The error after which pages of the newest graph may have lost their bytes; `nil` if there was no such error.
    @exclusivity(unchecked) private var pageFailure: CambiumError?
    /// The earliest possible time of the next transaction. Usually, it is the time of the last transaction.
    @exclusivity(unchecked) var lastTime: Timestamp
    /// The total size, in bytes, of the files of ops: separate files that hold the ops of large committed transactions.
    @exclusivity(unchecked) private var opsFileByteCount = 0
    /// The labels that existed when `label` was last called.
    @exclusivity(unchecked) var labels = KnownLabels()

    init(
        _ timeline: Timeline, _ log: LogWriter?, _ storeLock: StoreLock?, _ durability: Durability, _ environment: StoreEnvironment,
        recent: RecentVersions = RecentVersions()
    ) {
        self.recent = recent
        (self.timeline, self.log, self.storeLock) = (timeline, log, storeLock)
        (self.durability, self.environment) = (durability, environment)
        visible = Guarded(timeline.head)
        lastTime = Timestamp(microsecondsSince1970: log?.timeMin ?? 0)
    }

    deinit { if !isClosed { releaseStoreLock() } }

    /// The volume with the files of the log; `nil` for a store in memory.
    package var volume: (any Volume)? { log?.volume }

    // MARK: The graph that readers see

    /// The newest graph that is as durable as the store promises.
    var graph: Graph { visible.withLock { $0 } }

    /// Shows a graph to readers, unless they already see a newer one.
    ///
    /// - Parameter body: is called with the graph that readers see, directly before `graph` replaces it. No reader can get a graph while
    ///   `body` runs.
    func show(_ graph: Graph, _ body: (Graph) -> Void = { _ in }) {
        visible.withLock { visible in
            guard graph.transaction > visible.transaction else { return }
            body(visible)
            visible = graph
        }
    }

    /// Shows readers a packed graph (in which rows were moved so that pages become free) instead of the graph of the same transaction. Both
    /// graphs have the same content, but on different pages. Does nothing if readers see another transaction.
    func showPacked(_ packed: Graph) { visible.withLock { if $0.transaction == packed.transaction { $0 = packed } } }

    /// Rolls back to the last confirmed version, or to `graph`. Call this method only while `lock` is held.
    func rollBack(to graph: Graph? = nil) {
        if let graph { timeline.rollBack(to: graph) } else { timeline.rollBack() }
        recent.removeAll(after: timeline.head.transaction)
        labels = KnownLabels()
    }

    // MARK: The lock

    /// Throws `.misuse` inside the closure of a write of this store, because the call would wait for itself.
    package func checkOutsideOfWrites(_ call: String) throws(CambiumError) { try lock.checkNotHeld(by: call) }

    /// Throws `.notWritable` if the store was closed, or if pages of the newest graph may have lost their bytes. Call this method only
    /// while `lock` is held.
    package func checkOpen() throws(CambiumError) {
        if isClosed { throw CambiumError(.notWritable, "The store was closed. Open it again.") }
        guard let pageFailure else { return }
        throw CambiumError(
            .notWritable,
            "The disk could not store pages of the graph, so the store accepts no more writes; close it and open it again. "
                + "The failure was: \(pageFailure.message)",
            underlying: pageFailure)
    }

    /// Refuses all later writes and checkpoints, because pages of the newest graph may have lost their bytes. Transactions that were
    /// committed earlier still become durable, because the log does not depend on pages. Call this method only while `lock` is held.
    func distrustPages(after error: CambiumError) { pageFailure = pageFailure ?? error }

    /// Refuses all later writes. Call this method only while `lock` is held.
    func close() { isClosed = true }

    /// Calls `body` while holding the writer's lock, and then lets waiting writers take the lock.
    func whileNoThreadWrites(_ body: () -> Void) {
        lock.hold(as: .reclaiming) { body() }
        lock.letOthersIn()
    }

    /// Lets another writer open the store. Call this method once, after all parts of this store have stopped writing.
    func releaseStoreLock() {
        guard let storeLock else { return }
        let name = environment.randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        var mapped: (ofSource: [Int], ofStorage: [Int]) = ([], [])
        whileNoThreadWrites { mapped = timeline.mappedChunks }
        storeLock.release(for: timeline, mapped: mapped, name: name)
    }

    /// Releases the lock of the store as the death of the process would.
    func abandonStoreLock() { storeLock?.abandon() }

    // MARK: Numbers

    /// Counts the bytes of a file of ops, which a large transaction needs. Call this method only while `lock` is held.
    func trackOpsFile(byteCount: Int) { opsFileByteCount += byteCount }

    /// Updates the number of logged bytes in the metrics, and returns this number. Call this method only while `lock` is held.
    @discardableResult
    func trackLogged() -> Int {
        guard let log else { return 0 }
        let byteCount = log.appendedByteCount + opsFileByteCount
        metrics.loggedByteCount.store(byteCount, ordering: .relaxed)
        return byteCount
    }

    /// The newest transaction and its time.
    package var newestTransaction: (number: TransactionNumber, time: Timestamp) {
        lock.hold {
            guard let log else { return (timeline.head.transaction, lastTime) }
            // `lastTime` may be later, because an empty last segment may state a later creation time.
            return (log.lastTransaction, Timestamp(microsecondsSince1970: log.lastTime))
        }
    }

    /// The numbers that `Store.memory` returns.
    var memory: (pinnedVersionCount: Int, pinnedByteCount: Int, pageByteCount: Int, reservedByteCount: Int) {
        lock.hold(for: "memory") {
            (timeline.pinnedVersionCount, timeline.pinnedByteCount, timeline.pageByteCount, timeline.reservedByteCount)
        }
    }

    func reserveMemory(byteCount: Int) { lock.hold(for: "reserveMemory") { timeline.reserve(byteCount: byteCount) } }
}
