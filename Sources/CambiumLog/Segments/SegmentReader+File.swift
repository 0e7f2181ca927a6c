internal import CambiumModel

/// The file of the segment, its end, and the next frame.
extension SegmentReader {
    var path: String { frames.path }
    /// The corruption that the reader has skipped.
    var flaws: [CambiumError] { [frames.headerCorruption, lostIndex].compactMap { $0 } }
    var header: SegmentHeader { frames.header }
    var headerChecksum: UInt32 { frames.headerChecksum }
    var byteCount: Int { frames.byteCount }
    /// The number of times that bytes were read from the file.
    var windowCount: Int { frames.windowCount }
    var isSealed: Bool { header.kind.isSealed }
    /// The last transaction before `offset`.
    var last: TransactionNumber { TransactionNumber(rawValue: next.rawValue - 1) }

    /// The last transaction of a sealed segment; `nil` for an open segment, or for a sealed segment without a valid index.
    var sealedEnd: TransactionNumber? {
        index.map { TransactionNumber(rawValue: header.firstTransaction.rawValue + $0.transactionCount - 1) }
    }
    var isAtEnd: Bool { offset == (isSealed ? indexOffset : byteCount) }

    /// The checksum that the next segment must state: the checksum that the last frame had while the segment was open.
    var lastChecksum: UInt32 {
        index?.previousChecksum ?? (lastFrameChecksum == 0 ? header.previousChecksum : lastFrameChecksum)
    }

    /// Makes everything that was written so far durable.
    func sync() throws(CambiumError) { try frames.sync() }

    /// Discards the bytes that were read, because another process may have written to the file in the meantime.
    mutating func refresh() throws(CambiumError) { try frames.refresh() }

    /// Returns the end of the consecutive frames from `offset` that pass verification and end within `byteCount` bytes. The first frame may
    /// be longer.
    mutating func findEnd(within byteCount: Int) throws(CambiumError) -> Int {
        offset < indexOffset ? try frames.findEnd(from: offset, within: byteCount) : offset
    }

    /// Returns the records of the next frame, or an empty array if the frame is a joint (it has no transactions). Returns `nil` at the end,
    /// or if no frame passes verification at `offset`.
    ///
    /// Throws as `nextFrame(into:)` does.
    mutating func nextFrame() throws(CambiumError) -> [LogRecord]? {
        var records: [LogRecord] = []
        return try nextFrame(into: &records) ? records : nil
    }

    /// The maximum number of bytes after the last frame that passes verification. A crash leaves fewer bytes: the last frame begins within
    /// the first 64 MiB of the segment, and is at most 1 GiB.
    static let tailByteCountMax = 2 << 30

    /// Whether only zeros follow `offset`. A writer may have preallocated this space. Throws `.corrupted` if more bytes follow than a
    /// crashed writer can leave.
    mutating func isPreallocatedAfterEnd() throws(CambiumError) -> Bool {
        guard byteCount - offset <= Self.tailByteCountMax else {
            throw CambiumError(
                .corrupted,
                "More than 2 GiB of unknown data follow the last transaction of the log file. "
                    + "Restore the file from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: "\(path) offset \(offset)"))
        }
        return try frames.hasOnlyZeros(after: offset)
    }

    /// Returns the highest offset up to which the log was durable according to the frames after `offset`. Returns 0 if no frame states an
    /// offset beyond `offset`. Needs memory for all bytes from `offset` to the end of the file.
    func laterDurableOffset() throws(CambiumError) -> Int { try frames.durableOffsetStated(after: offset) }
}
