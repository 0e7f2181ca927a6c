import CambiumBytes
public import CambiumModel

/// Writes segments that get no more frames again: in larger blocks, with an index. FORMAT.md 2, "Segments".
///
/// It needs no lock but that of the store, and no writer to wait: the segment stays what it is, under the same name.
public struct SegmentSealer: Sendable {
    private let volume: any Volume
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
        let path = LogFileName.path(segment, .segment)
        let newPath = path + LogFileName.replacementSuffix
        var reader = try SegmentReader(volume, path: path)
        if reader.header.kind == kind || reader.header.kind == .retired { return nil }
        if try volume.exists(newPath) { try volume.remove(newPath) }
        do {
            let byteCount = try write(&reader, kind, to: try volume.open(newPath, .create))
            guard reader.isAtEnd else {
                throw CambiumError(.damaged, "A frame does not verify, so the segment stays as it is.", place: .init(file: path))
            }
            try compare(newPath, with: path, kind)
            try volume.rename(newPath, to: path)
            try volume.syncDirectory(LogReader.directory)
            return (reader.byteCount, byteCount)
        } catch {
            if (try? volume.exists(newPath)) == true { try? volume.remove(newPath) }  // Else the next opening removes it.
            throw error
        }
    }

    /// Throws where the new file does not tell the same as the one whose place it is to take.
    private func compare(_ newPath: String, with path: String, _ kind: Format.FileKind) throws {
        var (old, new) = (try SegmentReader(volume, path: path), try SegmentReader(volume, path: newPath))
        var rest: [LogRecord] = []
        func differs() -> CambiumError {
            CambiumError(.ioFailure, "The new segment is not the same as the one that it was made from.", place: .init(file: path))
        }
        while let records = try old.nextFrame() {
            for record in records {
                if rest.isEmpty { rest = try new.nextFrame().map { $0.reversed() } ?? [] }
                let wanted = kind == .retired ? try record.retired() : record
                guard let other = rest.popLast(), other.isSame(as: wanted) else {
                    throw differs()
                }
            }
        }
        guard rest.isEmpty, new.isAtEnd, try new.nextFrame() == nil, new.lastChecksum == old.lastChecksum else { throw differs() }
    }

    /// Writes what a reader reads; returns the bytes of the file.
    private func write(_ reader: inout SegmentReader, _ kind: Format.FileKind, to file: any VolumeFile) throws -> Int {
        defer { file.close() }
        var header = reader.header
        header.kind = kind
        let bytes = header.encode()
        try file.write(bytes, at: 0)
        var block = SealedBlock(header: header, headerChecksum: ByteReader.peek(bytes, at: Format.Segment.checksumOffset))
        while let records = try reader.nextFrame() {
            for record in records {
                block.append(kind == .retired ? try record.retired() : record)
                if block.byteCount >= frameByteCount { try block.write(to: file) }
            }
        }
        if block.byteCount > 0 { try block.write(to: file) }
        block.index.previousChecksum = reader.lastChecksum
        let index = block.index.encode(headerChecksum: block.headerChecksum)
        try file.write(index, at: block.offset)
        try file.sync()
        return block.offset + index.count
    }
}

/// Transactions that are going to be a frame of a sealed segment.
private struct SealedBlock {
    let header: SegmentHeader
    let headerChecksum: UInt32
    private(set) var offset = Format.Segment.headerByteCount
    var index = SegmentIndex(previousChecksum: 0)
    private var codec: TransactionCodec
    private var writer = ByteWriter()
    private var count = 0
    private var firstTime: Int64
    private var lastFirstTime: Int64

    init(header: SegmentHeader, headerChecksum: UInt32) {
        self.header = header
        self.headerChecksum = headerChecksum
        codec = TransactionCodec(time: header.creationTime)
        firstTime = header.creationTime
        lastFirstTime = header.creationTime
    }

    var byteCount: Int { writer.count }

    mutating func append(_ record: LogRecord) {
        if count == 0 { firstTime = record.metadata.time.microsecondsSince1970 }
        let salt: [UInt8]? = if case .explicit(let bytes) = record.salt { bytes } else { nil }
        codec.encode(record.metadata, StoredPayload(record.payload), salt: salt, to: &writer)
        count += 1
    }

    mutating func write(to file: any VolumeFile) throws(CambiumError) {
        var frame = ByteWriter()
        _ = Frame.encode(
            region: writer.bytes, transactionCount: count, at: offset, durableOffset: 0, headerChecksum: headerChecksum, to: &frame)
        try file.write(frame.bytes, at: offset)
        index.entries.append(
            .init(byteCount: frame.count, transactionCount: count, interval: UInt64(bitPattern: firstTime &- lastFirstTime)))
        offset += frame.count
        lastFirstTime = firstTime
        codec = TransactionCodec(time: header.creationTime)
        writer.removeAll(keepingAtMost: 1 << 20)
        count = 0
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
