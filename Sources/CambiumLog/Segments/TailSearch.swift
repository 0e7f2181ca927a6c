import CambiumBytes

/// A search for frames in bytes that do not begin with a frame. A frame may begin at any byte.
///
/// The checksum of a frame can be computed from two others: the checksums of all bytes before the frame, and of all bytes up to its end. So
/// a test of whether a frame begins at a byte need not read the whole frame. The search keeps a checksum for every 64 bytes, which takes
/// one sixteenth of the memory of the bytes.
struct TailSearch {
    /// The distance in bytes between two offsets in `prefixes`.
    private static let stride = 64

    private let bytes: [UInt8]
    /// The offset of `bytes` in the segment's file.
    private let offset: Int
    private let headerChecksum: UInt32
    /// The checksum of all bytes before each offset that is a multiple of the stride.
    private let prefixes: [UInt32]

    /// - Parameter offset: the offset of the bytes in the segment's file. The bytes extend to the end of the file.
    init(_ bytes: [UInt8], at offset: Int, headerChecksum: UInt32) {
        self.bytes = bytes
        self.offset = offset
        self.headerChecksum = headerChecksum
        prefixes = bytes.withUnsafeBytes { bytes in
            var checksum: UInt32 = 0
            var prefixes: [UInt32] = []
            prefixes.reserveCapacity(bytes.count / Self.stride + 1)
            for start in Swift.stride(from: 0, through: bytes.count, by: Self.stride) {
                prefixes.append(checksum)
                let end = min(start + Self.stride, bytes.count)
                checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), from: checksum)
            }
            return prefixes
        }
    }

    /// Returns the highest offset beyond `offset` up to which the segment was durable according to a frame; 0 if no frame states such an
    /// offset.
    ///
    /// Complexity: O(bytes log bytes).
    func durableOffsetStated() -> Int {
        var found = 0
        bytes.withUnsafeBytes { all in
            for place in all.indices where all[place] != 0 {
                // Most offsets are skipped here, because no frame can begin with the bytes there.
                guard let start = Frame.Start(UnsafeRawBufferPointer(rebasing: all[place...])) else { continue }
                let bodyStart = place + start.headerByteCount
                let end = bodyStart + start.bodyByteCount
                guard end <= all.count, let durable = Frame.durableOffset(bytes[bodyStart..<end], at: offset + place), durable > offset,
                    durable > found
                else { continue }
                let length = UnsafeRawBufferPointer(rebasing: all[place..<place + start.lengthByteCount])
                let beforeBody = Frame.checksum(headerChecksum, offset + place, length: length, body: .init(start: nil, count: 0))
                let ofBody = prefix(end) ^ CRC32C.combined(prefix(bodyStart), 0, secondByteCount: start.bodyByteCount)
                if CRC32C.combined(beforeBody, ofBody, secondByteCount: start.bodyByteCount) == start.checksum { found = durable }
            }
        }
        return found
    }

    /// Returns the checksum of the first `count` bytes.
    private func prefix(_ count: Int) -> UInt32 {
        let kept = count / Self.stride
        return bytes.withUnsafeBytes { bytes in
            CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[kept * Self.stride..<count]), from: prefixes[kept])
        }
    }
}
