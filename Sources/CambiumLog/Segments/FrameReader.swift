import CambiumBytes
import CambiumModel

/// Reads the frames of one file, verifying each before it is used.
struct FrameReader {
    let path: String
    let header: SegmentHeader
    let headerChecksum: UInt32
    /// The length of the file when it was last looked at.
    private(set) var byteCount: Int
    /// Why the header in the file is not the one that is used.
    let mendedHeader: CambiumError?
    private let file: any VolumeFile
    private var window: [UInt8] = []
    private var windowOffset = 0

    static let windowByteCount = 1 << 20

    /// Throws as `SegmentHeader.read`.
    ///
    /// - Parameter salvages: whether a header with one corrupt byte is mended.
    init(_ volume: any Volume, path: String, salvages: Bool = false) throws(CambiumError) {
        self.path = path
        file = try volume.open(path, .read)
        byteCount = try file.byteCount()
        do throws(CambiumError) {
            (header, headerChecksum) = try SegmentHeader.read(file, path: path)
            mendedHeader = nil
        } catch {
            let bytes = try file.read(at: 0, count: Format.Segment.headerByteCount)
            guard salvages, error.headerFailure != nil, let mended = SegmentHeader.mended(bytes, file: path) else { throw error }
            (header, headerChecksum) = mended
            mendedHeader = error
        }
    }

    /// Makes what was written to the file so far durable.
    func sync() throws(CambiumError) { try file.sync() }

    /// Forgets what was read, because another process may have written since.
    mutating func refresh() throws(CambiumError) {
        byteCount = try file.byteCount()
        window = []
        windowOffset = 0
    }

    /// The frame at an offset; nil where none verifies there.
    ///
    /// Throws `.damaged` for a frame that verifies and cannot be decoded all the same.
    mutating func frame(at offset: Int) throws(CambiumError) -> Frame? {
        guard let (start, body) = try verified(at: offset) else { return nil }
        do {
            return try Frame.decode(start, body, at: offset)
        } catch {
            throw undecodable(offset, error)
        }
    }

    /// The offset behind the frame at an offset; nil where none verifies there.
    mutating func end(ofFrameAt offset: Int) throws(CambiumError) -> Int? {
        try verified(at: offset).map { offset + $0.start.byteCount }
    }

    func undecodable(_ offset: Int, _ error: DecodingError) -> CambiumError {
        CambiumError(
            .damaged, "The frame at \(offset) verifies and cannot be decoded (\(error)).", place: .init(file: path), underlying: error)
    }

    private mutating func verified(at offset: Int) throws(CambiumError) -> (start: Frame.Start, body: ArraySlice<UInt8>)? {
        let first = try bytes(at: offset, count: Format.Frame.headerByteCountMax)
        guard let start = try? Frame.Start(first), offset + start.byteCount <= byteCount else { return nil }  // No frame.
        let body = try bytes(at: offset + start.headerByteCount, count: start.bodyByteCount)
        return Frame.verifies(start, body, at: offset, headerChecksum: headerChecksum) ? (start, body) : nil
    }

    /// Bytes of the file, fewer at its end.
    mutating func bytes(at offset: Int, count: Int) throws(CambiumError) -> ArraySlice<UInt8> {
        let end = min(offset + count, byteCount)
        guard offset < end else { return [] }
        if offset < windowOffset || end > windowOffset + window.count {
            window = try file.read(at: offset, count: max(end - offset, Self.windowByteCount))
            windowOffset = offset
        }
        let start = min(offset - windowOffset, window.count)
        return window[start..<min(end - windowOffset, window.count)]
    }

    /// Whether nothing but zeros is behind an offset.
    mutating func hasOnlyZeros(behind offset: Int) throws(CambiumError) -> Bool {
        var position = offset
        while position < byteCount {
            let part = try bytes(at: position, count: Self.windowByteCount)
            guard !part.isEmpty, part.allSatisfy({ $0 == 0 }) else { return false }
            position += part.count
        }
        return true
    }

    /// How far a frame behind `offset` says that the log was durable; 0 where none says so beyond it. Memory for the bytes there.
    func durableOffsetTold(behind offset: Int) throws(CambiumError) -> Int {
        let tail = try file.read(at: offset, count: byteCount - offset)
        return TailSearch(tail, at: offset, headerChecksum: headerChecksum).durableOffsetTold()
    }
}
