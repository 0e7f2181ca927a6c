import CambiumBytes
import CambiumModel

/// What a sealed segment has behind its frames: where each of them is, and what is in it. FORMAT.md 3, "Index".
struct SegmentIndex: Equatable {
    struct Entry: Equatable {
        /// Of the frame in the file.
        var byteCount: Int
        var transactionCount: Int
        /// Microseconds from the first transaction of the frame before, or from the segment's creation time, to its own first one.
        var interval: UInt64
    }

    /// A place between two transactions, or after the last one, at which a checkpoint or a reader may go on.
    struct Joint: Equatable {
        /// The transactions of the segment that stand before it; 1 or more.
        var transactionCount: UInt64
        /// The checksum of the log up to there, before the segment was sealed.
        var checksum: UInt32
    }

    /// The checksum of the last frame of the segment before it was sealed.
    var previousChecksum: UInt32
    var entries: [Entry] = []
    /// Ascending; `nil` in a segment of version 1, which has none.
    var joints: [Joint]?

    /// The offset behind the last of the frames, where the index itself is.
    var offset: Int { entries.reduce(Format.Segment.headerByteCount) { $0 + $1.byteCount } }
    var transactionCount: UInt64 { entries.reduce(0) { $0 + UInt64($1.transactionCount) } }

    /// The frame with a transaction; frames and transactions are counted from 0 in the segment. Nil where it has fewer.
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

    /// The checksum of the log after so many transactions of the segment, as far as the index has it.
    func checksum(after transactionCount: UInt64) -> UInt32? {
        if transactionCount == self.transactionCount { return previousChecksum }
        return joints?.first { $0.transactionCount == transactionCount }?.checksum
    }

    // MARK: Bytes

    /// The index as a frame at its offset, and the bytes behind it.
    func encode(headerChecksum: UInt32) -> [UInt8] {
        var region = ByteWriter(capacity: 16 + 12 * entries.count)
        region.write(previousChecksum)
        region.writeVarint(entries.count)
        for entry in entries {
            region.writeVarint(entry.byteCount)
            region.writeVarint(entry.transactionCount)
            region.writeVarint(entry.interval)
        }
        if let joints {
            region.writeVarint(joints.count)
            var last: UInt64 = 0
            for joint in joints {
                region.writeVarint(joint.transactionCount - last)
                region.write(joint.checksum)
                last = joint.transactionCount
            }
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

    /// The index of the sealed segment that a reader reads. Throws `.damaged` where it does not verify.
    static func read(_ reader: inout FrameReader) throws(CambiumError) -> SegmentIndex {
        func damage(_ what: String, _ offset: Int) -> CambiumError {
            CambiumError(.damaged, "The index of the sealed segment \(what).", place: .init(file: reader.path + " offset \(offset)"))
        }
        let trailerOffset = max(Format.Segment.headerByteCount, reader.byteCount - Format.Index.trailerByteCount)
        let bytes = Array(try reader.bytes(at: trailerOffset, count: Format.Index.trailerByteCount))
        var trailer = ByteReader(bytes[...])
        // Nil says it all: what does not lead to a frame is no trailer.
        let told = (try? trailer.read(UInt64.self)).flatMap { Int(exactly: $0) } ?? 0
        guard bytes == Self.trailer(told, reader.headerChecksum) else {
            throw damage("is not led to by the end of the file", trailerOffset)
        }
        guard told >= Format.Segment.headerByteCount, let frame = try reader.frame(at: told), frame.end == trailerOffset,
            frame.transactionCount == 0
        else {
            throw damage("does not verify", told)
        }
        do {
            let index = try decode(frame.region, offset: told, hasJoints: reader.header.hasJoints)
            guard index.offset == told else { throw damage("does not fit the frames", told) }
            return index
        } catch let error as DecodingError {
            throw reader.undecodable(told, error)
        } catch let error as CambiumError {
            throw error
        } catch {
            throw damage("cannot be read", told)
        }
    }

    private static func decode(_ region: ArraySlice<UInt8>, offset indexOffset: Int, hasJoints: Bool) throws(DecodingError) -> SegmentIndex
    {
        var reader = ByteReader(region)
        var index = SegmentIndex(previousChecksum: try reader.read(UInt32.self))
        // No frame has fewer than 8 bytes.
        let count = try reader.readCount(max: (indexOffset - Format.Segment.headerByteCount) / 8, "frames")
        index.entries.reserveCapacity(count)
        for _ in 0..<count {
            let byteCount = try reader.readCount(max: Format.Frame.bodyByteCountMax + Format.Frame.headerByteCountMax, "bytes")
            let transactionCount = try reader.readCount(max: Format.Frame.regionByteCountMax, "transactions")
            let offset = reader.offset
            let interval = try reader.readVarint()
            guard byteCount > 0, transactionCount > 0 else {
                throw .invalid("a frame that cannot be", offset: offset)
            }
            index.entries.append(Entry(byteCount: byteCount, transactionCount: transactionCount, interval: interval))
        }
        if hasJoints { index.joints = try joints(&reader, transactionCount: index.transactionCount) }
        try reader.finish()
        return index
    }

    private static func joints(_ reader: inout ByteReader, transactionCount: UInt64) throws(DecodingError) -> [Joint] {
        // No joint has fewer than 5 bytes.
        let count = try reader.readCount(max: reader.remaining / 5, "joints")
        var joints: [Joint] = []
        joints.reserveCapacity(count)
        var last: UInt64 = 0
        for _ in 0..<count {
            let offset = reader.offset
            let distance = try reader.readVarint()
            guard distance > 0, distance <= transactionCount - last else { throw .invalid("a joint that cannot be", offset: offset) }
            last += distance
            joints.append(Joint(transactionCount: last, checksum: try reader.read(UInt32.self)))
        }
        return joints
    }
}
