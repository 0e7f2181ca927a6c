internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
public import CambiumModel
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
        if let checkpoints {
            found.replayDuration = .nanoseconds(checkpoints.tailWork)
            found.checkpointAge = checkpoints.checkpointer.newest.time.map { max(.zero, $0.distance(to: writer.environment.now())) }
        }
        let slow = writer.timeline.slowQueries.report
        found.slowQueryCount = slow.count
        found.lastSlowQuery = slow.last.map {
            StoreMetrics.SlowQuery(text: $0.text, duration: $0.duration, transaction: $0.transaction)
        }
        let totals = writer.timeline.totals
        (found.pinnedVersionCount, found.pinnedByteCount) = (totals.pinnedVersionCount, totals.pinnedByteCount)
        (found.pageByteCount, found.heapByteCount, found.mappedByteCount) = (
            totals.pageByteCount, totals.heapByteCount, totals.mappedByteCount
        )
        return found
    }

    /// Reads how much disk space the files of the store take. Another process may compact or change these files at the same time.
    ///
    /// Throws `.invalidInput` for a store in memory, and `.ioFailure` if a file cannot be read. Complexity: O(files); calls the operating
    /// system for each of them.
    public func diskUsage() throws(CambiumError) -> DiskUsage {
        guard let volume = writer.volume else {
            throw CambiumError(.invalidInput, "A store in memory takes no disk space. Use a store on disk.")
        }
        return DiskUsage(logByteCount: try LogDirectory.files(volume).byteCount, pageByteCount: try PageFile.byteCount(volume))
    }
}
