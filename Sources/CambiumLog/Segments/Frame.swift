import CambiumBytes

/// A frame: the part of a log file that is verified as a whole. It contains transactions or, in a file of ops, the ops of one transaction.
/// FORMAT.md 3.
struct Frame {
    /// The offset of the frame from the beginning of the file.
    let offset: Int
    let byteCount: Int
    let checksum: UInt32
    /// The offset up to which the segment was durable, according to the writer of the frame; 0 if the writer knew of no durable part.
    let durableOffset: Int
    let transactionCount: Int
    /// The transactions, uncompressed. If the file stores them uncompressed, the slice shares memory with all bytes that were read
    /// together. So a slice that is kept also keeps the other bytes in memory.
    let region: ArraySlice<UInt8>

    var end: Int { offset + byteCount }

    // MARK: Encoding

    /// Encodes a frame that will begin at `offset` in its file, and writes it to an empty buffer.
    ///
    /// - Returns: the checksum of the frame.
    static func encode(
        region: [UInt8], transactionCount: Int, at offset: Int, durableOffset: Int, headerChecksum: UInt32,
        to frame: inout ByteWriter
    ) -> UInt32 {
        let blocks = region.count >= Format.Frame.compressedByteCountMin ? Blocks.encode(region) : nil
        let distance = UInt64(offset - durableOffset)
        let count = UInt64(transactionCount) << 1 | (blocks == nil ? 0 : 1)
        let contentByteCount = blocks?.count ?? region.count
        frame.writeVarint(ByteWriter.varintByteCount(distance) + ByteWriter.varintByteCount(count) + contentByteCount)
        let lengthByteCount = frame.count
        frame.write(UInt32(0))
        frame.writeVarint(distance)
        frame.writeVarint(count)
        frame.write(blocks ?? region)
        let checksum = frame.bytes.withUnsafeBytes {
            Self.checksum(
                headerChecksum, offset, length: UnsafeRawBufferPointer(rebasing: $0[..<lengthByteCount]),
                body: UnsafeRawBufferPointer(rebasing: $0[(lengthByteCount + Format.Frame.checksumByteCount)...]))
        }
        frame.overwrite(checksum, at: lengthByteCount)
        return checksum
    }

    static func checksum(
        _ headerChecksum: UInt32, _ offset: Int, length: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) -> UInt32 {
        var checksum = withUnsafeBytes(of: headerChecksum.littleEndian) { CRC32C.checksum($0, from: 0) }
        checksum = withUnsafeBytes(of: UInt64(offset).littleEndian) { CRC32C.checksum($0, from: checksum) }
        checksum = CRC32C.checksum(length, from: checksum)
        return CRC32C.checksum(body, from: checksum)
    }

    // MARK: Decoding

    /// The fields at the start of a frame, which are read before its body.
    struct Start {
        let lengthByteCount: Int
        let bodyByteCount: Int
        let checksum: UInt32

        var headerByteCount: Int { lengthByteCount + Format.Frame.checksumByteCount }
        var byteCount: Int { headerByteCount + bodyByteCount }

        /// Decodes the first bytes of a frame. Any number of bytes may follow. Returns `nil` if no frame can begin with these bytes.
        init?(_ bytes: UnsafeRawBufferPointer) {
            var (count, end, isComplete) = (0, 0, false)
            while !isComplete {
                guard end < min(bytes.count, Format.Frame.lengthByteCountMax) else { return nil }
                count |= Int(bytes[end] & 0x7F) << (7 * end)
                isComplete = bytes[end] < 0x80
                // A length that ends with a superfluous zero byte is refused, so that each length has only one encoding.
                if isComplete, bytes[end] == 0, end > 0 { return nil }
                end += 1
            }
            guard count >= Format.Frame.bodyByteCountMin, count <= Format.Frame.bodyByteCountMax,
                end + Format.Frame.checksumByteCount <= bytes.count
            else { return nil }
            lengthByteCount = end
            bodyByteCount = count
            // SAFETY: the guard above ensures that the checksum lies within the bytes.
            checksum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
        }

        /// Returns the number of transactions that the frame states, or `nil` if `bytes`, which begin with the frame, do not have it.
        func transactionCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
            let end = min(bytes.count, byteCount)
            var place = headerByteCount
            while place < end, bytes[place] >= 0x80 { place += 1 }
            place += 1
            var (count, shift) = (UInt64(0), UInt64(0))
            while place < end, shift < 63 {
                count |= UInt64(bytes[place] & 0x7F) << shift
                if bytes[place] < 0x80 { return Int(count >> 1) }
                (place, shift) = (place + 1, shift + 7)
            }
            return nil
        }

        /// Whether the checksum of a whole frame equals the checksum that the start of the frame states.
        func verifies(_ frame: UnsafeRawBufferPointer, at offset: Int, headerChecksum: UInt32) -> Bool {
            checksum
                == Frame.checksum(
                    headerChecksum, offset, length: UnsafeRawBufferPointer(rebasing: frame[..<lengthByteCount]),
                    body: UnsafeRawBufferPointer(rebasing: frame[headerByteCount...]))
        }
    }

    /// Returns the offset up to which the log was durable according to a frame, or `nil` if no frame can have this body.
    static func durableOffset(_ body: ArraySlice<UInt8>, at offset: Int) -> Int? {
        var reader = ByteReader(body)
        guard let distance = try? reader.readVarint(), distance <= UInt64(offset) else { return nil }  // Such a body is not an error here.
        return offset - Int(distance)
    }

    /// Decodes a frame whose checksum was verified. Throws if no encoder would write such a body.
    static func decode(_ start: Start, _ body: ArraySlice<UInt8>, at offset: Int) throws(DecodingError) -> Frame {
        var reader = ByteReader(body)
        let distance = try reader.readVarint()
        let count = try reader.readVarint()
        guard distance <= UInt64(offset), count >> 1 <= UInt64(Format.Frame.regionByteCountMax) else {
            throw .invalid("a distance or a number of transactions that is out of range", offset: 0)
        }
        let rest = try reader.readBytes(reader.remaining)
        return Frame(
            offset: offset, byteCount: start.byteCount, checksum: start.checksum, durableOffset: offset - Int(distance),
            transactionCount: Int(count >> 1), region: count & 1 == 0 ? rest : try Blocks.decode(rest)[...])
    }
}

/// The transactions of a frame (its region), divided into blocks of 1 MiB. Each block is compressed if compression makes the block smaller.
enum Blocks {
    /// Returns the blocks, or `nil` if compression does not make the region smaller.
    static func encode(_ region: [UInt8]) -> [UInt8]? {
        var writer = ByteWriter(capacity: region.count / 2)
        writer.writeVarint(region.count)
        region.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Format.Frame.blockByteCount) {
                let block = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Format.Frame.blockByteCount, bytes.count)])
                let compressed = LZ4.compress(block)
                writer.writeVarint(UInt64(compressed?.count ?? block.count) << 1 | (compressed == nil ? 0 : 1))
                if let compressed { writer.write(compressed) } else { writer.write(block) }
            }
        }
        return writer.count < region.count ? writer.bytes : nil
    }

    static func decode(_ bytes: ArraySlice<UInt8>) throws(DecodingError) -> [UInt8] {
        var reader = ByteReader(bytes)
        let count = try reader.readCount(max: Format.Frame.regionByteCountMax, "bytes of a region")
        // LZ4 can shrink data at most to a 255th. A count that would require stronger compression is rejected before memory is allocated.
        guard count / 256 <= bytes.count else { throw .truncated(offset: reader.offset) }
        var region: [UInt8] = []
        region.reserveCapacity(count)
        while region.count < count {
            let offset = reader.offset
            let expected = min(Format.Frame.blockByteCount, count - region.count)
            let stored = try reader.readVarint()
            let block = try reader.readBytes(Int(min(stored >> 1, UInt64(Format.Frame.bodyByteCountMax))))
            if stored & 1 == 0 {
                guard block.count == expected else { throw .invalid("a block of \(block.count) bytes", offset: offset) }
                region.append(contentsOf: block)
            } else {
                guard let plain = block.withUnsafeBytes({ LZ4.decompress($0, byteCount: expected) }) else {
                    throw .invalid("a block that LZ4 cannot decompress", offset: offset)
                }
                region.append(contentsOf: plain)
            }
        }
        try reader.finish()
        return region
    }
}
