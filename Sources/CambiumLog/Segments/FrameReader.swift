import CambiumBytes
internal import CambiumModel

/// A reader of the frames of one log file. It verifies each frame before it returns the frame.
struct FrameReader {
    let path: String
    let header: SegmentHeader
    let headerChecksum: UInt32
    /// The length of the file when the reader was created or last refreshed.
    private(set) var byteCount: Int
    /// The reason why a corrected header is used instead of the header in the file; `nil` if the header in the file passes verification.
    let headerCorruption: CambiumError?
    private let file: any VolumeFile
    /// The window: the bytes of the file that were read last.
    private var window: [UInt8] = []
    private var windowOffset = 0
    /// The end of the frames in the window that `findEnd` has verified.
    private var verifiedEnd = 0

    /// The number of times that the window was filled.
    private(set) var windowCount = 0

    /// The number of bytes of one read. It grows after a frame that takes more bytes, because large frames usually occur in succession.
    private var windowByteCount = Self.windowByteCount

    static let windowByteCount = 256 << 10
    private static let windowByteCountMax = 4 << 20

    /// Opens a file and reads its header. Throws as `SegmentHeader.read` does.
    ///
    /// - Parameter salvages: whether to correct a header with one corrupt byte.
    init(_ volume: any Volume, path: String, salvages: Bool = false) throws(CambiumError) {
        self.path = path
        file = try volume.open(path, .read)
        byteCount = try file.byteCount()
        do throws(CambiumError) {
            (header, headerChecksum) = try SegmentHeader.read(file, path: path)
            headerCorruption = nil
        } catch {
            let bytes = try file.read(at: 0, count: Format.Segment.headerByteCount)
            guard salvages, error.headerFailure != nil, let corrected = SegmentHeader.corrected(bytes, file: path) else { throw error }
            (header, headerChecksum) = corrected
            headerCorruption = error
        }
    }

    /// Makes everything that was written to the file so far durable.
    func sync() throws(CambiumError) { try file.sync() }

    /// Whether the path still leads to the file that this reader has open.
    func isInPlace(in volume: any Volume) throws(CambiumError) -> Bool { try volume.names(path, file) }

    /// Discards the bytes that were read, because another process may have written to the file in the meantime.
    mutating func refresh() throws(CambiumError) {
        byteCount = try file.byteCount()
        window = []
        windowOffset = 0
        verifiedEnd = 0
    }

    /// Returns the frame at an offset, or `nil` if no frame passes verification there.
    ///
    /// Throws `.corrupted` if a frame passes verification but cannot be decoded.
    mutating func frame(at offset: Int) throws(CambiumError) -> Frame? {
        guard let start = try verified(at: offset, endingBy: byteCount) else { return nil }
        let place = offset - windowOffset
        // LZ4 usually shrinks transactions to between a third and a tenth.
        if start.byteCount >= Self.largeByteCount { try CambiumError.checkMemory(10 * start.byteCount, for: "a transaction of '\(path)'") }
        do {
            return try Frame.decode(start, window[place + start.headerByteCount..<place + start.byteCount], at: offset)
        } catch {
            throw undecodable(offset, error)
        }
    }

    /// Returns the length and the number of transactions of the frame at an offset, without verifying the frame. Returns `nil` if no frame
    /// can begin there.
    mutating func outline(at offset: Int) throws(CambiumError) -> (byteCount: Int, transactionCount: Int)? {
        guard offset < byteCount else { return nil }
        try fill(offset, min(Format.Frame.outlineByteCountMax, byteCount - offset))
        return window.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[min(offset - windowOffset, bytes.count)...])
            guard let start = Frame.Start(rest), start.byteCount <= byteCount - offset, let count = start.transactionCount(rest) else {
                return nil
            }
            return (start.byteCount, count)
        }
    }

    /// Verifies the frames from `offset` that end within `count` bytes. The first frame may be longer. Reads each byte only once.
    ///
    /// - Returns: the end of the last verified frame; `offset` if no frame passes verification there.
    mutating func findEnd(from offset: Int, within count: Int) throws(CambiumError) -> Int {
        let limit = min(offset + count, byteCount)
        if limit > windowOffset + window.count { window = [] }
        var end = offset
        while end < limit, let start = try verified(at: end, endingBy: end == offset ? byteCount : limit) { end += start.byteCount }
        if end > offset { verifiedEnd = end }
        return end
    }

    /// The size from which a frame is decoded only if the limits of the process leave enough memory.
    private static let largeByteCount = 1 << 20

    func undecodable(_ offset: Int, _ error: DecodingError) -> CambiumError {
        CambiumError(
            .corrupted,
            "The data at offset \(offset) has a valid checksum, but it cannot be decoded (\(error)). "
                + "Restore the file from a backup, or save all intact data with 'cambium repair'.",
            place: .init(file: path), underlying: error)
    }

    /// Loads a frame into the window and verifies it. Returns `nil` if no valid frame begins at the offset and ends by `limit`.
    private mutating func verified(at offset: Int, endingBy limit: Int) throws(CambiumError) -> Frame.Start? {
        guard offset < limit else { return nil }
        try fill(offset, min(Format.Frame.headerByteCountMax, byteCount - offset))
        let start = window.withUnsafeBytes { Frame.Start(UnsafeRawBufferPointer(rebasing: $0[min(offset - windowOffset, $0.count)...])) }
        guard let start, offset + start.byteCount <= limit else { return nil }
        try fill(offset, start.byteCount)
        if offset + start.byteCount <= verifiedEnd { return start }
        let place = offset - windowOffset
        return window.withUnsafeBytes {
            guard place + start.byteCount <= $0.count else { return false }
            let frame = UnsafeRawBufferPointer(rebasing: $0[place..<place + start.byteCount])
            return start.verifies(frame, at: offset, headerChecksum: headerChecksum)
        } ? start : nil
    }

    /// Reads bytes of the file into the window, unless the window already contains them. Reads fewer bytes if the file has become shorter.
    private mutating func fill(_ offset: Int, _ count: Int) throws(CambiumError) {
        if offset >= windowOffset, offset + count <= windowOffset + window.count { return }
        if count > windowByteCount { windowByteCount = min(2 * count, Self.windowByteCountMax) }
        window = try file.read(at: offset, count: max(count, windowByteCount))
        windowOffset = offset
        windowCount += 1
        verifiedEnd = 0
    }

    /// Returns the bytes of the file from `offset` on: `count` bytes, or fewer if the file ends earlier.
    mutating func bytes(at offset: Int, count: Int) throws(CambiumError) -> ArraySlice<UInt8> {
        let end = min(offset + count, byteCount)
        guard offset < end else { return [] }
        try fill(offset, end - offset)
        let start = min(offset - windowOffset, window.count)
        return window[start..<min(end - windowOffset, window.count)]
    }

    /// Whether only zeros follow an offset.
    mutating func hasOnlyZeros(after offset: Int) throws(CambiumError) -> Bool {
        var position = offset
        while position < byteCount {
            let part = try bytes(at: position, count: Self.windowByteCount)
            guard !part.isEmpty, part.withUnsafeBytes({ ByteSearch.areAll(0, $0) }) else { return false }
            position += part.count
        }
        return true
    }

    /// Returns the highest offset up to which the log was durable according to the frames after `offset`. Returns 0 if no frame states an
    /// offset beyond `offset`. Needs memory for all bytes from `offset` to the end of the file.
    func durableOffsetStated(after offset: Int) throws(CambiumError) -> Int {
        let tail = try file.read(at: offset, count: byteCount - offset)
        return TailSearch(tail, at: offset, headerChecksum: headerChecksum).durableOffsetStated()
    }
}
