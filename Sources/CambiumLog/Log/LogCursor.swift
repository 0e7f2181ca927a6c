import CambiumBytes
internal import CambiumModel

/// A position in a log from which reading can continue. Another process may write to the log at the same time.
struct LogCursor {
    let volume: any Volume
    let settings: StoreSettings
    let joints: KnownJoints
    /// The first transaction that the caller has not received.
    var first: TransactionNumber
    /// The part of the log that precedes the next segment to open; `nil` if it is not known.
    var base: LogPrefix?
    /// Whether another process may write to the log at the same time.
    let mayBeWritten: Bool
    /// Whether to sync the bytes of another process before they are read.
    let syncs: Bool
    /// Whether the cursor also reads sealed segments with a corrupt index.
    let salvages: Bool
    var head: Head?
    /// The position at which a later read can continue, shortly before the last transaction that was read. Until a transaction is read,
    /// this is the position at which reading begins. The cursor needs the position only if another process may write to the log.
    var place: SegmentPlace?
    /// The first transactions of the segments that were in the directory when it was last listed, in ascending order.
    var listed: [TransactionNumber]
    /// The segments in `listed`, except those that the cursor skips because the preceding segment contains their transactions, too.
    var segments: [TransactionNumber]
    /// The index in `segments` of the current segment, or of the next segment to open.
    var index: Int
    var reader: SegmentReader?
    /// Whether no frame was read since the current segment was opened.
    var isFresh = false
    /// The offset at which the cursor began to read the current segment; 0 if it began at the header.
    var begin = 0
    /// The last segment that was read, named by its first transaction.
    var lastRead: TransactionNumber?
    /// The last segment, if only its beginning was written, or if it was removed after it was listed. In the second case, `isGone` is true.
    var unfinished: (path: String, isGone: Bool)?
    var end: LogReader.End
    /// The maximum number of records that one call to `body` receives.
    var batchCountMax = 64
    /// The segment before `unfinished`, in the state in which the cursor left it. `stepBack` returns to this state.
    var left: (reader: SegmentReader, end: LogReader.End)?

    /// The maximum number of times that the end of a log is evaluated again because the log changed in the meantime.
    static let judgmentCountMax = 100

    /// - Parameters:
    ///   - mayBeWritten: whether another process may write at the same time.
    ///   - syncs: whether the cursor syncs the bytes of another process before it reads them. Pass `false` only if the caller uses only
    ///     durable transactions.
    init(
        _ log: LogReader, from first: TransactionNumber, after base: LogPrefix? = nil, mayBeWritten: Bool, syncs: Bool = true,
        salvages: Bool = false, at place: SegmentPlace? = nil
    ) throws(CambiumError) {
        self.place = place
        self.base = base
        volume = log.volume
        settings = log.settings
        joints = log.joints
        head = log.head
        self.first = first
        self.mayBeWritten = mayBeWritten
        self.syncs = syncs
        self.salvages = salvages
        end = LogReader.End(lastTime: base?.time ?? log.settings.creationTime)
        listed = try LogDirectory.segments(log.volume)
        segments = listed
        index = segments.lastIndex { $0 <= first } ?? 0
        guard !segments.isEmpty else {
            throw LogReader.withoutSegment(log.volume)
        }
    }

    /// Whether no listed segment follows the current segment.
    var isLast: Bool {
        let current = reader?.header.firstTransaction ?? segments[index]
        return segments.last.map { $0 <= current } ?? true
    }

    // MARK: Continuing to read

    /// A closure that receives several transactions at a time, in order. The closure may take the array and leave another array in its
    /// place.
    typealias BatchBody = (inout [LogRecord]) throws -> Void

    /// Calls `body` with each transaction that the caller has not received yet, in order. Throws as `advance(batches:)` does.
    mutating func advance(_ body: (LogRecord) throws -> Void) throws { try advance(batches: { try $0.forEachInPlace(body) }) }

    /// Calls `body` with all transactions that the caller has not received yet, in order.
    ///
    /// Throws `.corrupted` if a segment is corrupt and other segments follow it. Also throws the errors of `body`.
    mutating func advance(batches body: BatchBody) throws {
        while true {
            if try reader == nil && !openNext() { return }
            try readFrames(body)
            if isLast, mayBeWritten { try list() }
            if isLast {
                if try isReplaced() { continue }
                return
            }
            try leave(body)
        }
    }

    /// Lists the directory again. Keeps the entries of `segments` up to the current segment.
    mutating func list() throws(CambiumError) {
        listed = try LogDirectory.segments(volume)
        let current = reader?.header.firstTransaction ?? segments[index]
        let last = max(current, reader?.sealedEnd ?? .none)
        segments = segments.filter { $0 <= current } + listed.filter { $0 > last }
    }

    /// Moves to the next segment. Throws `.corrupted` if the current segment cannot be verified to its end, unless `salvages` is set and no
    /// transaction is missing.
    private mutating func leave(_ body: BatchBody) throws {
        if mayBeWritten, reader?.isSealed == false {
            // A writer may have appended frames after the last read of this segment and before it created the next segment. These frames
            // are read now.
            try reader?.refresh()
            try readFrames(body)
        }
        guard let last = reader else { return }
        if !last.isAtEnd {
            let corruption = damage(last.path, last.offset, "The log file is corrupt at this offset.")
            guard salvages, try isWhole(last) else { throw corruption }
            end.flaws.append(corruption.description)
        }
        left = (last, end)
        track(last)
        base = LogPrefix(
            transaction: end.lastTransaction, time: end.lastTime, position: LogPosition(checksum: last.lastChecksum),
            isChecksumLost: last.lostIndex != nil)
        reader = nil
        lastRead = last.header.firstTransaction
        index = place(after: last.header.firstTransaction)
    }

    /// Returns the index of the first segment that begins after `segment`.
    func place(after segment: TransactionNumber) -> Int {
        // Usually, `segment` is the current segment, and no search is needed.
        if index < segments.count, segments[index] == segment { return index + 1 }
        return segments.firstIndex { $0 > segment } ?? segments.count
    }

    /// Whether the next segment continues where the frames of `last` end. If so, the bytes after these frames contain no transaction.
    private func isWhole(_ last: SegmentReader) throws(CambiumError) -> Bool {
        do throws(CambiumError) {
            let following = segments[place(after: last.header.firstTransaction)]
            let next = try SegmentReader(volume, path: LogFileName.path(following, .segment), salvages: true).header
            return next.firstTransaction == end.lastTransaction.next && next.previousChecksum == last.lastChecksum
        } catch {
            guard error.headerFailure != nil else { throw error }
            return false
        }
    }

    private mutating func track(_ reader: SegmentReader) {
        end.track(reader, from: begin)
        end.tail = tail(reader)
    }

    /// Returns whether the file of the open segment was replaced before the cursor read a frame from it. If so, closes the segment, and the
    /// caller opens the new file.
    private mutating func isReplaced() throws -> Bool {
        guard mayBeWritten, let old = reader, old.offset == Format.Segment.headerByteCount else { return false }
        do throws(CambiumError) {
            if try FrameReader(volume, path: old.path).headerChecksum == old.headerChecksum { return false }
        } catch {
            // A missing file means that the segment received frames and was then merged with other segments.
            guard error.code == .notFound else { throw error }
        }
        reader = nil
        return true
    }

    /// Returns whether the file of the last segment was removed or replaced although no segment follows it. If so, the whole store was
    /// removed or replaced. A writer begins another segment before it seals, merges or retires a segment that has frames.
    mutating func isDisplaced() throws(CambiumError) -> Bool {
        guard let reader, reader.offset > Format.Segment.headerByteCount, try !reader.frames.isInPlace(in: volume) else { return false }
        try list()
        return isLast
    }

    func damage(_ path: String, _ offset: Int, _ flaw: String) -> CambiumError {
        CambiumError(
            .corrupted,
            "\(flaw) Everything up to transaction \(end.lastTransaction) is intact; nothing was changed. "
                + "Restore the store from a backup, or save all intact data with 'cambium repair'.",
            place: .init(file: "\(volume.name)/\(path) offset \(offset)"))
    }
}
