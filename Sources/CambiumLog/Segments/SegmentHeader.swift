import CambiumBytes
internal import CambiumModel

/// The first 96 bytes of a segment. FORMAT.md 2.
struct SegmentHeader: Equatable {
    var kind = Format.FileKind.open
    /// The id of the store, 16 bytes.
    var store: [UInt8]
    /// The first transaction of the segment. In a file of ops, the transaction to which the ops belong.
    var firstTransaction: TransactionNumber
    /// The time when the segment was created, in microseconds since 1970.
    var creationTime: Int64
    /// The seed from which the salts of the transactions are derived, 16 bytes.
    var saltSeed: [UInt8]
    /// The checksum of the last frame of the preceding segment.
    var previousChecksum: UInt32

    func encode() -> [UInt8] {
        var writer = ByteWriter(capacity: Format.Segment.headerByteCount)
        writer.write(Format.Segment.magic)
        writer.write(Format.version)
        writer.writeByte(kind.rawValue)
        writer.write([UInt8](repeating: 0, count: 5))
        writer.write(store)
        writer.write(firstTransaction.rawValue)
        writer.write(creationTime)
        writer.write(saltSeed)
        writer.write(previousChecksum)
        writer.write([UInt8](repeating: 0, count: 24))
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    /// Reads the header at the beginning of a file. Returns the header and its checksum.
    ///
    /// Throws `.corrupted`, with a `HeaderFailure` as the underlying error, if the file does not begin with a header. Throws
    /// `.unsupportedFormat` if the header is in a later format, and `.ioFailure` if the file cannot be read.
    static func read(_ file: any VolumeFile, path: String) throws(CambiumError) -> (header: SegmentHeader, checksum: UInt32) {
        let bytes = try file.read(at: 0, count: Format.Segment.headerByteCount)
        do {
            return try decode(bytes, file: path)
        } catch let error as DecodingError {
            throw CambiumError(
                .corrupted,
                "The header of the file is corrupt (\(error)). "
                    + "Restore the file from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: path),
                underlying: HeaderFailure(reason: error))
        } catch {
            throw error as? CambiumError ?? CambiumError(.corrupted, "\(error)", place: .init(file: path), underlying: error)
        }
    }

    /// Decodes a header. Returns the header and its checksum.
    ///
    /// Throws a `DecodingError` if the bytes are not a header, and `.unsupportedFormat` if the header is in a later format.
    static func decode(_ bytes: [UInt8], file: String) throws -> (header: SegmentHeader, checksum: UInt32) {
        guard bytes.count >= Format.Segment.headerByteCount else { throw DecodingError.truncated(offset: bytes.count) }
        let content = Array(bytes[0..<Format.Segment.checksumOffset])
        var reader = ByteReader(bytes[0..<Format.Segment.headerByteCount])
        guard try reader.readBytes(8).elementsEqual(Format.Segment.magic) else {
            throw DecodingError.invalid("bytes that are not a segment", offset: 0)
        }
        let version = try reader.read(UInt16.self)
        let checksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        guard checksum == CRC32C.checksum(content) else {
            throw DecodingError.invalid("a header whose checksum does not match", offset: Format.Segment.checksumOffset)
        }
        guard let kind = Format.FileKind(rawValue: try reader.readByte()), version == Format.version,
            try reader.readBytes(5).allSatisfy({ $0 == 0 }), content[Format.Segment.reservedOffset...].allSatisfy({ $0 == 0 })
        else {
            throw CambiumError(
                .unsupportedFormat,
                "The file has format \(version), or a kind or a field that this program does not know. This program reads format "
                    + "\(Format.version). Use the version of Cambium that wrote the file.",
                place: .init(file: file))
        }
        let header = SegmentHeader(
            kind: kind, store: Array(try reader.readBytes(16)),
            firstTransaction: TransactionNumber(rawValue: try reader.read(UInt64.self)),
            creationTime: try reader.read(Int64.self), saltSeed: Array(try reader.readBytes(16)),
            previousChecksum: try reader.read(UInt32.self))
        guard (1...Format.transactionMax).contains(header.firstTransaction.rawValue) else {
            throw DecodingError.invalid("a transaction number that is out of range", offset: Format.Segment.firstTransactionOffset)
        }
        return (header, checksum)
    }
}

extension SegmentHeader {
    /// Corrects a header with one corrupt byte. Returns the header and its checksum, or `nil` if more than one byte is corrupt.
    ///
    /// The difference between the stored and the computed checksum identifies the corrupt byte: no other change to a single byte has the
    /// same effect. Complexity: O(1), about 23,000 checksums.
    static func corrected(_ bytes: [UInt8], file: String) -> (header: SegmentHeader, checksum: UInt32)? {
        guard bytes.count == Format.Segment.headerByteCount else { return nil }
        let content = Array(bytes[..<Format.Segment.checksumOffset])
        let stored: UInt32 = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        let difference = CRC32C.checksum(content) ^ stored
        var fixed = bytes
        if (0..<4).contains(where: { difference & ~(0xFF << UInt32(8 * $0)) == 0 }) {
            // The checksums differ in one byte only, so the corrupt byte is in the stored checksum.
            let checksum = difference ^ stored
            for place in 0..<4 { fixed[Format.Segment.checksumOffset + place] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * place)) }
            return try? decode(fixed, file: file)  // If this fails, the caller reports the original bytes as corrupt.
        }
        // The effect of a changed byte on the checksum does not depend on the other bytes, so the effect can be computed with zeros.
        let zeros = [UInt8](repeating: 0, count: content.count)
        let none = CRC32C.checksum(zeros)
        for place in content.indices {
            for change in UInt8(1)...255 {
                var changed = zeros
                changed[place] = change
                guard CRC32C.checksum(changed) ^ none == difference else { continue }
                fixed[place] ^= change
                return try? decode(fixed, file: file)  // If this fails, the caller reports the original bytes as corrupt.
            }
        }
        return nil
    }
}

extension ByteReader {
    /// Returns the 32-bit number at an offset. All four bytes must lie inside `bytes`.
    static func peek(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }
}

/// The reason why a file of the log does not begin with a valid header.
struct HeaderFailure: Error {
    let reason: DecodingError
}

extension CambiumError {
    /// The reason why a file of the log does not begin with a header; `nil` for any other error.
    var headerFailure: DecodingError? { (underlying as? HeaderFailure)?.reason }
}
