import Synchronization

extension Committer {
    /// Schedules a sync of the last writes for the end of the interval since the last sync. Only while `writing` is held.
    func startTimer(at time: Int64, _ interval: Int64) {
        let delay = interval - max(0, time &- lastSyncTime.load(ordering: .relaxed))
        let (due, isNever) = time.addingReportingOverflow(delay)
        if isNever { return }
        if let timerTime, timerTime <= due { return }
        timerTime = due
        if timer == nil { timer = surroundings.makeTimer { [weak self] in self?.syncUnsynced() } }
        timer?.start(after: .microseconds(delay))
    }

    /// Nothing waits for the timer any more. Only while `writing` is held.
    func stopTimer() {
        if timerTime == nil { return }
        timerTime = nil
        timer?.cancel()
    }

    /// Syncs what was written since the last sync, unless another sync has begun since the timer was started.
    func syncUnsynced() {
        writing.hold {
            if isClosed || timerTime == nil { return }
            timerTime = nil
            // Nobody waits: a sync that fails is reported by the next commit, or by closing.
            _ = join(nil, timeline.head, .synced, .listener)
        }
    }
}
