import CambiumBytes
public import CambiumModel

extension LogWriter {
    /// Returns when everything that was appended is durable.
    public func sync() throws(CambiumError) {
        try write()
        guard let pending = try beginSync() else { return }
        try endSync(pending, pending.run()).get()
    }

    /// A sync that has been decided on and may run while others append.
    public struct PendingSync: Sendable {
        let volume: any Volume
        let file: any VolumeFile
        let path: String
        let segment: TransactionNumber
        let position: Int
        public let transaction: TransactionNumber
        let namesFiles: Bool

        /// Waits for the disk. Any thread, without the owner's lock.
        public func run() -> SyncOutcome {
            var isInPlace = Result<Bool, CambiumError>.success(true)
            let result = Result { () throws(CambiumError) in try file.sync() }
            if case .success = result { isInPlace = Result { () throws(CambiumError) in try volume.names(path, file) } }
            return SyncOutcome(result: result, isInPlace: isInPlace)
        }
    }

    /// How a sync ended.
    public struct SyncOutcome: Sendable {
        let result: Result<Void, CambiumError>
        /// Whether the path of the segment led to the file that was synced, once it was.
        let isInPlace: Result<Bool, CambiumError>
    }

    /// What has to be synced for everything written so far to be durable; nil where all of it is.
    public func beginSync() throws(CambiumError) -> PendingSync? {
        try checkPoison()
        guard durablePosition < position else { return nil }
        return PendingSync(
            volume: volume, file: file, path: path, segment: header.firstTransaction, position: position,
            transaction: staged.count == 0 ? lastTransaction : staged.lastTransaction,
            namesFiles: namedEnd > durablePosition)
    }

    /// Takes note of how a sync ended. One that failed poisons the writer, and so does one of a log that is not in the store any more.
    ///
    /// - Returns: what counts: if something else failed meanwhile, the outcome of the sync is not to be believed either.
    @discardableResult
    public func endSync(_ pending: PendingSync, _ outcome: SyncOutcome) -> Result<Void, CambiumError> {
        if case .failure(let error) = outcome.result { poison = error }
        // A segment that was ended meanwhile may be sealed already, so another file has its path.
        if poison == nil, pending.segment == header.firstTransaction { poison = displacement(outcome) }
        if let poison { return .failure(poison) }
        noteDurable(pending)
        return .success(())
    }

    /// Why readers do not find the segment any more, so that the sync made bytes durable that nobody can open again; nil if they do.
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
            "The directory of the store '\(volume.name)' was removed or replaced while the store was open, so what is written to it is "
                + "lost. Close the store, and restore it from a backup.")
    }

    private func noteDurable(_ pending: PendingSync) {
        guard pending.segment == header.firstTransaction, pending.position > durablePosition else { return }
        durablePosition = pending.position
        durableTransaction = pending.transaction
        let (elapsed, isLonger) = lastTime.subtractingReportingOverflow(headTime)
        if !isLonger, elapsed < Self.headInterval, !pending.namesFiles { return }
        // HEAD is a hint: where it cannot be written, the next commit says so, and this one is durable all the same.
        do throws(CambiumError) {
            try writeHead(isClosed: false)
            // So much hangs on a frame that names a file that it shall not pass for a torn tail.
            if pending.namesFiles { try headFile.sync() }
        } catch { if !error.isOutOfSpace { poison = error } }
    }
}
