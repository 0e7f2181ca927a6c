import CambiumBytes

/// Looks for frames in bytes that begin with none: any of them could begin one.
///
/// A frame's checksum follows from checksums of the bytes up to where its body begins and ends, so that trying each byte does not
/// mean going through all of the bytes behind it. It takes the memory of the bytes and a sixteenth more.
struct TailSearch {
    /// Bytes between two checksums that are kept.
    private static let stride = 64

    private let bytes: [UInt8]
    /// Where the bytes begin in the segment.
    private let offset: Int
    private let headerChecksum: UInt32
    /// For each stride the checksum of all bytes before it.
    private let prefixes: [UInt32]

    /// - Parameter offset: where the bytes, which go to the end of the segment's file, begin in it.
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

    /// How far the frames say that the segment was durable, of those that say so beyond `offset`; 0 where none does.
    ///
    /// Complexity: O(bytes log bytes).
    func durableOffsetTold() -> Int {
        var told = 0
        bytes.withUnsafeBytes { all in
            for place in all.indices where all[place] != 0 {
                // Most bytes begin no frame.
                guard let start = Frame.Start(UnsafeRawBufferPointer(rebasing: all[place...])) else { continue }
                let bodyStart = place + start.headerByteCount
                let end = bodyStart + start.bodyByteCount
                guard end <= all.count, let durable = Frame.durableOffset(bytes[bodyStart..<end], at: offset + place), durable > offset,
                    durable > told
                else { continue }
                let length = UnsafeRawBufferPointer(rebasing: all[place..<place + start.lengthByteCount])
                let beforeBody = Frame.checksum(headerChecksum, offset + place, length: length, body: .init(start: nil, count: 0))
                let ofBody = prefix(end) ^ CRC32C.combined(prefix(bodyStart), 0, secondByteCount: start.bodyByteCount)
                if CRC32C.combined(beforeBody, ofBody, secondByteCount: start.bodyByteCount) == start.checksum { told = durable }
            }
        }
        return told
    }

    /// The checksum of the first bytes.
    private func prefix(_ count: Int) -> UInt32 {
        let kept = count / Self.stride
        return bytes.withUnsafeBytes { bytes in
            CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[kept * Self.stride..<count]), from: prefixes[kept])
        }
    }
}
