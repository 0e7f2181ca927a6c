import CambiumBytes
public import CambiumModel

/// Writes segments that get no more frames again: in larger blocks, with an index. FORMAT.md 2, "Segments".
///
/// It needs no lock but that of the store, and no writer to wait: the segment stays what it is, under the same name.
public struct SegmentSealer: Sendable {
    let volume: any Volume
    private let frameByteCount: Int

    public init(_ writer: LogWriter) {
        volume = writer.volume
        frameByteCount = writer.tuning.sealedFrameByteCount
    }

    /// Replaces a segment by a sealed one with the same transactions.
    ///
    /// Throws `.damaged` where the segment does not verify to its end, `.ioFailure`; then it is as it was. Complexity: O(bytes),
    /// memory for one frame.
    ///
    /// - Parameter segment: the number of its first transaction. Another segment must follow it.
    /// - Returns: the bytes before and after; nil where it was sealed already.
    @discardableResult
    public func seal(_ segment: TransactionNumber) throws -> (before: Int, after: Int)? {
        try replace(segment, by: .sealed)
    }

    /// Makes two sealed segments of one, so that the second one begins after a transaction. Does nothing if another segment does.
    ///
    /// A joint has to follow the transaction. Throws as `seal`. A crash leaves the segment, perhaps beside the second part, which it
    /// covers, or both parts. Covered segments have to be removed before.
    ///
    /// - Parameter segment: the number of its first transaction. Another segment must follow it.
    /// - Returns: the bytes that the two segments take less than the one; 0 if nothing was done.
    public func split(_ segment: TransactionNumber, after last: TransactionNumber) throws -> Int {
        if try LogReader.segments(volume).contains(last.next) { return 0 }
        let before = try LogReader.byteCount(volume, segment)
        try seal(segment)
        var reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
        guard let end = reader.sealedEnd, last >= segment, last < end else { return before - reader.byteCount }
        let header = reader.header
        guard let checksum = reader.index?.checksum(after: last.rawValue - segment.rawValue + 1) else {
            throw CambiumError(.damaged, "The segment has no joint after transaction \(last).", place: .init(file: reader.path))
        }
        reader.skip(to: last)
        guard let record = try reader.nextFrame()?.first(where: { $0.number == last }) else {
            throw CambiumError(.damaged, "A frame does not verify, so the segment stays as it is.", place: .init(file: reader.path))
        }
        let second = SegmentHeader(
            store: header.store, firstTransaction: last.next, creationTime: record.metadata.time.microsecondsSince1970,
            saltSeed: header.saltSeed, previousChecksum: checksum)
        _ = try write([segment], last.next...end, second, .sealed)
        _ = try write([segment], segment...last, header, .sealed)
        return try before - LogReader.byteCount(volume, segment) - LogReader.byteCount(volume, last.next)
    }

    /// Removes segments whose transactions the sealed segment before them has, too: an interrupted splitting or merging left them.
    ///
    /// Throws `.damaged` if they are not the same there. Complexity: O(segments) if there are none.
    public func removeCovered() throws {
        var segments = try LogReader.segments(volume)[...]
        while let segment = segments.popFirst(), let next = segments.first {
            let reader = try FrameReader(volume, path: LogFileName.path(segment, .segment))
            guard reader.header.kind.isSealed, let end = try SegmentReader(volume, path: reader.path).sealedEnd, next <= end else {
                continue
            }
            let covered = segments.prefix { $0 <= end }
            segments = segments.dropFirst(covered.count)
            try remove(covered, coveredBy: segment)
        }
    }

    /// Removes segments that another one has, after the comparison with it.
    private func remove(_ covered: ArraySlice<TransactionNumber>, coveredBy segment: TransactionNumber) throws {
        for other in covered {
            let reader = try SegmentReader(volume, path: LogFileName.path(other, .segment))
            let range = try range(of: reader)
            var (part, same) = (SegmentPart(volume, [segment], range), SegmentPart(volume, [other], range))
            while let record = try same.next() {
                guard let wanted = try part.next(), wanted.isSame(as: record) else {
                    throw CambiumError(.damaged, "The segment is not the same in the one that covers it.", place: .init(file: reader.path))
                }
            }
        }
        for other in covered.reversed() { try volume.remove(LogFileName.path(other, .segment)) }
        try volume.syncDirectory(LogReader.directory)
    }

    /// Replaces a segment by one in which of each transaction only who made it, when and why is left, and the hash of what it did, so that
    /// its place in the tree can still be proven. Then removes the files of its ops.
    ///
    /// A checkpoint has to stand for the transactions, and another segment must follow. Throws as `seal`.
    ///
    /// - Returns: the bytes before and after, those of files of ops too; nil where it was retired already.
    @discardableResult
    public func retire(_ segment: TransactionNumber) throws -> (before: Int, after: Int)? {
        let replaced = try replace(segment, by: .retired)
        let opsByteCount = try removeOpsFiles(segment)
        if replaced == nil, opsByteCount == 0 { return nil }
        return ((replaced?.before ?? 0) + opsByteCount, replaced?.after ?? 0)
    }

    /// Removes the files of ops of a segment that was retired. Returns their bytes.
    private func removeOpsFiles(_ segment: TransactionNumber) throws -> Int {
        var byteCount = 0
        var reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
        let names = Set(try volume.list(LogReader.directory))
        while let records = try reader.nextFrame() {
            for record in records {
                let name = LogFileName.name(record.number, .ops)
                guard names.contains(name) else { continue }
                byteCount += try volume.byteCount(of: LogReader.directory + "/" + name)
                try volume.remove(LogReader.directory + "/" + name)
            }
        }
        return byteCount
    }

    private func replace(_ segment: TransactionNumber, by kind: Format.FileKind) throws -> (before: Int, after: Int)? {
        let reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
        if reader.header.kind == kind || reader.header.kind == .retired { return nil }
        let after = try write([segment], try range(of: reader), reader.header, kind)
        return (reader.byteCount, after)
    }

    /// The transactions of a segment. Complexity: O(1) for a sealed one, otherwise O(bytes).
    private func range(of segment: SegmentReader) throws(CambiumError) -> ClosedRange<TransactionNumber> {
        var reader = segment
        if !reader.isSealed { while try reader.nextFrame() != nil {} }
        let (first, last) = (reader.header.firstTransaction, reader.sealedEnd ?? reader.last)
        guard first <= last else { throw CambiumError(.damaged, "The segment has no transaction.", place: .init(file: reader.path)) }
        return first...last
    }

    /// Makes a segment of transactions of neighbouring segments, and gives it its name when it is durable and says the same as they do.
    ///
    /// - Parameter header: of the new segment, but for its kind and version.
    /// - Returns: the bytes of the file.
    private func write(
        _ segments: [TransactionNumber], _ range: ClosedRange<TransactionNumber>, _ header: SegmentHeader, _ kind: Format.FileKind
    ) throws -> Int {
        var header = header
        (header.version, header.kind) = (Format.version, kind)
        let path = LogFileName.path(range.lowerBound, .segment)
        let newPath = path + LogFileName.replacementSuffix
        if try volume.exists(newPath) { try volume.remove(newPath) }
        do {
            let byteCount = try write(segments, range, header, to: try volume.open(newPath, .create))
            try compare(newPath, with: segments, range, kind)
            try volume.rename(newPath, to: path)
            try volume.syncDirectory(LogReader.directory)
            return byteCount
        } catch {
            if (try? volume.exists(newPath)) == true { try? volume.remove(newPath) }  // Else the next opening removes it.
            throw error
        }
    }

    private func write(
        _ segments: [TransactionNumber], _ range: ClosedRange<TransactionNumber>, _ header: SegmentHeader, to file: any VolumeFile
    ) throws -> Int {
        defer { file.close() }
        var writer = try SealedSegmentWriter(file, header: header, frameByteCount: frameByteCount)
        var part = SegmentPart(volume, segments, range)
        while let record = try part.next() { try writer.append(header.kind == .retired ? try record.retired() : record) }
        let (joints, checksum) = try part.index()
        return try writer.finish(joints: joints, checksum: checksum)
    }

    /// Throws if the new file does not say the same as the segments whose place it is to take.
    private func compare(
        _ newPath: String, with segments: [TransactionNumber], _ range: ClosedRange<TransactionNumber>, _ kind: Format.FileKind
    ) throws {
        var (part, new) = (SegmentPart(volume, segments, range), try SegmentReader(volume, path: newPath))
        var rest: [LogRecord] = []
        func differs() -> CambiumError {
            CambiumError(.ioFailure, "The new segment is not the same as the one that it was made from.", place: .init(file: newPath))
        }
        while let record = try part.next() {
            if rest.isEmpty { rest = try new.nextFrame().map { $0.reversed() } ?? [] }
            let wanted = kind == .retired ? try record.retired() : record
            guard let other = rest.popLast(), other.isSame(as: wanted) else { throw differs() }
        }
        let (joints, checksum) = try part.index()
        guard rest.isEmpty, new.isAtEnd, try new.nextFrame() == nil, new.lastChecksum == checksum, new.index?.joints == joints else {
            throw differs()
        }
    }
}

extension LogRecord {
    /// The same without what it did.
    func retired() throws -> LogRecord {
        if case .redacted = payload { return self }
        var commitment = Leaf.Commitment(salt: salt.bytes(number))
        try payload.forEachPart { commitment.add($0) }
        return LogRecord(
            number: number, metadata: metadata, payload: .redacted(commitment: commitment.finish()), salt: salt, file: file,
            frameOffset: frameOffset, byteCount: byteCount)
    }

    /// Whether the two are the same transaction, wherever they lie.
    func isSame(as other: LogRecord) -> Bool {
        let texts = [metadata.actor, metadata.message, metadata.requestID]
        let others = [other.metadata.actor, other.metadata.message, other.metadata.requestID]
        return number == other.number && metadata == other.metadata && payload == other.payload && salt == other.salt
            && texts.map { $0.map { Array($0.utf8) } } == others.map { $0.map { Array($0.utf8) } }
    }
}
