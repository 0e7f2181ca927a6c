import CambiumBytes
internal import CambiumModel

/// A reader of the transactions of one segment (a log file), frame by frame.
struct SegmentReader {
    var frames: FrameReader
    private let volume: any Volume
    private(set) var offset = Format.Segment.headerByteCount
    /// The checksum of the last frame that was read.
    private(set) var lastFrameChecksum: UInt32 = 0
    /// The highest offset up to which the segment was durable, according to the frames that were read.
    private(set) var durableOffset = 0
    private(set) var next: TransactionNumber
    private(set) var codec: TransactionCodec
    /// The offset of the joint (a frame without transactions that marks a position in the log) directly before `offset`. It is `nil` if a
    /// frame with transactions precedes `offset`.
    private(set) var jointOffset: Int?
    /// The end of the last joint that was read, or the offset at which reading began.
    private(set) var jointEnd = Format.Segment.headerByteCount
    /// The index of a sealed segment; `nil` for an open segment, or if the index is corrupt.
    let index: SegmentIndex?
    /// The reason why a sealed segment is read without its index.
    let lostIndex: CambiumError?
    /// The offset of the index, at which the frames of a sealed segment end.
    let indexOffset: Int
    /// The number of frames of a sealed segment before `offset`. `time` is the time of the first transaction in the last of these frames.
    private var indexed: (frameCount: Int, time: Int64)
    /// No further transaction of a sealed segment may be earlier than this time, in microseconds since 1970. It is the time of the last
    /// transaction that was read. If frames were skipped, it is the time of the first transaction in the last skipped frame.
    private var timeMin: Int64
    /// The path and the salt seed of the file, in one object for all transactions that one read of the file returned. In a sealed segment,
    /// each frame states its own salt seed, and this object is not used.
    private var source: LogSource
    private var sourceWindow = 0

    /// Opens a segment. Throws as `SegmentHeader.read` does. Also throws `.corrupted` if the file is not a segment.
    ///
    /// - Parameter salvages: whether to read a corrupt segment as far as possible: with one corrupt byte in its header, or with a corrupt
    ///   index.
    init(_ volume: any Volume, path: String, salvages: Bool = false) throws(CambiumError) {
        self.volume = volume
        frames = try FrameReader(volume, path: path, salvages: salvages)
        source = LogSource(file: path, saltSeed: frames.header.saltSeed)
        next = frames.header.firstTransaction
        codec = TransactionCodec(time: frames.header.creationTime)
        indexed = (0, frames.header.creationTime)
        timeMin = frames.header.creationTime
        switch frames.header.kind {
        case .open:
            index = nil
            lostIndex = nil
            indexOffset = .max
        case .sealed, .retired:
            do throws(CambiumError) {
                let index = try SegmentIndex.read(&frames)
                self.index = index
                lostIndex = nil
                indexOffset = index.offset
            } catch {
                guard salvages, error.code == .corrupted else { throw error }
                index = nil
                lostIndex = error
                indexOffset = try Self.endWithoutIndex(&frames)
            }
        case .ops:
            throw CambiumError(
                .corrupted,
                "The file contains the changes of one transaction, so it is not the expected log file. Restore it from a backup.",
                place: .init(file: path))
        }
    }

    /// Returns the end of the frames of a sealed segment whose index is corrupt.
    private static func endWithoutIndex(_ frames: inout FrameReader) throws(CambiumError) -> Int {
        var offset = Format.Segment.headerByteCount
        while let frame = try frames.frame(at: offset), frame.transactionCount > 0 { offset = frame.end }
        return offset
    }

    /// If the segment has an index, moves to the frame that contains a transaction. If no frame contains the transaction, moves to the end
    /// of the frames.
    mutating func skip(to transaction: TransactionNumber) {
        guard let index, transaction > header.firstTransaction else { return }
        let wanted = transaction.rawValue - header.firstTransaction.rawValue
        let found = index.frame(with: wanted) ?? (index.entries.count, index.offset, index.transactionCount)
        offset = found.offset
        next = TransactionNumber(rawValue: header.firstTransaction.rawValue + found.firstTransaction)
        indexed = (found.number, index.entries[..<found.number].reduce(header.creationTime) { $0 &+ Int64(bitPattern: $1.interval) })
        timeMin = indexed.time
    }

    /// Moves to the first transaction after a position in the log. The position is inside the segment or at its end.
    ///
    /// - Returns: `false` if the segment has no such position. Throws as `nextFrame` does.
    mutating func begin(after base: LogPrefix) throws(CambiumError) -> Bool {
        guard base.transaction >= header.firstTransaction else { return false }
        if isSealed {
            let count = base.transaction.rawValue - header.firstTransaction.rawValue + 1
            guard let index, index.checksum(after: count) == base.position.checksum else { return false }
            skip(to: base.transaction.next)
            return true
        }
        let offset = base.position.jointOffset
        guard offset > Format.Segment.headerByteCount, offset < byteCount, let frame = try frames.frame(at: offset),
            frame.checksum == base.position.checksum, frame.transactionCount == 0
        else { return false }
        do {
            guard try Joint(region: frame.region) == Joint(transaction: base.transaction, time: base.time) else { return false }
        } catch {
            throw frames.undecodable(offset, error)
        }
        pass(frame, Joint(transaction: base.transaction, time: base.time))
        return true
    }

    /// Moves to the last joint of an open segment before a transaction, if there is such a joint after `offset`. Jumps over the other
    /// frames without verifying them: the joint states its transaction and its time, so no earlier frame is needed.
    ///
    /// Complexity: O(frames between the last known joint and the transaction).
    mutating func skip(toJointBefore transaction: TransactionNumber, _ known: KnownJoints) throws(CambiumError) {
        guard !isSealed, transaction > next else { return }
        var found: [KnownJoints.Place] = []
        var (place, number) = (offset, next.rawValue)
        if let last = known.last(before: transaction, headerChecksum: headerChecksum), last.offset > offset, last.transaction >= next {
            found.append(last)
            (place, number) = (last.offset, last.transaction.rawValue + 1)
        }
        while number < transaction.rawValue, let frame = try frames.outline(at: place) {
            if frame.transactionCount == 0, place != found.last?.offset {
                found.append(KnownJoints.Place(transaction: TransactionNumber(rawValue: number - 1), offset: place))
            }
            (place, number) = (place + frame.byteCount, number &+ UInt64(frame.transactionCount))
        }
        while let last = found.last {
            if try begin(at: last) {
                known.add(found, headerChecksum: headerChecksum)
                return
            }
            found.removeLast()
        }
    }

    /// Moves to the first transaction after a joint. Returns `false` if the place is not a joint after this transaction.
    private mutating func begin(at place: KnownJoints.Place) throws(CambiumError) -> Bool {
        do throws(CambiumError) {
            guard place.transaction >= header.firstTransaction, place.offset > Format.Segment.headerByteCount, place.offset < byteCount,
                let frame = try frames.frame(at: place.offset), frame.transactionCount == 0
            else { return false }
            // A reader of the frames before the place reports a joint that cannot be decoded.
            guard let joint = try? Joint(region: frame.region), joint.transaction == place.transaction else { return false }
            pass(frame, joint)
            return true
        } catch {
            guard error.code == .corrupted else { throw error }
            return false
        }
    }

    /// Moves to the first transaction after a joint that was verified.
    private mutating func pass(_ frame: Frame, _ joint: Joint) {
        next = joint.transaction.next
        codec = TransactionCodec(time: joint.time)
        pass(frame, isJoint: true)
    }

    /// Moves to the position at which an earlier reader of the segment stopped. The parameters are the state of that reader.
    mutating func resume(
        offset: Int, lastFrameChecksum: UInt32, durableOffset: Int, next: TransactionNumber, codec: TransactionCodec, jointOffset: Int?
    ) {
        (self.offset, self.lastFrameChecksum, self.durableOffset) = (offset, lastFrameChecksum, durableOffset)
        (self.next, self.codec, self.jointOffset, jointEnd) = (next, codec, jointOffset, offset)
    }

    private mutating func pass(_ frame: Frame, isJoint: Bool) {
        jointOffset = isJoint ? frame.offset : nil
        offset = frame.end
        if isJoint { jointEnd = frame.end }
        lastFrameChecksum = frame.checksum
        durableOffset = max(durableOffset, frame.durableOffset)
    }

    /// Appends the records of the next frame. A joint (a frame without transactions) has no records.
    ///
    /// Throws `.corrupted` for a frame that passes verification but cannot be decoded. In that case, nothing is appended, and `skipFrame`
    /// can skip the frame.
    ///
    /// - Returns: `false` at the end, or if no frame passes verification at `offset`.
    mutating func nextFrame(into records: inout [LogRecord]) throws(CambiumError) -> Bool {
        guard offset < indexOffset, let frame = try frames.frame(at: offset) else { return false }
        let (first, number) = (records.count, next)
        do throws(DecodingError) {
            if frame.transactionCount == 0, !isSealed {
                try check(Joint(region: frame.region))
                codec = TransactionCodec(time: codec.time)
                pass(frame, isJoint: true)
                return true
            }
            if isSealed { codec = TransactionCodec(time: header.creationTime) }
            try decode(frame, into: &records)
            // The codec decodes each frame of a sealed segment separately, so it does not compare the times of two frames.
            guard !isSealed || records[first].metadata.time.microsecondsSince1970 >= timeMin else {
                throw DecodingError.invalid("a transaction that is earlier than the one before it", offset: 0)
            }
        } catch {
            records.removeSubrange(first...)
            next = number
            throw frames.undecodable(offset, error)
        }
        do {
            try compare(frame, records.count - first, records[first].metadata.time)
        } catch {
            records.removeSubrange(first...)
            next = number
            throw error
        }
        pass(frame, isJoint: false)
        timeMin = codec.time
        return true
    }

    /// Checks that a joint repeats the number and the time of the transaction before it, and that this transaction directly precedes the
    /// joint.
    private func check(_ joint: Joint) throws(DecodingError) {
        guard next > header.firstTransaction, jointOffset == nil, joint == Joint(transaction: last, time: codec.time) else {
            throw .invalid("a joint that does not match the transactions before it", offset: 0)
        }
    }

    /// Uses the index of a sealed segment to skip a frame that fails verification.
    ///
    /// - Returns: `false` if the segment is not sealed, has no valid index, or has no further frame.
    mutating func skipFrame() -> Bool {
        guard let index, indexed.frameCount < index.entries.count else { return false }
        let entry = index.entries[indexed.frameCount]
        offset += entry.byteCount
        next = TransactionNumber(rawValue: next.rawValue + UInt64(entry.transactionCount))
        indexed = (indexed.frameCount + 1, indexed.time &+ Int64(bitPattern: entry.interval))
        timeMin = indexed.time
        return true
    }

    /// Compares a frame with the index of a sealed segment. Throws `.corrupted` if they differ.
    ///
    /// - Parameter firstTime: the time of the first transaction in the frame.
    private mutating func compare(_ frame: Frame, _ transactionCount: Int, _ firstTime: Timestamp) throws(CambiumError) {
        guard let index else { return }
        let time = firstTime.microsecondsSince1970
        let entry = SegmentIndex.Entry(
            byteCount: frame.byteCount, transactionCount: transactionCount, interval: UInt64(bitPattern: time &- indexed.time))
        guard indexed.frameCount < index.entries.count, index.entries[indexed.frameCount] == entry else {
            throw CambiumError(
                .corrupted,
                "The transactions at this offset do not match the index of the log file. "
                    + "Restore the file from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: "\(path) offset \(offset)"))
        }
        indexed = (indexed.frameCount + 1, time)
    }

    private mutating func decode(_ frame: Frame, into records: inout [LogRecord]) throws(DecodingError) {
        guard frame.transactionCount > 0 else { throw .invalid("a frame without transactions", offset: 0) }
        guard frame.transactionCount <= Format.Frame.transactionCountMax else {
            throw .limitExceeded("a frame of \(frame.transactionCount) transactions", offset: 0)
        }
        var reader = ByteReader(frame.region)
        // A corrupt count must not cause the reader to allocate more memory than most frames need.
        if records.isEmpty { records.reserveCapacity(min(frame.transactionCount, 4096)) }
        // All transactions that one read of the file returned use the same source. But each frame of a sealed segment states the
        // salt seed of its original segment, so each such frame gets its own source.
        if sourceWindow != frames.windowCount {
            source = LogSource(file: path, saltSeed: header.saltSeed)
            sourceWindow = frames.windowCount
        }
        let source =
            isSealed
            ? LogSource(file: path, saltSeed: Array(try reader.readBytes(Format.saltByteCount))) : source
        let share = frame.byteCount / frame.transactionCount
        for place in records.count..<records.count + frame.transactionCount {
            records.append(LogRecord(number: next, source: source, frameOffset: frame.offset, byteCount: share))
            // Decodes into the array, because copying a record is expensive.
            let payload = try codec.decode(&reader, &records[place])
            switch payload {
            case .present(let bytes):
                records[place].opsByteCount = bytes.count
                records[place].payload = .present(bytes)
            case .redacted(let commitment): records[place].payload = .redacted(commitment: commitment)
            case .file(let reference):
                records[place].payload = .file(OpsFile(volume: volume, store: header.store, transaction: next, reference: reference))
                records[place].fileByteCount = reference.fileByteCount
                records[place].byteCount += reference.fileByteCount
            }
            next = next.next
        }
        try reader.finish()
    }
}
