import CambiumBytes
import CambiumModel

@testable import CambiumLog

/// The bytes of a segment, put together frame by frame. They may also be bytes that no writer writes.
struct SegmentImage {
    static let store = [UInt8](0..<16)
    static let time: Int64 = 1_700_000_000_000_000

    let header: SegmentHeader
    private(set) var bytes: [UInt8]
    /// The offsets at which the frames begin.
    private(set) var offsets: [Int] = []
    private(set) var lastTransaction: UInt64
    private(set) var lastChecksum: UInt32
    private var codec: TransactionCodec

    /// - Parameter previous: The checksum of the last frame of the segment before.
    init(first: UInt64, after previous: UInt32 = 0, kind: Format.FileKind = .open, store: [UInt8] = store, salt: UInt8 = 1) {
        header = SegmentHeader(
            kind: kind, store: store, firstTransaction: TransactionNumber(rawValue: first), creationTime: Self.time + Int64(first) - 1,
            saltSeed: [UInt8](repeating: salt, count: Format.saltByteCount), previousChecksum: previous)
        bytes = header.encode()
        codec = TransactionCodec(time: header.creationTime)
        lastTransaction = first - 1
        lastChecksum = previous
    }

    var path: String { LogFileName.path(header.firstTransaction, .segment) }
    private var headerChecksum: UInt32 { Self.checksum(bytes) }

    /// Returns the checksum of the header with which a file begins.
    static func checksum(_ bytes: [UInt8]) -> UInt32 { ByteReader.peek(bytes, at: Format.Segment.checksumOffset) }

    /// Appends a frame with `count` transactions, which states that everything before it was durable.
    mutating func append(_ count: Int = 1) {
        var region = ByteWriter()
        for _ in 0..<count { encodeNext(to: &region) }
        add(region.bytes, count)
    }

    /// Appends a frame with one transaction that has a payload.
    mutating func append(payload: [UInt8]) {
        var region = ByteWriter()
        encodeNext(payload, to: &region)
        add(region.bytes, 1)
    }

    /// Appends a joint: a frame without transactions that marks a position of the log. The arguments replace the correct position.
    mutating func appendJoint(transaction: UInt64? = nil, time: Int64? = nil) {
        let last = TransactionNumber(rawValue: transaction ?? lastTransaction)
        add(Joint(transaction: last, time: time ?? Self.time + Int64(lastTransaction)).region, 0)
        codec = TransactionCodec(time: Self.time + Int64(lastTransaction))
    }

    private mutating func add(_ content: [UInt8], _ count: Int) {
        let region = header.kind.isSealed ? header.saltSeed + content : content
        let frame = encoded(region, count, at: bytes.count, durable: bytes.count)
        offsets.append(bytes.count)
        lastChecksum = frame.checksum
        bytes += frame.bytes
    }

    private func encoded(_ region: [UInt8], _ count: Int, at offset: Int, durable: Int) -> (bytes: [UInt8], checksum: UInt32) {
        var frame = ByteWriter()
        let checksum = Frame.encode(
            region: region, transactionCount: count, at: offset, durableOffset: durable, headerChecksum: headerChecksum, to: &frame)
        return (frame.bytes, checksum)
    }

    private mutating func encodeNext(_ payload: [UInt8] = [], to region: inout ByteWriter) {
        lastTransaction += 1
        let metadata = TransactionMetadata(
            time: Timestamp(microsecondsSince1970: Self.time + Int64(lastTransaction)), actor: "actor \(lastTransaction % 2)")
        codec.encode(metadata, .present(payload[...]), salt: nil, to: &region)
    }

    /// Returns a frame with the next transaction that verifies at `offset` and states that the segment was durable up to `durable`.
    func frame(at offset: Int, durable: Int) -> [UInt8] {
        var region = ByteWriter()
        var copy = self
        copy.encodeNext(to: &region)
        return encoded(region.bytes, 1, at: offset, durable: durable).bytes
    }

    /// A frame that verifies at the end of the segment, but whose region does not contain the stated number of transactions.
    var unparsableFrame: [UInt8] {
        encoded([255, 255, 255], 1, at: bytes.count, durable: 0).bytes
    }

    /// A sealed segment with the same transactions, each in its own frame.
    var sealed: [UInt8] { sealed { _ in } }

    /// Returns the same bytes as `sealed`, but with a changed index.
    func sealed(_ change: (inout SegmentIndex) -> Void) -> [UInt8] {
        var image = SegmentImage(
            first: header.firstTransaction.rawValue, after: header.previousChecksum, kind: .sealed, store: header.store,
            salt: header.saltSeed[0])
        var index = SegmentIndex(previousChecksum: lastChecksum, joints: [])
        var lastTime = header.creationTime
        while image.lastTransaction < lastTransaction {
            image.codec = TransactionCodec(time: header.creationTime)
            let offset = image.bytes.count
            image.append()
            let time = Self.time + Int64(image.lastTransaction)
            index.entries.append(
                .init(byteCount: image.bytes.count - offset, transactionCount: 1, interval: UInt64(bitPattern: time - lastTime)))
            lastTime = time
        }
        change(&index)
        return image.bytes + index.encode(headerChecksum: image.headerChecksum)
    }

    /// Returns a header with a changed byte at an offset, and with a checksum that fits it.
    static func header(_ bytes: [UInt8], _ changed: UInt8, at offset: Int) -> [UInt8] {
        var content = Array(bytes.prefix(Format.Segment.checksumOffset))
        content[offset] = changed
        var writer = ByteWriter()
        writer.write(content)
        writer.write(CRC32C.checksum(content))
        return writer.bytes
    }
}
