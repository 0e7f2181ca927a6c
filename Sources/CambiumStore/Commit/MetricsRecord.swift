internal import CambiumBytes
import Synchronization

/// The counts and durations that an open store collects for `StoreMetrics`.
///
/// Only the thread that holds the writer's lock updates the numbers of commits, bytes and syncs. So an update is a load and a store, and
/// not an atomic addition.
final class MetricsRecord: Sendable {
    let commitCount = Atomic(0)
    let loggedByteCount = Atomic(0)
    let syncCount = Atomic(0)
    /// The number of commits that are waiting for their group to become durable. Any thread may change this number.
    let waitingCommitCount = Atomic(0)
    let upkeep = Guarded(Upkeep())

    /// The counts and durations of checkpoints and of packing. Both run while other threads write.
    struct Upkeep {
        var checkpointCount = 0
        var failedCheckpointCount = 0
        var checkpointTicks: UInt64 = 0
        var longestCheckpointTicks: UInt64 = 0
        var packingStepCount = 0
        var packedRowCount = 0
        var packedByteCount = 0
        var packingTicks: UInt64 = 0

        mutating func trackCheckpoint(ticks: UInt64) {
            checkpointCount += 1
            checkpointTicks += ticks
            longestCheckpointTicks = max(longestCheckpointTicks, ticks)
        }

        mutating func trackPacking(_ done: Upkeep, ticks: UInt64) {
            packingStepCount += done.packingStepCount
            packedRowCount += done.packedRowCount
            packedByteCount += done.packedByteCount
            packingTicks += ticks
        }
    }

    /// Counts a commit. Call this method only while the writer's lock is held.
    func countCommit() { commitCount.store(commitCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }
    /// Counts a sync. Call this method only while the writer's lock is held.
    func countSync() { syncCount.store(syncCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }
}
