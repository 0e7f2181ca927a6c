import CambiumBytes
internal import CambiumModel

/// The index of a sealed segment: the position and the content of each frame. The index follows the segment's frames. FORMAT.md 3, "Index".
struct SegmentIndex: Equatable {
    /// The content of one frame: its length, its number of transactions, and its time.
    struct Entry: Equatable {
        /// The length of the frame in the file.
        var byteCount: Int
        var transactionCount: Int
        /// The microseconds from the first transaction of the preceding frame to the first transaction of this frame. For the first frame,
        /// the microseconds are counted from the segment's creation time.
        var interval: UInt64
    }

    /// A position between two transactions, or after the last transaction. A reader that begins with a checkpoint can continue at this
    /// position.
    struct Joint: Equatable {
        /// The number of transactions of the segment before the joint; 1 or more.
        var transactionCount: UInt64
        /// The checksum that the log had at the joint before the segment was sealed.
        var checksum: UInt32
    }

    /// The checksum of the segment's last frame before the segment was sealed.
    var previousChecksum: UInt32
    var entries: [Entry] = []
    /// The joints, in ascending order.
    var joints: [Joint] = []

    /// The end of the last frame, which is the offset of the index.
    var offset: Int { entries.reduce(Format.Segment.headerByteCount) { $0 + $1.byteCount } }
    var transactionCount: UInt64 { entries.reduce(0) { $0 + UInt64($1.transactionCount) } }

    /// Returns the frame that contains a transaction. Frames and transactions are counted from 0 in the segment. Returns `nil` if the
    /// segment contains fewer transactions.
    func frame(with transaction: UInt64) -> (number: Int, offset: Int, firstTransaction: UInt64)? {
        var offset = Format.Segment.headerByteCount
        var first: UInt64 = 0
        for (number, entry) in entries.enumerated() {
            if transaction < first + UInt64(entry.transactionCount) { return (number, offset, first) }
            offset += entry.byteCount
            first += UInt64(entry.transactionCount)
        }
        return nil
    }

    /// Returns the checksum of the log after `transactionCount` transactions of the segment, or `nil` if the index does not contain this
    /// checksum.
    func checksum(after transactionCount: UInt64) -> UInt32? {
        if transactionCount == self.transactionCount { return previousChecksum }
        return joints.first { $0.transactionCount == transactionCount }?.checksum
    }

    // MARK: Bytes

    /// Encodes the index as a frame, followed by the trailer, which states the offset of that frame.
    func encode(headerChecksum: UInt32) -> [UInt8] {
        var region = ByteWriter(capacity: 16 + 12 * entries.count)
        region.write(previousChecksum)
        region.writeVarint(entries.count)
        for entry in entries {
            region.writeVarint(entry.byteCount)
            region.writeVarint(entry.transactionCount)
            region.writeVarint(entry.interval)
        }
        region.writeVarint(joints.count)
        var last: UInt64 = 0
        for joint in joints {
            region.writeVarint(joint.transactionCount - last)
            region.write(joint.checksum)
            last = joint.transactionCount
        }
        var frame = ByteWriter()
        _ = Frame.encode(
            region: region.bytes, transactionCount: 0, at: offset, durableOffset: 0, headerChecksum: headerChecksum, to: &frame)
        return frame.bytes + Self.trailer(offset, headerChecksum)
    }

    private static func trailer(_ offset: Int, _ headerChecksum: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: Format.Index.trailerByteCount)
        writer.write(UInt64(offset))
        var checked = ByteWriter(capacity: Format.Index.trailerByteCount)
        checked.write(headerChecksum)
        checked.write(UInt64(offset))
        writer.write(CRC32C.checksum(checked.bytes))
        return writer.bytes
    }

    /// Reads the index of a sealed segment. Throws `.corrupted` if the index fails verification.
    static func read(_ reader: inout FrameReader) throws(CambiumError) -> SegmentIndex {
        func damage(_ flaw: String, _ offset: Int) -> CambiumError {
            CambiumError(
                .corrupted,
                "The index of the log file \(flaw). Restore the file from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: reader.path + " offset \(offset)"))
        }
        let trailerOffset = max(Format.Segment.headerByteCount, reader.byteCount - Format.Index.trailerByteCount)
        let bytes = Array(try reader.bytes(at: trailerOffset, count: Format.Index.trailerByteCount))
        var trailer = ByteReader(bytes[...])
        // If the offset cannot be read, it is treated as 0. No frame begins there, so the check below fails.
        let stated = (try? trailer.read(UInt64.self)).flatMap { Int(exactly: $0) } ?? 0
        guard bytes == Self.trailer(stated, reader.headerChecksum) else {
            throw damage("cannot be found, because the end of the file is corrupt", trailerOffset)
        }
        guard stated >= Format.Segment.headerByteCount, let frame = try reader.frame(at: stated), frame.end == trailerOffset,
            frame.transactionCount == 0
        else {
            throw damage("is corrupt", stated)
        }
        do {
            let index = try decode(frame.region, offset: stated)
            guard index.offset == stated else { throw damage("does not match the transactions in the file", stated) }
            return index
        } catch let error as DecodingError {
            throw reader.undecodable(stated, error)
        } catch let error as CambiumError {
            throw error
        } catch {
            throw damage("cannot be read", stated)
        }
    }

    private static func decode(_ region: ArraySlice<UInt8>, offset indexOffset: Int) throws(DecodingError) -> SegmentIndex {
        var reader = ByteReader(region)
        var index = SegmentIndex(previousChecksum: try reader.read(UInt32.self))
        // A frame takes at least 8 bytes, so the space before the index also limits the number of frames.
        let countMax = min(Format.Index.entryCountMax, (indexOffset - Format.Segment.headerByteCount) / 8)
        let count = try reader.readCount(max: countMax, "frames")
        index.entries.reserveCapacity(count)
        for _ in 0..<count {
            let byteCount = try reader.readCount(max: Format.Frame.bodyByteCountMax + Format.Frame.headerByteCountMax, "bytes")
            let transactionCount = try reader.readCount(max: Format.Frame.regionByteCountMax, "transactions")
            let offset = reader.offset
            let interval = try reader.readVarint()
            guard byteCount > 0, transactionCount > 0 else {
                throw .invalid("a frame without bytes or transactions", offset: offset)
            }
            index.entries.append(Entry(byteCount: byteCount, transactionCount: transactionCount, interval: interval))
        }
        index.joints = try joints(&reader, transactionCount: index.transactionCount)
        try reader.finish()
        return index
    }

    private static func joints(_ reader: inout ByteReader, transactionCount: UInt64) throws(DecodingError) -> [Joint] {
        // A joint takes at least 5 bytes in the index, so the remaining bytes also limit the number of joints.
        let count = try reader.readCount(max: min(Format.Index.entryCountMax, reader.remaining / 5), "joints")
        var joints: [Joint] = []
        joints.reserveCapacity(count)
        var last: UInt64 = 0
        for _ in 0..<count {
            let offset = reader.offset
            let distance = try reader.readVarint()
            guard distance > 0, distance <= transactionCount - last else { throw .invalid("a joint that is out of range", offset: offset) }
            last += distance
            joints.append(Joint(transactionCount: last, checksum: try reader.read(UInt32.self)))
        }
        return joints
    }
}
