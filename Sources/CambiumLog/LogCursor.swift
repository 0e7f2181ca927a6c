import CambiumBytes
import CambiumModel

/// A place in a log, from which it is read on; somebody may be writing to it.
struct LogCursor {
    private let volume: any Volume
    private let settings: StoreSettings
    private let first: TransactionNumber
    private let base: LogReader.Prefix?
    private let isBesideWriter: Bool
    private let salvages: Bool
    private var head: Head?
    /// The segments by their first transactions, ascending.
    private var segments: [TransactionNumber]
    /// The place in `segments` of the one that is being read, or that is to be opened next.
    private var index: Int
    private var reader: SegmentReader?
    /// The last segment, where it is no more than the beginning of one; `isGone` where it was taken away since it was listed.
    private var unfinished: (path: String, isGone: Bool)?
    private(set) var end: LogReader.End
    /// Where the segment before the unfinished one was left.
    private var left: (reader: SegmentReader, end: LogReader.End)?

    /// How often a log that changes meanwhile is judged again.
    private static let judgementCountMax = 100

    /// - Parameter isBesideWriter: whether another process may write meanwhile, in which case the log is synced before it is read.
    init(
        _ log: LogReader, from first: TransactionNumber, after base: LogReader.Prefix? = nil, isBesideWriter: Bool, salvages: Bool = false
    ) throws(CambiumError) {
        self.base = base
        volume = log.volume
        settings = log.settings
        head = log.head
        self.first = first
        self.isBesideWriter = isBesideWriter
        self.salvages = salvages
        end = LogReader.End(lastTime: base?.time ?? log.settings.creationTime)
        segments = try Self.segments(log.volume)
        index = segments.lastIndex { $0 <= first } ?? 0
        guard !segments.isEmpty else {
            throw LogReader.withoutSegment(log.volume)
        }
    }

    private static func segments(_ volume: any Volume) throws(CambiumError) -> [TransactionNumber] {
        try volume.list(LogReader.directory).compactMap { name in
            LogFileName.parse(name).flatMap { $0.suffix == .segment ? $0.number : nil }
        }
    }

    private var isLast: Bool { index == segments.count - 1 }

    // MARK: Reading on

    /// Calls `body` with every transaction that there is by now, in order.
    ///
    /// Throws `.damaged` where a segment is damaged that others follow; and what `body` throws.
    mutating func advance(_ body: (LogRecord) throws -> Void) throws {
        while true {
            if try reader == nil && !openNext() { return }
            try readFrames(body)
            if isLast, isBesideWriter { segments += try Self.segments(volume).filter { $0 > segments[index] } }
            if isLast {
                if try isReplaced() { continue }
                return
            }
            try leave(body)
        }
    }

    /// Reads what is in the current segment. What another process may still be writing is synced before it is read.
    private mutating func readFrames(_ body: (LogRecord) throws -> Void) throws {
        var limit = Int.max
        if isBesideWriter, isLast {
            try reader?.refresh()
            limit = try reader?.findEnd() ?? 0
            if limit == reader?.offset { return }
            try reader?.sync()
        }
        while let offset = reader?.offset, offset < limit, let records = try reader?.nextFrame() {
            // By their places: a copy of a record counts references to its parts.
            for place in records.indices {
                if records[place].number >= first { try body(records[place]) }
                end.lastTransaction = records[place].number
                end.lastTime = records[place].metadata.time.microsecondsSince1970
                end.byteCount += records[place].payload.fileByteCount
            }
        }
    }

    /// Goes to the next segment: the current one must verify to its end.
    private mutating func leave(_ body: (LogRecord) throws -> Void) throws {
        if isBesideWriter, reader?.isSealed == false {
            // What was appended before the next segment was made, and after this one was looked at.
            try reader?.refresh()
            try readFrames(body)
        }
        guard let last = reader else { return }
        if !last.isAtEnd {
            let corruption = damage(last.path, last.offset, "A frame does not verify.")
            guard salvages, try isWhole(last) else { throw corruption }
            end.flaws.append(corruption.description)
        }
        left = (last, end)
        if !last.isSealed { end.openSegments.append((last.header.firstTransaction, last.offset)) }
        note(last)
        reader = nil
        index += 1
    }

    /// Whether the next segment goes on where the frames of this one end: then the bytes after them held no transaction.
    private func isWhole(_ last: SegmentReader) throws(CambiumError) -> Bool {
        do throws(CambiumError) {
            let next = try SegmentReader(volume, path: LogFileName.path(segments[index + 1], .segment), salvages: true).header
            return next.firstTransaction == end.lastTransaction.next && next.previousChecksum == last.lastChecksum
        } catch {
            guard error.headerFailure != nil else { throw error }
            return false
        }
    }

    private mutating func note(_ reader: SegmentReader) {
        end.segmentCount += 1
        end.byteCount += reader.isSealed ? reader.byteCount : reader.offset
        end.tail = tail(reader)
    }

    private func tail(_ reader: SegmentReader) -> LogReader.SegmentTail {
        LogReader.SegmentTail(
            header: reader.header, headerChecksum: reader.headerChecksum, position: reader.offset, lastChecksum: reader.lastChecksum,
            isChecksumLost: reader.lostIndex != nil,
            durableOffset: max(reader.durableOffset, toldByHead(reader.header.firstTransaction)), codec: reader.codec)
    }

    /// Opens the segment that follows. False where it is the last one and its making was interrupted, or is under way.
    private mutating func openNext() throws -> Bool {
        unfinished = nil
        let path = LogFileName.path(segments[index], .segment)
        var next: SegmentReader
        do {
            next = try SegmentReader(volume, path: path, salvages: salvages)
        } catch {
            unfinished = (path, isGone: try isGone(path, error))
            return false
        }
        guard next.header.store == settings.store else { throw damage(path, 0, "The segment is of another store.") }
        guard next.header.firstTransaction == segments[index] else {
            throw damage(path, 0, "The segment is not the one that its name tells.")
        }
        if let before = end.tail {
            guard next.header.firstTransaction == end.lastTransaction.next else {
                throw damage(path, 0, "The segment begins with transaction \(segments[index]), and \(end.lastTransaction.next) is missing.")
            }
            guard before.isChecksumLost || next.header.previousChecksum == before.lastChecksum else {
                throw damage(path, 0, "The segment does not follow the one before.")
            }
        } else if let base {
            guard next.header.firstTransaction == base.transaction.next, next.header.previousChecksum == base.checksum else {
                throw damage(path, 0, "The segment does not follow what the checkpoint of transaction \(base.transaction) stands for.")
            }
        } else if index == 0, segments[0].rawValue != 1 {
            throw damage(path, 0, "The segment begins with transaction \(segments[0]), and those before it are missing.")
        }
        if let lost = next.lostIndex { end.flaws.append(lost.description) }
        guard next.header.creationTime >= end.lastTime else { throw damage(path, 0, "The segment is older than what it follows.") }
        next.skip(to: first)
        end.lastTransaction = TransactionNumber(rawValue: next.next.rawValue - 1)
        reader = next
        left = nil
        return true
    }

    /// Whether the last segment was taken away since it was listed, or else is no more than the beginning of one. Throws if it is neither.
    private func isGone(_ path: String, _ error: CambiumError) throws(CambiumError) -> Bool {
        if let failure = error.headerFailure {
            let byteCount = try volume.byteCount(of: path)
            let isDurable = head.map { $0.segment == segments[index] } ?? false
            if isLast, index > 0, byteCount <= Format.Segment.headerByteCount, !isDurable { return false }
            throw damage(path, failure.offset, error.message)
        }
        guard error.code == .notFound, isBesideWriter, isLast, index > 0 else { throw error }
        return true
    }

    /// Goes back to the segment before one whose making was interrupted: who writes next may take that away and go on in this one.
    mutating func stepBack() {
        guard unfinished != nil, let before = left else { return }
        (reader, end) = before
        index -= 1
        segments.removeLast(segments.count - index - 1)
        (unfinished, left) = (nil, nil)
    }

    /// Whether a segment without frames was replaced by one of the same name since it was opened, which has to be opened then.
    private mutating func isReplaced() throws -> Bool {
        guard isBesideWriter, let old = reader, old.offset == Format.Segment.headerByteCount,
            try FrameReader(volume, path: old.path).headerChecksum != old.headerChecksum
        else { return false }
        reader = nil
        return true
    }

    // MARK: Judging

    /// How the log ends, by the table of FORMAT.md 8. What another process writes meanwhile is read on before it is judged.
    ///
    /// Throws `.damaged` where the log is corrupt.
    mutating func judge(_ body: (LogRecord) throws -> Void) throws -> LogReader.End {
        var verdict = Result { try self.verdict() }
        for _ in 0..<Self.judgementCountMax {
            // A writer may have opened the log since HEAD was read.
            if case .success(.clean) = verdict, end.headFlaw == nil { break }
            guard isBesideWriter, try hasMoved() else { break }
            try advance(body)
            verdict = Result { try self.verdict() }
        }
        end.verdict = try verdict.get()
        var end = end
        if let reader {
            end.segmentCount += 1
            end.byteCount += reader.isSealed ? reader.byteCount : reader.offset
            end.tail = tail(reader)
        }
        return end
    }

    /// Looks at everything once more. Returns whether something is not as it was.
    private mutating func hasMoved() throws -> Bool {
        let newHead = try Head.read(volume, store: settings.store).head
        let isGone = unfinished?.isGone ?? false
        if isGone { stepBack() }
        let newSegments = try Self.segments(volume).filter { $0 >= segments[0] }
        var hasMoved = isGone || newHead != head || newSegments != segments
        head = newHead
        // A segment whose making was interrupted may be gone, until it is made again.
        if newSegments.prefix(index + 1) == segments.prefix(index + 1) { segments = newSegments }
        guard var reader else { return try hasMoved || openNext() }
        try reader.refresh()
        if try reader.findEnd() != reader.offset { hasMoved = true }
        self.reader = reader
        return hasMoved
    }

    private mutating func verdict() throws -> LogReader.End.Verdict {
        end.headFlaw = nil
        if let head, !segments.contains(head.segment) {
            throw damage(LogFileName.path(head.segment, .segment), 0, "The segment is missing, and \(Head.fileName) names it.")
        }
        guard var reader else {
            // Who took away what was unfinished may have written to the segment before since.
            if let tail = end.tail, unfinished?.isGone == false { try checkHead(tail, isWhole: false) }
            return .tornCreation(file: unfinished?.path ?? "")
        }
        defer { self.reader = reader }
        if reader.isSealed {
            throw damage(reader.path, reader.offset, "The segment is sealed, and the one that follows it is missing.")
        }
        let isWhole = try reader.isAtEnd || reader.isRoomBehind()
        try checkHead(tail(reader), isWhole: isWhole)
        if isWhole { return .clean }
        let toldBehind = try reader.durableOffsetToldBehind()
        if toldBehind > reader.offset {
            throw damage(
                reader.path, reader.offset,
                "A later frame says that the log was durable up to offset \(toldBehind), and no frame verifies here.")
        }
        return .tornTail(file: reader.path, offset: reader.offset, byteCount: reader.byteCount - reader.offset)
    }

    /// Throws if HEAD says that the log was durable beyond the end of the last segment with frames.
    ///
    /// A HEAD that was written at an earlier closing is of an older copy of the store. If the log verifies to its end, nothing is lost.
    ///
    /// - Parameter isWhole: whether nothing but zeros follows the last frame.
    private mutating func checkHead(_ tail: LogReader.SegmentTail, isWhole: Bool) throws {
        guard let head else { return }
        let segment = tail.header.firstTransaction
        let path = LogFileName.path(segment, .segment)
        // In a sealed segment positions are others than those that HEAD names.
        let isSealed = tail.header.kind.isSealed
        let told = toldByHead(segment)
        if !isSealed, told > tail.position {
            throw damage(path, tail.position, "The log was durable up to offset \(told), and no frame verifies here.")
        }
        let isClosedHere =
            isSealed ? head.lastTransaction == end.lastTransaction : head.segment == segment && told == tail.position
        let isOlder = head.isClosed && !isClosedHere
        if head.lastTransaction > end.lastTransaction || isOlder && !isWhole {
            throw damage(path, tail.position, "The log does not end where \(Head.fileName) says that it was closed.")
        }
        guard isOlder else { return }
        end.headFlaw =
            "\(Head.fileName) is older than the log: it says that the log was closed after transaction \(head.lastTransaction), and the "
            + "log goes on to transaction \(end.lastTransaction) and verifies to its end"
    }

    /// The offset up to which HEAD says that a segment was durable.
    private func toldByHead(_ segment: TransactionNumber) -> Int {
        head.flatMap { $0.segment == segment ? Int(clamping: $0.position) : nil } ?? 0
    }

    private func damage(_ path: String, _ offset: Int, _ what: String) -> CambiumError {
        CambiumError(
            .damaged,
            "\(what) Everything up to transaction \(end.lastTransaction) verifies; nothing was changed. Restore the store from a backup.",
            place: .init(file: "\(volume.name)/\(path) offset \(offset)"))
    }
}
