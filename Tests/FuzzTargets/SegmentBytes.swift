import CambiumBytes

/// The bytes of a segment (a file of the log) with recomputed checksums. This type does not use the encoders, but follows sections 2 and 3
/// of FORMAT.md. So bytes that no encoder writes pass the test of the checksums, and reach the decoders.
struct SegmentBytes {
    static let headerByteCount = 96

    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a segment with a header and a frame around each body.
    init(header: [UInt8], bodies: [[UInt8]]) {
        var writer = ByteWriter()
        writer.write(header)
        for body in bodies {
            writer.writeVarint(body.count)
            writer.write(UInt32(0))
            writer.write(body)
        }
        self.init(writer.bytes)
        mend()
    }

    /// Recomputes the checksum of the header and of each frame before the first one that does not end inside the file.
    mutating func mend() {
        guard bytes.count >= Self.headerByteCount else { return }
        store(CRC32C.checksum(Array(bytes[..<92])), at: 92)
        for frame in frames() {
            var writer = ByteWriter()
            writer.write(bytes[92..<96])
            writer.write(UInt64(frame.start))
            writer.write(bytes[frame.start..<frame.body.lowerBound - 4])
            writer.write(bytes[frame.body])
            store(CRC32C.checksum(writer.bytes), at: frame.body.lowerBound - 4)
        }
        mendTrailer()
    }

    /// Makes the 12-byte trailer of a sealed segment lead to the last frame, if exactly 12 bytes follow that frame.
    private mutating func mendTrailer() {
        guard bytes[10] == 1, let last = frames().last, bytes.count - last.body.upperBound == 12 else { return }
        var writer = ByteWriter()
        writer.write(bytes[92..<96])
        writer.write(UInt64(last.start))
        bytes.replaceSubrange(last.body.upperBound..<last.body.upperBound + 8, with: writer.bytes.dropFirst(4))
        store(CRC32C.checksum(writer.bytes), at: bytes.count - 4)
    }

    /// The bodies of the frames, whether or not their checksums match.
    var bodies: [[UInt8]] { frames().map { Array(bytes[$0.body]) } }

    private func frames() -> [(start: Int, body: Range<Int>)] {
        var frames: [(start: Int, body: Range<Int>)] = []
        var start = Self.headerByteCount
        while start < bytes.count {
            var reader = ByteReader(bytes[start...])
            guard let length = try? reader.readVarint() else { break }  // No frame.
            let body = start + reader.offset + 4
            guard length > 0, body <= bytes.count, length <= UInt64(bytes.count - body) else { break }
            frames.append((start, body..<body + Int(length)))
            start = body + Int(length)
        }
        return frames
    }

    private mutating func store(_ checksum: UInt32, at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    }
}
