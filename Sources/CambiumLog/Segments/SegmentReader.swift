import CambiumBytes
public import CambiumModel

/// A transaction as it lies in the log.
public struct LogRecord: Sendable {
    public let number: TransactionNumber
    public let metadata: TransactionMetadata
    public let payload: Payload
    let salt: Salt
    /// The file that holds it, and its frame's offset there.
    public let file: String
    public let frameOffset: Int
    /// Bytes of the log that are its own: those of its frame, where it is the only one in it, else its share of them.
    public let byteCount: Int

    /// The ops. Throws `.damaged` where they cannot be decoded, `.notFound` where they were redacted.
    public func ops() throws(CambiumError) -> [Op] {
        guard case .present(let bytes) = payload else {
            throw CambiumError(.notFound, "What transaction \(number) did was redacted.")
        }
        do {
            return try OpCodec.decode(bytes)
        } catch {
            throw CambiumError(
                .damaged, "Transaction \(number) cannot be decoded (\(error)).", place: .init(file: file), underlying: error)
        }
    }

    /// The transaction with its ops.
    public func transaction() throws(CambiumError) -> Transaction {
        Transaction(number: number, metadata: metadata, ops: try ops())
    }

    /// 32 bytes: the transaction's leaf in the tree.
    public func leafHash() -> [UInt8] {
        let commitment =
            switch payload {
            case .present(let bytes): Leaf.commitment(salt: salt.bytes(number), payload: bytes)
            case .redacted(let commitment): commitment
            }
        return Array(Leaf.hash(number, metadata, commitment: commitment))
    }
}

/// What a payload is hashed with, so that its hash gives nothing of it away.
enum Salt: Sendable {
    case seed([UInt8])
    case explicit([UInt8])

    /// 16 bytes.
    func bytes(_ number: TransactionNumber) -> [UInt8] {
        switch self {
        case .seed(let seed): Leaf.salt(seed: seed, number)
        case .explicit(let bytes): bytes
        }
    }
}

/// Goes through the frames of one segment, verifying each before it is used.
struct SegmentReader {
    let path: String
    let header: SegmentHeader
    let headerChecksum: UInt32
    let byteCount: Int
    private let file: any VolumeFile
    private(set) var offset = Format.Segment.headerByteCount
    /// The checksum of the last frame that was read.
    private(set) var lastChecksum: UInt32 = 0
    /// The greatest offset up to which a frame that was read says that the segment was durable.
    private(set) var durableOffset = 0
    private(set) var next: TransactionNumber
    private(set) var codec: TransactionCodec
    private var window: [UInt8] = []
    private var windowOffset = 0

    static let windowByteCount = 1 << 20

    /// Throws a `DecodingError` for a header that is none, `CambiumError` where the file cannot be read.
    init(_ volume: any Volume, path: String) throws {
        self.path = path
        file = try volume.open(path, .read)
        byteCount = try file.byteCount()
        (header, headerChecksum) = try SegmentHeader.decode(try file.read(at: 0, count: Format.Segment.headerByteCount))
        next = header.firstTransaction
        codec = TransactionCodec(time: header.creationTime)
    }

    /// Makes what was in the file when it was opened durable; later bytes are not read.
    func sync() throws(CambiumError) { try file.sync() }

    var isAtEnd: Bool { offset == byteCount }

    /// The records of the next frame; nil where no frame verifies at `offset`.
    ///
    /// Throws `.damaged` for a frame that verifies and cannot be decoded all the same.
    mutating func nextFrame() throws(CambiumError) -> [LogRecord]? {
        guard let (start, body) = try verifiedFrame(at: offset) else { return nil }
        do {
            let frame = try Frame.decode(start, body, at: offset)
            let records = try records(frame)
            offset = frame.end
            lastChecksum = frame.checksum
            durableOffset = max(durableOffset, frame.durableOffset)
            return records
        } catch {
            throw CambiumError(
                .damaged, "The frame at \(offset) verifies and cannot be decoded (\(error)).",
                place: .init(file: path), underlying: error)
        }
    }

    private mutating func records(_ frame: Frame) throws(DecodingError) -> [LogRecord] {
        var reader = ByteReader(frame.region)
        var records: [LogRecord] = []
        records.reserveCapacity(min(frame.transactionCount, frame.region.count))
        for _ in 0..<frame.transactionCount {
            let (metadata, salt, payload) = try codec.decode(&reader)
            records.append(
                LogRecord(
                    number: next, metadata: metadata, payload: payload, salt: salt.map { .explicit($0) } ?? .seed(header.saltSeed),
                    file: path, frameOffset: frame.offset, byteCount: frame.byteCount / frame.transactionCount))
            next = next.next
        }
        try reader.finish()
        return records
    }

    /// The frame at an offset, if its checksum fits.
    private mutating func verifiedFrame(at offset: Int) throws(CambiumError) -> (Frame.Start, ArraySlice<UInt8>)? {
        let first = try bytes(at: offset, count: Format.Frame.headerByteCountMax)
        guard let start = try? Frame.Start(first), offset + start.byteCount <= byteCount else { return nil }  // No frame.
        let body = try bytes(at: offset + start.headerByteCount, count: start.bodyByteCount)
        return Frame.verifies(start, body, at: offset, headerChecksum: headerChecksum) ? (start, body) : nil
    }

    /// Bytes of the file, fewer at its end.
    private mutating func bytes(at offset: Int, count: Int) throws(CambiumError) -> ArraySlice<UInt8> {
        let end = min(offset + count, byteCount)
        guard offset < end else { return [] }
        if offset < windowOffset || end > windowOffset + window.count {
            window = try file.read(at: offset, count: max(end - offset, Self.windowByteCount))
            windowOffset = offset
        }
        let start = min(offset - windowOffset, window.count)
        return window[start..<min(end - windowOffset, window.count)]
    }

    /// Whether nothing but zeros is behind `offset`: room that a writer kept for more.
    mutating func isRoomBehind() throws(CambiumError) -> Bool {
        var position = offset
        while position < byteCount {
            let part = try bytes(at: position, count: Self.windowByteCount)
            guard !part.isEmpty, part.allSatisfy({ $0 == 0 }) else { return false }
            position += part.count
        }
        return true
    }

    /// How far a frame behind `offset` says that the log was durable; 0 where none says so beyond it. Memory for the bytes there.
    func durableOffsetToldBehind() throws(CambiumError) -> Int {
        let tail = try file.read(at: offset, count: byteCount - offset)
        return TailSearch(tail, at: offset, headerChecksum: headerChecksum).durableOffsetTold()
    }
}
