import CambiumBytes
internal import CambiumModel

/// A rotation: it ends one segment (a log file) and creates the next one. The rotation waits for the disk, but does not hold the lock of
/// the log's owner.
///
/// If `LogWriter.stage` finds that a segment is full, it stages the new transaction and all later transactions for the next segment. `run`
/// makes the full segment durable, and then creates the file of the next segment. `LogWriter.write` writes no frame before `run` has ended.
package final class SegmentRotation: Sendable {
    struct Outcome {
        /// Success if the full segment is durable and its path still leads to its file; otherwise, the error.
        var synced: Result<Void, CambiumError>
        /// The file of the next segment.
        var file: Result<any VolumeFile, CambiumError>
        /// The error that poisons the writer, because creating the file failed and left the file in an unknown state; otherwise `nil`.
        var poison: CambiumError?
    }

    /// The state of the writer before the next segment was begun. The writer returns to this state if the disk has no space for another
    /// file.
    struct Ended: Sendable {
        let file: any VolumeFile
        let path: String
        let header: SegmentHeader
        let headerChecksum: UInt32
        let codec: TransactionCodec
        let position: Int
        let preallocatedEnd: Int
        let durablePosition: Int
        let jointOffset: Int?
        let jointEnd: Int
        let namedEnd: Int
        let lastTransaction: TransactionNumber
    }

    let ended: Ended
    private let volume: any Volume
    /// The path of the next segment.
    private let path: String
    /// The bytes of the header of the next segment.
    private let header: [UInt8]
    private let outcome = Guarded<Outcome?>(nil)

    init(_ volume: any Volume, ended: Ended, path: String, header: [UInt8]) {
        self.volume = volume
        self.ended = ended
        self.path = path
        self.header = header
    }

    /// Whether the rotation has ended, so that `run` returns immediately.
    package var isDone: Bool { outcome.withLock { $0 != nil } }

    /// Ends the full segment and creates the next segment, unless both steps are done. If another thread is already running the rotation,
    /// waits for that thread. Any thread may call this method.
    package func run() { _ = finished() }

    /// Ends the rotation as `run` does, and returns its outcome.
    func finished() -> Outcome {
        outcome.withLock { outcome in
            let found = outcome ?? make()
            outcome = found
            return found
        }
    }

    private func make() -> Outcome {
        let synced = Result { () throws(CambiumError) in try end() }
        guard case .success = synced else { return Outcome(synced: synced, file: .failure(.unfinished), poison: nil) }
        return Self.make(volume, path, header)
    }

    /// Cuts off the zeros after the last frame, and makes the segment durable.
    private func end() throws(CambiumError) {
        if ended.preallocatedEnd > ended.position { try ended.file.truncate(to: ended.position) }
        try ended.file.sync()
        if try !volume.names(ended.path, ended.file) { throw LogWriter.displaced(volume) }
    }

    /// Creates the file of a segment, and makes the file and its directory entry durable.
    static func make(_ volume: any Volume, _ path: String, _ header: [UInt8]) -> Outcome {
        var isReplacement = false
        do throws(CambiumError) {
            // A segment that already has this name has lost all of its frames. The new segment replaces that segment, and has another salt
            // seed, so that readers notice the replacement.
            isReplacement = try volume.exists(path)
            if isReplacement { try volume.replace(path, header) } else { try volume.create(path, header) }
            try volume.syncDirectory(LogDirectory.name)
            return Outcome(synced: .success(()), file: .success(try volume.open(path, .update)), poison: nil)
        } catch {
            var poison = isReplacement || !error.isShortage ? error : nil
            // The writer continues in the full segment, so the file of the next segment must not remain.
            do throws(CambiumError) {
                if !isReplacement, try volume.exists(path) {
                    try volume.remove(path)
                    // The removal must be durable. Otherwise, HEAD could state that the log was closed in the full segment while a later
                    // segment exists.
                    try volume.syncDirectory(LogDirectory.name)
                }
            } catch { poison = error }
            return Outcome(synced: .success(()), file: .failure(error), poison: poison)
        }
    }
}

extension CambiumError {
    fileprivate static let unfinished = CambiumError(
        .ioFailure, "The previous log file could not be made durable. Check the disk, then open the store again.")
}

extension LogWriter {
    /// The rotation to a segment whose file the writer does not have yet; `nil` if there is no rotation. It is also `nil` if the writer is
    /// poisoned, because such a writer changes nothing on the disk.
    package var pendingRotation: SegmentRotation? { poison == nil ? rotation : nil }

    /// Ends the current segment in memory. Transactions that are staged from now on belong to the next segment. The caller ensures that no
    /// transaction is staged when it calls this method.
    func beginRotation() throws(CambiumError) {
        try checkLock()
        if isAsClosed { try markOpen() }
        let ended = SegmentRotation.Ended(
            file: file, path: path, header: header, headerChecksum: headerChecksum, codec: codec, position: position,
            preallocatedEnd: preallocatedEnd,
            durablePosition: durablePosition, jointOffset: jointOffset, jointEnd: jointEnd, namedEnd: namedEnd,
            lastTransaction: lastTransaction)
        let next = nextHeader(time: lastTime)
        let bytes = next.encode()
        rotation = SegmentRotation(volume, ended: ended, path: LogFileName.path(next.firstTransaction, .segment), header: bytes)
        enter(next, bytes)
    }

    /// Continues in the next segment, after its file has been created. If the rotation failed, undoes the staged transactions and throws as
    /// `write` does.
    func finishRotation() throws(CambiumError) {
        guard let rotation else { return }
        let outcome = rotation.finished()
        self.rotation = nil
        do throws(CambiumError) {
            try outcome.synced.get()
            file = try outcome.file.get()
            durableTransaction = max(durableTransaction, rotation.ended.lastTransaction)
            endedSegment = rotation.ended.header.firstTransaction...rotation.ended.lastTransaction
            try writeHead(isClosed: false)
        } catch {
            let isFileMissing: Bool = if case .failure = outcome.file { true } else { false }
            if case .failure = outcome.synced { poison = error }
            poison = poison ?? outcome.poison
            if isFileMissing { resume(rotation.ended) }
            try undoStaged(after: error, isHandedOver: false)
        }
    }

    /// Continues in the full segment, because the next segment could not be created.
    private func resume(_ ended: SegmentRotation.Ended) {
        (file, path, header, headerChecksum) = (ended.file, ended.path, ended.header, ended.headerChecksum)
        (codec, position, durablePosition) = (ended.codec, ended.position, ended.durablePosition)
        (jointOffset, jointEnd, namedEnd) = (ended.jointOffset, ended.jointEnd, ended.namedEnd)
        // The zeros after the last frame may already have been cut off.
        preallocatedEnd = ended.position
        ownByteCount -= Format.Segment.headerByteCount
        if staged.mark != nil { staged.mark = codec.mark }
    }
}
