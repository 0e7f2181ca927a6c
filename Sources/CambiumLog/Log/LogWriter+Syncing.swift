import CambiumBytes
package import CambiumModel

extension LogWriter {
    /// Makes everything that was appended durable before the call returns.
    package func sync() throws(CambiumError) {
        try write()
        guard let pending = try beginSync() else { return }
        try endSync(pending, pending.run()).get()
    }

    /// A sync that is ready to run. It can run while other threads append.
    package struct PendingSync: Sendable {
        let volume: any Volume
        let file: any VolumeFile
        let path: String
        let segment: TransactionNumber
        let position: Int
        package let transaction: TransactionNumber
        /// Whether one of the frames to sync refers to a file of ops.
        let namesFiles: Bool

        /// Syncs the segment, and waits for the disk. Any thread may call this method without the lock of the writer's owner.
        package func run() -> SyncOutcome {
            var isInPlace = Result<Bool, CambiumError>.success(true)
            let result = Result { () throws(CambiumError) in try file.sync() }
            if case .success = result { isInPlace = Result { () throws(CambiumError) in try volume.names(path, file) } }
            return SyncOutcome(result: result, isInPlace: isInPlace)
        }
    }

    /// The result of a sync.
    package struct SyncOutcome: Sendable {
        let result: Result<Void, CambiumError>
        /// Whether the path of the segment still led to the synced file after the sync.
        let isInPlace: Result<Bool, CambiumError>
    }

    /// Returns a sync that makes everything written so far durable, or `nil` if everything is already durable.
    package func beginSync() throws(CambiumError) -> PendingSync? {
        try checkPoison()
        guard durablePosition < position else { return nil }
        return PendingSync(
            volume: volume, file: file, path: path, segment: header.firstTransaction, position: position,
            transaction: staged.count == 0 ? lastTransaction : staged.lastTransaction,
            namesFiles: namedEnd > durablePosition)
    }

    /// Records the result of a sync. The writer is poisoned if the sync failed, or if the path of the segment no longer leads to the synced
    /// file.
    ///
    /// - Returns: the result that the caller must use: if another operation failed during the sync, the sync also counts as failed.
    @discardableResult
    package func endSync(_ pending: PendingSync, _ outcome: SyncOutcome) -> Result<Void, CambiumError> {
        isLockCheckDue = true
        if case .failure(let error) = outcome.result { poison = error }
        // A segment that ended during the sync may already be sealed, so its path may lead to another file.
        if poison == nil, pending.segment == header.firstTransaction { poison = displacement(outcome) }
        if let poison { return .failure(poison) }
        trackDurable(pending)
        return .success(())
    }

    /// Returns the reason why the path of the synced segment no longer leads to the synced file. Returns `nil` if readers find the file. If
    /// there is a reason, the synced transactions are lost for all readers.
    private func displacement(_ outcome: SyncOutcome) -> CambiumError? {
        switch outcome.isInPlace {
        case .success(true): nil
        case .success(false): Self.displaced(volume)
        case .failure(let error): error
        }
    }

    static func displaced(_ volume: any Volume) -> CambiumError {
        CambiumError(
            .ioFailure,
            "The directory of the store '\(volume.name)' was removed or replaced while the store was open, so writes to it are lost. "
                + "Close the store, and restore it from a backup.")
    }

    private func trackDurable(_ pending: PendingSync) {
        guard pending.segment == header.firstTransaction, pending.position > durablePosition else { return }
        durablePosition = pending.position
        durableTransaction = pending.transaction
        // If the clock was set back, HEAD is written, and the interval begins again.
        let (elapsed, isLonger) = clockTime.subtractingReportingOverflow(headTime)
        if !isLonger, (0..<Self.headInterval).contains(elapsed), !pending.namesFiles { return }
        // HEAD is only a hint, so the commit is durable without it. If HEAD cannot be written, the next commit reports the failure.
        do throws(CambiumError) {
            try checkLock()
            try writeHead(isClosed: false)
            // A frame with a large transaction refers to a file. Syncing HEAD ensures that no reader mistakes such a frame for a torn tail.
            if pending.namesFiles { try syncHead() }
        } catch { if !error.isShortage { poison = error } }
    }
}
