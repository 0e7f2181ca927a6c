import CambiumBytes
import CambiumModel

/// The end of one segment and the making of the next one. The disk is waited for without the owner's lock.
///
/// `LogWriter.stage` decides that a segment is full, and transactions are staged for the next one from then on. `run` makes everything
/// before them durable, and then the file. `LogWriter.write` writes no frame until both are done.
public final class SegmentRotation: Sendable {
    struct Outcome {
        /// Whether everything in the segment that ended is durable, and readers find it.
        var synced: Result<Void, CambiumError>
        /// The file of the next segment.
        var file: Result<any VolumeFile, CambiumError>
        /// Why nothing more can be written, if the file could not be made.
        var poison: CambiumError?
    }

    /// What the writer is before the rotation, and is again if the disk has no space for another file.
    struct Ended: Sendable {
        let file: any VolumeFile
        let path: String
        let header: SegmentHeader
        let headerChecksum: UInt32
        let codec: TransactionCodec
        let position: Int
        let roomEnd: Int
        let durablePosition: Int
        let jointOffset: Int?
        let namedEnd: Int
        let lastTransaction: TransactionNumber
    }

    let ended: Ended
    private let volume: any Volume
    /// The path and the header of the next segment.
    private let path: String
    private let header: [UInt8]
    private let outcome = Guarded<Outcome?>(nil)

    init(_ volume: any Volume, ended: Ended, path: String, header: [UInt8]) {
        self.volume = volume
        self.ended = ended
        self.path = path
        self.header = header
    }

    /// Whether `run` returns at once.
    public var isDone: Bool { outcome.withLock { $0 != nil } }

    /// Ends the one segment and makes the other, unless that is done; if another thread does it, waits for that thread. Any thread.
    public func run() { _ = finished() }

    /// The outcome, which is waited for.
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
        if ended.roomEnd > ended.position { try ended.file.truncate(to: ended.position) }
        try ended.file.sync()
        if try !volume.names(ended.path, ended.file) { throw LogWriter.displaced(volume) }
    }

    /// Makes the file of a segment, durably.
    static func make(_ volume: any Volume, _ path: String, _ header: [UInt8]) -> Outcome {
        var isReplacement = false
        do throws(CambiumError) {
            // A segment of this name has lost all of its frames; this one takes its place, with another salt.
            isReplacement = try volume.exists(path)
            if isReplacement { try volume.replace(path, header) } else { try volume.create(path, header) }
            try volume.syncDirectory(LogReader.directory)
            return Outcome(synced: .success(()), file: .success(try volume.open(path, .update)), poison: nil)
        } catch {
            var poison = isReplacement || !error.isOutOfSpace ? error : nil
            // The log goes on in the segment before, so the file must not be left.
            do throws(CambiumError) {
                if !isReplacement, try volume.exists(path) {
                    try volume.remove(path)
                    // The file must not return, because HEAD may say that the log was closed before it.
                    try volume.syncDirectory(LogReader.directory)
                }
            } catch { poison = error }
            return Outcome(synced: .success(()), file: .failure(error), poison: poison)
        }
    }
}

extension CambiumError {
    fileprivate static let unfinished = CambiumError(.ioFailure, "The segment before could not be made durable.")
}

extension LogWriter {
    /// The segment that is being begun; `nil` if the segment that is written to has its file.
    public var pendingRotation: SegmentRotation? { rotation }

    /// Ends the segment that is written to, in memory. Everything that is staged from now on goes into the next one. Nothing may be staged.
    func beginRotation() throws(CambiumError) {
        if isAsClosed { try noteOpen() }
        let ended = SegmentRotation.Ended(
            file: file, path: path, header: header, headerChecksum: headerChecksum, codec: codec, position: position, roomEnd: roomEnd,
            durablePosition: durablePosition, jointOffset: jointOffset, namedEnd: namedEnd, lastTransaction: lastTransaction)
        let next = nextHeader(time: lastTime)
        let bytes = next.encode()
        rotation = SegmentRotation(volume, ended: ended, path: LogFileName.path(next.firstTransaction, .segment), header: bytes)
        enter(next, bytes)
    }

    /// Goes on in the segment that was begun, once its file is there. Throws as `write`; then the staged transactions are undone.
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

    /// Goes on in the segment that could not be followed by another one.
    private func resume(_ ended: SegmentRotation.Ended) {
        (file, path, header, headerChecksum) = (ended.file, ended.path, ended.header, ended.headerChecksum)
        (codec, position, durablePosition) = (ended.codec, ended.position, ended.durablePosition)
        (jointOffset, namedEnd) = (ended.jointOffset, ended.namedEnd)
        // The zeros after the last frame may be gone by now.
        roomEnd = ended.position
        ownByteCount -= Format.Segment.headerByteCount
        if staged.mark != nil { staged.mark = codec.mark }
    }
}
