internal import CambiumModel

extension LogCursor {
    // MARK: Judging

    /// Determines how the log ends, as `judge(batches:)` does, but passes new transactions to `body` one at a time.
    mutating func judge(_ body: (LogRecord) throws -> Void) throws -> LogReader.End { try judge(batches: { try $0.forEachInPlace(body) }) }

    /// Determines how the log ends, according to the table of FORMAT.md 8. If another process has appended transactions in the meantime,
    /// first passes these transactions to `body`.
    ///
    /// Throws `.corrupted` if the log is corrupt.
    mutating func judge(batches body: BatchBody) throws -> LogReader.End {
        var verdict = Result { try self.verdict() }
        for _ in 0..<Self.judgmentCountMax {
            // Only the verdict `.clean` without a flaw in the file HEAD is final. Any other verdict may be out of date, because a writer
            // may have changed the log after HEAD was read.
            if case .success(.clean) = verdict, end.headFlaw == nil { break }
            guard mayBeWritten, try hasMoved() else { break }
            try advance(batches: body)
            verdict = Result { try self.verdict() }
        }
        end.verdict = try verdict.get()
        var end = end
        if let reader {
            end.track(reader, from: begin)
            end.tail = tail(reader)
        }
        return end
    }

    /// Reads HEAD again, lists the directory again, and searches for new frames. Returns whether anything has changed.
    private mutating func hasMoved() throws -> Bool {
        let newHead = try Head.read(volume, store: settings.store).head
        let isGone = unfinished?.isGone ?? false
        if isGone { stepBack() }
        let before = listed
        // If a process ended while it was creating the last segment, the segment's file may be missing until a writer creates it again.
        // `list` keeps such a segment in `segments`.
        try list()
        var hasMoved = isGone || newHead != head || listed != before
        head = newHead
        guard var reader else { return try hasMoved || openNext() }
        try reader.refresh()
        if try reader.findEnd(within: 1) != reader.offset { hasMoved = true }
        self.reader = reader
        return hasMoved
    }

    private mutating func verdict() throws -> LogReader.End.Verdict {
        end.headFlaw = nil
        if let head, !listed.contains(head.segment), try !isMerged(head.segment) {
            throw damage(
                LogFileName.path(head.segment, .segment), 0,
                "This log file is missing, but the file \(Head.fileName) of the store refers to it.")
        }
        guard var reader else {
            // HEAD is not compared with the log if a writer removed the unfinished segment, because the writer may also have written to the
            // preceding segment.
            if let tail = end.tail, unfinished?.isGone == false { try checkHead(tail, isWhole: false) }
            return .tornCreation(file: unfinished?.path ?? "")
        }
        defer { self.reader = reader }
        if reader.isSealed {
            throw damage(reader.path, reader.offset, "This log file is complete, but the log file that follows it is missing.")
        }
        let isWhole = try reader.isAtEnd || reader.isPreallocatedAfterEnd()
        try checkHead(tail(reader), isWhole: isWhole)
        if isWhole { return .clean }
        let laterOffset = try reader.laterDurableOffset()
        if laterOffset > reader.offset {
            throw damage(
                reader.path, reader.offset,
                "A later part of the file states that the log was durable up to offset \(laterOffset), "
                    + "but the file is corrupt at this offset.")
        }
        return .tornTail(file: reader.path, offset: reader.offset, byteCount: reader.byteCount - reader.offset)
    }

    /// Whether a segment that has no file is a part of an earlier segment. A merge of segments does not change the file HEAD, so HEAD may
    /// name such a segment.
    private func isMerged(_ segment: TransactionNumber) throws(CambiumError) -> Bool {
        guard let last = listed.last, segment < last else { return false }
        // The search does not stop at the first segment: an interrupted merge may have left other segments before the missing one.
        for before in listed.reversed() where before < segment {
            let reader = try SegmentReader(volume, path: LogFileName.path(before, .segment), salvages: salvages)
            // The end of a segment without a valid index is not known here. If a transaction is missing, the cursor notices this when it
            // reads the frames.
            if let end = reader.sealedEnd, segment <= end { return true }
            if reader.lostIndex != nil { return true }
        }
        return false
    }

    /// Compares the end of the log with the file HEAD. Throws if HEAD states that the log was durable beyond the end of the last segment
    /// with frames.
    ///
    /// HEAD may be older than the log, for example if only HEAD was restored from an older copy of the store. If the log nevertheless
    /// passes verification to its end, no transaction is lost, and the method only sets `end.headFlaw`.
    ///
    /// - Parameter isWhole: whether only zeros follow the last frame.
    private mutating func checkHead(_ tail: LogReader.SegmentTail, isWhole: Bool) throws {
        guard let head else { return }
        let segment = tail.header.firstTransaction
        let path = LogFileName.path(segment, .segment)
        // HEAD states a position in the open segment. The position is not valid in the sealed segment that replaced the open segment.
        let isSealed = tail.header.kind.isSealed
        let statedOffset = statedByHead(segment)
        if !isSealed, statedOffset > tail.position {
            throw damage(path, tail.position, "The log was durable up to offset \(statedOffset), but the file is corrupt at this offset.")
        }
        let isClosedHere =
            isSealed ? head.lastTransaction == end.lastTransaction : head.segment == segment && statedOffset == tail.position
        let isOlder = head.isClosed && !isClosedHere
        if head.lastTransaction > end.lastTransaction {
            throw damage(
                path, tail.position,
                "The log was durable up to transaction \(head.lastTransaction), but it ends before that transaction.")
        }
        guard isOlder else { return }
        guard isWhole else {
            throw damage(
                path, tail.position,
                "The file \(Head.fileName) states the position at which the log was closed, but the log does not end there.")
        }
        end.headFlaw =
            "\(Head.fileName) is older than the log: it states that the log was closed after transaction \(head.lastTransaction), but "
            + "the log continues to transaction \(end.lastTransaction). No transaction is lost, because the log is intact to its end"
    }

    /// Returns the offset up to which a segment was durable according to HEAD, or 0 if HEAD does not name the segment.
    private func statedByHead(_ segment: TransactionNumber) -> Int {
        head.flatMap { $0.segment == segment ? Int(clamping: $0.position) : nil } ?? 0
    }

    /// Moves back from an unfinished segment to the preceding segment. A writer may remove the unfinished segment and continue in the
    /// preceding one.
    mutating func stepBack() {
        guard unfinished != nil, let before = left else { return }
        (reader, end) = before
        let current = before.reader.header.firstTransaction
        segments.removeAll { $0 > current }
        index = max(0, segments.count - 1)
        (unfinished, left) = (nil, nil)
    }

    func tail(_ reader: SegmentReader) -> LogReader.SegmentTail {
        LogReader.SegmentTail(
            header: reader.header, headerChecksum: reader.headerChecksum, position: reader.offset, lastChecksum: reader.lastChecksum,
            isChecksumLost: reader.lostIndex != nil,
            durableOffset: max(reader.durableOffset, statedByHead(reader.header.firstTransaction)), codec: reader.codec,
            jointOffset: reader.jointOffset, jointEnd: reader.jointEnd)
    }
}

extension LogReader.End {
    /// Counts a segment and the bytes of the segment that were read from `offset` on.
    mutating func track(_ reader: SegmentReader, from offset: Int) {
        segmentCount += 1
        byteCount += (reader.isSealed ? reader.byteCount : reader.offset) - offset
    }
}
