import CambiumBytes
internal import CambiumModel

/// A writer of one sealed or retired segment (a log file that gets no more frames). FORMAT.md 3.
struct SealedSegmentWriter {
    private let file: any VolumeFile
    private let header: SegmentHeader
    private let headerChecksum: UInt32
    private let frameByteCount: Int
    private var offset: Int
    private var index = SegmentIndex(previousChecksum: 0)
    private var codec: TransactionCodec
    private var writer = ByteWriter()
    private var count = 0
    /// The salt seed of the transactions in the frame that is being filled.
    private var saltSeed: [UInt8]
    private var firstTime: Int64
    private var lastFirstTime: Int64
    private var repetition = TextRepetition()

    /// The number of bytes of transactions at which a frame always ends, even if it repeats many texts of earlier frames. The limit
    /// bounds the memory of a reader, which decodes a frame as a whole.
    private static let regionByteCountMax = 64 << 20
    /// The number of transactions at which a frame with `frameByteCount` bytes always ends, even if it repeats many texts.
    private static let transactionCountMax = 1 << 18

    /// - Parameter frameByteCount: the number of bytes of transactions at which a frame is complete. A frame becomes longer if it would
    ///   repeat too many texts of earlier frames.
    init(_ file: any VolumeFile, header: SegmentHeader, frameByteCount: Int) throws(CambiumError) {
        let bytes = header.encode()
        self.file = file
        self.header = header
        self.frameByteCount = frameByteCount
        headerChecksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        offset = bytes.count
        saltSeed = header.saltSeed
        codec = TransactionCodec(time: header.creationTime)
        firstTime = header.creationTime
        lastFirstTime = header.creationTime
        try file.write(bytes, at: 0)
    }

    mutating func append(_ record: LogRecord) throws(CambiumError) {
        var explicit: [UInt8]?
        switch record.salt {
        case .explicit(let bytes): explicit = bytes
        case .seed(let seed) where seed != saltSeed:
            try writeFrame()
            saltSeed = seed
        case .seed: break
        }
        if count == 0 {
            firstTime = record.metadata.time.microsecondsSince1970
            writer.write(saltSeed)
        }
        codec.encode(record.metadata, StoredPayload(record.payload), salt: explicit, to: &writer)
        count += 1
        repetition.track(record)
        let isLong = writer.count >= Self.regionByteCountMax || count >= Self.transactionCountMax
        if writer.count >= frameByteCount, isLong || !repetition.isTooLarge { try writeFrame() }
    }

    private mutating func writeFrame() throws(CambiumError) {
        if count == 0 { return }
        var frame = ByteWriter()
        _ = Frame.encode(
            region: writer.bytes, transactionCount: count, at: offset, durableOffset: 0, headerChecksum: headerChecksum, to: &frame)
        try file.write(frame.bytes, at: offset)
        index.entries.append(
            .init(byteCount: frame.count, transactionCount: count, interval: UInt64(bitPattern: firstTime &- lastFirstTime)))
        offset += frame.count
        lastFirstTime = firstTime
        codec = TransactionCodec(time: header.creationTime)
        repetition.beginFrame()
        writer.removeAll(keepingAtMost: 1 << 20)
        count = 0
    }

    /// Writes the index and syncs the file. Returns the length of the file in bytes.
    ///
    /// - Parameter checksum: the checksum that the next segment states.
    mutating func finish(joints: [SegmentIndex.Joint], checksum: UInt32) throws(CambiumError) -> Int {
        try writeFrame()
        index.joints = joints
        index.previousChecksum = checksum
        let bytes = index.encode(headerChecksum: headerChecksum)
        try file.write(bytes, at: offset)
        try file.sync()
        return offset + bytes.count
    }
}
