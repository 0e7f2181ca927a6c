internal import CambiumBytes
import CambiumGraph
import Synchronization

extension Store {
    /// The work of the store since it was opened, and its current size.
    ///
    /// Reading this property never waits for a writer or for the disk. Complexity: O(1).
    public var metrics: StoreMetrics {
        let (lock, metrics) = (writer.lock, writer.metrics)
        var found = StoreMetrics()
        let rate = lock.clock.rate
        (found.longestHolds, found.waitingWriterCount) = (lock.longestHolds(rate), lock.waiterCount)
        found.commitCount = metrics.commitCount.load(ordering: .relaxed)
        found.waitingCommitCount = metrics.waitingCommitCount.load(ordering: .relaxed)
        found.loggedByteCount = metrics.loggedByteCount.load(ordering: .relaxed)
        found.syncCount = metrics.syncCount.load(ordering: .relaxed)
        let upkeep = metrics.upkeep.withLock { $0 }
        (found.checkpointCount, found.failedCheckpointCount) = (upkeep.checkpointCount, upkeep.failedCheckpointCount)
        found.checkpointDuration = rate.duration(ofTicks: upkeep.checkpointTicks)
        found.longestCheckpointDuration = rate.duration(ofTicks: upkeep.longestCheckpointTicks)
        (found.packingStepCount, found.packedRowCount) = (upkeep.packingStepCount, upkeep.packedRowCount)
        (found.packedByteCount, found.packingDuration) = (upkeep.packedByteCount, rate.duration(ofTicks: upkeep.packingTicks))
        let totals = writer.timeline.totals
        (found.pinnedVersionCount, found.pinnedByteCount) = (totals.pinnedVersionCount, totals.pinnedByteCount)
        (found.pageByteCount, found.heapByteCount, found.mappedByteCount) = (
            totals.pageByteCount, totals.heapByteCount, totals.mappedByteCount
        )
        return found
    }
}
