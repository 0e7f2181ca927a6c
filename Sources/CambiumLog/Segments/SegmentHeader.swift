import CambiumBytes
import CambiumModel

/// The 96 bytes that a segment begins with. FORMAT.md 2.
struct SegmentHeader: Equatable {
    /// 16 bytes.
    var store: [UInt8]
    var firstTransaction: TransactionNumber
    /// Microseconds since 1970.
    var creationTime: Int64
    /// 16 bytes.
    var saltSeed: [UInt8]
    /// The checksum of the last frame of the segment before.
    var previousChecksum: UInt32

    static func fileName(_ first: TransactionNumber) -> String {
        let digits = String(first.rawValue)
        return String(repeating: "0", count: 20 - digits.count) + digits + ".log"
    }

    /// The first transaction that a file name tells; nil for a name that is not a segment's.
    static func firstTransaction(fileName: String) -> TransactionNumber? {
        guard fileName.utf8.count == 24, fileName.hasSuffix(".log"), let number = UInt64(fileName.dropLast(4)), number > 0,
            self.fileName(TransactionNumber(rawValue: number)) == fileName
        else { return nil }
        return TransactionNumber(rawValue: number)
    }

    func encode() -> [UInt8] {
        var writer = ByteWriter(capacity: Format.Segment.headerByteCount)
        writer.write(Format.Segment.magic)
        writer.write(Format.version)
        writer.write([UInt8](repeating: 0, count: 6))
        writer.write(store)
        writer.write(firstTransaction.rawValue)
        writer.write(creationTime)
        writer.write(saltSeed)
        writer.write(previousChecksum)
        writer.write([UInt8](repeating: 0, count: 24))
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    /// The header and its checksum. Throws where the bytes are not those of one.
    static func decode(_ bytes: [UInt8]) throws(DecodingError) -> (header: SegmentHeader, checksum: UInt32) {
        guard bytes.count >= Format.Segment.headerByteCount else { throw .truncated(offset: bytes.count) }
        let content = Array(bytes[0..<Format.Segment.checksumOffset])
        var reader = ByteReader(bytes[0..<Format.Segment.headerByteCount])
        guard try reader.readBytes(8).elementsEqual(Format.Segment.magic) else { throw .invalid("not a segment", offset: 0) }
        let version = try reader.read(UInt16.self)
        let checksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        guard checksum == CRC32C.checksum(content) else {
            throw .invalid("a header whose checksum does not fit", offset: Format.Segment.checksumOffset)
        }
        guard version == Format.version else { throw .invalid("format version \(version)", offset: Format.Segment.versionOffset) }
        guard try reader.readBytes(6).allSatisfy({ $0 == 0 }) else { throw .invalid("flags that are not known", offset: 10) }
        let header = SegmentHeader(
            store: Array(try reader.readBytes(16)), firstTransaction: TransactionNumber(rawValue: try reader.read(UInt64.self)),
            creationTime: try reader.read(Int64.self), saltSeed: Array(try reader.readBytes(16)),
            previousChecksum: try reader.read(UInt32.self))
        return (header, checksum)
    }
}

extension ByteReader {
    /// A u32 at an offset that lies inside of the bytes.
    static func peek(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }
}
