internal import CambiumLog
import CambiumModel
import Dispatch

/// Writes and syncs the transactions of commit groups, and then reports the outcome to the waiting callers.
extension CommitQueue {
    /// Writes the open group and syncs. Then chooses a leader for the group that formed during the sync.
    ///
    /// - Parameter own: the group of the calling thread's own commit; `nil` if the calling thread is not waiting for a commit.
    func lead(as own: CommitGroup? = nil) {
        var led = beginLeading()
        while case .rotation(let rotation) = led {
            // Transactions that arrive while the next segment is created join the open group, which this thread leads next.
            rotation.run()
            led = beginLeading()
        }
        guard case .group(let group, let begun) = led else { preconditionFailure("After all rotations, the thread must lead a group.") }
        let sync: LogWriter.PendingSync?
        switch begun {
        case .success(let pending): sync = pending
        case .failure(let error): return settle(group, as: .failure(error), by: own)
        }
        let synced = sync.map { ($0, $0.run()) }
        let (outcome, failed, next, hasThreads) = writer.lock.hold(as: .sync) {
            if sync != nil { writer.metrics.countSync() }
            writer.trackLogged()
            let (outcome, failed, next) = end(group, synced)
            // Reads the count under the lock, because other commits may join the next group once the lock is free.
            return (outcome, failed, next, next.map { $0.threadCount > 0 } ?? false)
        }
        writer.bell.ring()
        settle(group, as: outcome, by: own)
        if let failed { settle(failed, as: outcome, by: own) }
        guard let next else { return }
        if hasThreads { next.chooseLeader() } else { queue.async { self.lead() } }
    }

    /// The next step of the thread that leads the open group.
    private enum Led {
        /// A segment must be created before the open group can be written.
        case rotation(SegmentRotation)
        /// The group that was open until now, and the sync that makes its transactions durable.
        case group(CommitGroup, Result<LogWriter.PendingSync?, CambiumError>)
    }

    private func beginLeading() -> Led {
        writer.lock.hold(as: .sync) {
            if let rotation = writer.log?.pendingRotation, !rotation.isDone { return .rotation(rotation) }
            let group = openGroup
            openGroup = CommitGroup()
            return .group(group, Result { () throws(CambiumError) in try begin(group) })
        }
    }

    private func settle(_ group: CommitGroup, as outcome: CommitGroup.Outcome, by own: CommitGroup?) {
        writer.metrics.waitingCommitCount.subtract(group.threadCount + group.listenerCount, ordering: .relaxed)
        group.settle(outcome, sleeperCount: group.threadCount - (own === group ? 1 : 0))
    }

    /// Passes a group's transactions to the kernel, and returns the sync that makes them durable. Returns `nil` if all written bytes are
    /// already durable.
    private func begin(_ group: CommitGroup) throws(CambiumError) -> LogWriter.PendingSync? {
        guard let log = writer.log else { return nil }
        stopTimer()
        // If the write fails, the commits of the transactions that were not written get the error through their `FrameFate`. The other
        // commits of the group are still waiting for the sync.
        _ = writeStaged(group)
        do {
            return try log.beginSync()
        } catch {
            // The writer's lock is held until the rollback is complete. So the next commit builds on the remaining version and leads its
            // own group.
            rollBack(group)
            isSyncing = false
            throw error
        }
    }

    /// Records how a sync ended. Returns the group that fails together with the sync, and the group that needs a leader next.
    private func end(
        _ group: CommitGroup, _ synced: (LogWriter.PendingSync, LogWriter.SyncOutcome)?
    ) -> (outcome: CommitGroup.Outcome, failed: CommitGroup?, next: CommitGroup?) {
        let outcome = synced.flatMap { writer.log?.endSync($0.0, $0.1) } ?? .success(())
        switch outcome {
        case .success:
            lastSyncTime.store(writer.environment.now().microsecondsSince1970, ordering: .relaxed)
            if let graph = group.graph {
                // During the sync, packing may have made another version of the group's last transaction. In that case, the packed version
                // is confirmed and shown.
                let newest = writer.timeline.head
                let isPacked = newest.transaction == graph.transaction
                writer.timeline.confirm(isPacked ? newest : graph)
                writer.show(graph)
                if isPacked { writer.showPacked(newest) }
            }
            group.confirmOutcomes()
            isSyncing = !openGroup.isEmpty
            return (outcome, nil, isSyncing ? openGroup : nil)
        case .failure:
            // Transactions that arrived during the failed sync build on transactions that the sync has lost. The log refuses all writes
            // after a failed sync, so the later transactions are never written.
            rollBack(group)
            let failed = openGroup
            openGroup = CommitGroup()
            isSyncing = false
            return (outcome, failed, nil)
        }
    }

    /// Rolls back to the last confirmed version, because the sync of a group failed. Call this method only while the writer's lock is held.
    private func rollBack(_ group: CommitGroup) {
        writtenGraph = nil
        group.loseOutcomes()
        openGroup.loseOutcomes()
        // The log refuses all later writes, so the staged transactions are never written. The waiting threads will read this `FrameFate`
        // without the lock, so later transactions get a new `FrameFate`.
        fate.rollBack()
        fate = FrameFate()
        writer.rollBack()
    }

    /// Passes the staged transactions (not yet written) of the open group to the kernel. Returns the number of bytes that they take in the
    /// log. Call this method only while the writer's lock is held.
    ///
    /// If the write fails, rolls back the staged transactions. The callers that are waiting for these transactions receive the error
    /// together with the outcome of the group. Transactions that were written earlier stay, and their callers continue to wait.
    func writeStaged() -> Result<Int, CambiumError> { writeStaged(openGroup) }

    /// Passes the staged transactions (not yet written) of `group` to the kernel, as `writeStaged()` does for the open group.
    private func writeStaged(_ group: CommitGroup) -> Result<Int, CambiumError> {
        guard let log = writer.log else { return .success(0) }
        do throws(CambiumError) {
            let byteCount = try log.write()
            if let ended = log.takeEndedSegment() { sealing?.add(ended) }
            fate.isWritten = true
            // A ticket may hold the `FrameFate` forever, so the `FrameFate` releases the outcomes.
            group.outcomes += fate.outcomes
            fate.outcomes = []
            fate = FrameFate()
            writtenGraph = nil
            group.byteCount += byteCount
            if writer.durability != .synced {
                writer.timeline.confirm(writer.timeline.head)
                group.confirmOutcomes()
            }
            return .success(byteCount)
        } catch {
            fate.fail(error)
            fate = FrameFate()
            if let graph = writtenGraph {
                writtenGraph = nil
                writer.rollBack(to: graph)
                if group.graph != nil { group.graph = graph }
            }
            return .failure(error)
        }
    }

    /// Passes the earlier unwritten transactions to the kernel, before the caller adds its own transaction. If the write of these
    /// transactions fails, the caller's write fails, too. Call this method only while the writer's lock is held.
    package func writeOthers() throws(CambiumError) {
        guard case .failure(let error) = writeStaged() else { return }
        // The code `.outcomeUnknown` concerns the staged transactions. The caller's own transaction is certainly not in the log, so its
        // error has another code.
        guard error.code == .outcomeUnknown else { throw error }
        throw CambiumError(
            .ioFailure, "Earlier transactions could not be written, so this transaction was not written. \(error.message)",
            underlying: error)
    }
}
