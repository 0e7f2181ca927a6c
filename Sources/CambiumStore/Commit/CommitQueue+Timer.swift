import Synchronization

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
