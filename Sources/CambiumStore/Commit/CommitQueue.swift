internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel
import Dispatch
import Synchronization

/// Makes transactions durable in groups: one sync serves all transactions that arrived during the previous sync.
///
/// A transaction that must wait for a sync joins the open group. The leader of the group writes its transactions as one frame and syncs.
/// The writer's lock is free during the sync. If the disk fails, the timeline rolls back to the last confirmed version. Every caller that
/// was waiting for a later version then gets an error.
///
/// SENDABLE: mutable state is accessed only while the writer's lock is held, or is atomic.
package final class CommitQueue: @unchecked Sendable {
    let writer: WriterState
    /// Seals the full segments (files of the log) in the background; `nil` for a store in memory.
    package let sealing: Sealing?
    /// The maximum time between two syncs that the durability of the store allows, in microseconds.
    private let syncInterval: Int64
    /// The queue on which a block writes and syncs a group if no thread is waiting for the group. A block on the queue keeps this object
    /// alive, and with it the lock of the store.
    let queue = DispatchQueue(label: "cambium.store.sync")
    /// The time of the last sync, or the time when the store was opened if there was no sync yet, in microseconds since 1970.
    let lastSyncTime: Atomic<Int64>

    // The following properties are accessed only while the writer's lock is held, so no two accesses overlap.
    /// The group that the next commits join.
    @exclusivity(unchecked) var openGroup = CommitGroup()
    @exclusivity(unchecked) var isSyncing = false
    /// The object through which the commits of the staged (not yet written) transactions learn whether these transactions were written.
    @exclusivity(unchecked) var fate = FrameFate()
    /// The newest version that was written to the log, if later versions are not written yet. While this property holds the version, the
    /// timeline can roll back to it.
    @exclusivity(unchecked) var writtenGraph: Graph?
    /// The timer that syncs the bytes that the durability `buffered` leaves unsynced. The first commit that leaves unsynced bytes creates
    /// the timer.
    @exclusivity(unchecked) var timer: (any SyncTimer)?
    /// The time at which the timer is due, in microseconds since 1970. It is `.max`, and the timer is not set, if the interval never ends.
    /// It is `nil` if all bytes are synced, or if their sync has begun.
    @exclusivity(unchecked) var timerTime: Int64?

    /// The kind of caller that is waiting for a commit. If no thread is waiting, a block on `queue` writes and syncs the group, even if no
    /// caller ever requests the outcome.
    enum Waiter {
        /// A thread that calls `settle`.
        case thread
        /// A caller that calls `whenSettled` immediately.
        case listener
        /// A caller that may request the outcome at any time. There may be thousands of such callers, so none of them holds the graph of
        /// its own transaction. Each caller gets the newest graph of its group.
        case ticket
    }

    init(_ writer: WriterState, _ sealing: Sealing?) {
        (self.writer, self.sealing) = (writer, sealing)
        syncInterval = writer.durability.interval
        lastSyncTime = Atomic(writer.environment.now().microsecondsSince1970)
    }

    deinit {
        // The timer ends with this object, so the sync for which the timer was set runs now. No caller is waiting for that sync, so its
        // error is ignored.
        if timerTime != nil { try? writer.log?.sync() }
        timer?.cancel()
        // No file may be renamed after the lock of the store is released, so sealing ends first.
        sealing?.close()
    }

    // MARK: Joining a group

    /// Records the newest written version, to which the timeline rolls back if later transactions cannot be written. Call this method
    /// before the version of an unwritten transaction is published, while the writer's lock is held.
    func expectStaged() { if writtenGraph == nil { writtenGraph = writer.timeline.head } }

    /// Makes `graph` the newest graph of the open group. Call this method only while the writer's lock is held.
    func add(_ graph: Graph) { openGroup.graph = graph }

    /// Adds a commit to the open group if the commit must wait for a sync. Call this method only while the writer's lock is held.
    func join(
        _ number: TransactionNumber?, _ graph: Graph, _ level: Durability, _ waiter: Waiter, byteCount: Int = 0, at time: Int64 = 0,
        hasChanges: Bool = false
    ) -> PendingCommit {
        let log = writer.log
        let interval = level == writer.durability ? syncInterval : level.interval
        let isDurable: Bool =
            switch level {
            case .memory: true
            // A transaction without changes may have read changes that are not durable yet. In that case, the transaction waits for the
            // sync of these changes.
            case .synced: number == nil && !isSyncing && log?.isDurable ?? true
            case .buffered:
                !(log?.hasStaged ?? false) && (number == nil || !isSyncDue(at: time, interval))
            }
        if isDurable {
            if number != nil, level != .memory { startTimer(at: time, interval) }
            return PendingCommit(
                transaction: number, hasChanges: hasChanges, graph: graph, byteCount: byteCount, isStaged: false, fate: nil, group: nil,
                leads: false)
        }
        let group = openGroup
        let isStaged = number != nil && (level == .synced || log?.hasStaged ?? false)
        if isStaged { group.transactionCount += 1 }
        group.graph = graph
        if waiter == .thread { group.threadCount += 1 } else { group.listenerCount += 1 }
        writer.metrics.waitingCommitCount.add(1, ordering: .relaxed)
        // After a failed sync, the log still has staged transactions that were rolled back. No later commit depends on them, so
        // `writtenGraph` is tested, and not `log.hasStaged`.
        let fate = writtenGraph == nil ? nil : fate
        let leads = !isSyncing
        isSyncing = true
        if leads, waiter != .thread { queue.async { self.lead() } }
        return PendingCommit(
            transaction: number, hasChanges: hasChanges, graph: waiter == .ticket ? nil : graph, byteCount: byteCount, isStaged: isStaged,
            fate: fate, group: group, leads: leads && waiter == .thread)
    }

    /// Whether the last sync was at least `interval` microseconds ago, or the clock was set back to an earlier time.
    private func isSyncDue(at time: Int64, _ interval: Int64) -> Bool {
        let elapsed = time &- lastSyncTime.load(ordering: .relaxed)
        return elapsed < 0 || elapsed >= interval
    }

    // MARK: Waiting

    /// Sleeps until a commit is as durable as it must be, and returns its receipt. Throws if the commit has failed.
    func settle(_ pending: PendingCommit) throws(CambiumError) -> Receipt {
        guard let group = pending.group else { return try pending.result.get() }
        if pending.leads { lead(as: group) }
        while true {
            if let outcome = group.wait() { return try pending.result(of: outcome).get() }
            lead(as: group)
        }
    }
}

/// The timer that makes the last writes of a `buffered` store durable.
extension CommitQueue {
    /// Schedules a sync of the last writes, one interval after the last sync. Call this method only while the writer's lock is held.
    func startTimer(at time: Int64, _ interval: Int64) {
        let delay = interval - max(0, time &- lastSyncTime.load(ordering: .relaxed))
        let (sum, isNever) = time.addingReportingOverflow(delay)
        let due = isNever ? .max : sum
        if let timerTime, timerTime <= due { return }
        timerTime = due
        // The timer would never run. `timerTime` still shows that there are unsynced bytes, which `deinit` syncs.
        if isNever { return }
        if timer == nil { timer = writer.environment.makeTimer { [weak self] in self?.syncUnsynced() } }
        timer?.start(after: .microseconds(delay))
    }

    /// Cancels the timer, because a sync begins or the store is closed. Call this method only while the writer's lock is held.
    func stopTimer() {
        if timerTime == nil { return }
        timerTime = nil
        timer?.cancel()
    }

    /// Syncs the bytes that were written since the last sync, unless another sync has begun since the timer was started.
    func syncUnsynced() {
        writer.lock.hold {
            if writer.isClosed || timerTime == nil { return }
            timerTime = nil
            // No caller is waiting for this sync. If it fails, the next commit or closing reports the failure.
            _ = join(nil, writer.timeline.head, .synced, .listener)
        }
    }
}
