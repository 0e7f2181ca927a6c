internal import CambiumBytes
import CambiumModel

/// The part of a stream of bytes that is being looked at: what is behind it is forgotten, what is before it not read yet.
///
/// Memory is 64 KiB for a short input, else at least 8 MiB and as large as the largest document, of which 64 MiB is the most.
struct ByteWindow {
    static let documentByteCountMax = 64 << 20
    static let byteCount = 8 << 20
    /// What an input gets that may be a few rows: clearing a window for many would take longer than importing them.
    static let firstByteCount = 64 << 10
    /// Bytes that can be read behind every document, which the parser's wide loads need.
    static let padding = 64

    let file: String
    private let read: (UnsafeMutableRawBufferPointer) throws -> Int
    private var bytes: [UInt8]
    /// Where the next document begins; bytes before it are given up when more are read.
    var position = 0
    private(set) var filled = 0
    /// The line at `position`, counted from 1.
    var line = 1
    private var isAtEnd = false
    /// Whether the last read had more than the window could take.
    private var isLong = false

    /// - Parameter read: fills a buffer and returns how many bytes it got; 0 at the end.
    init(file: String, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.file = file
        self.read = read
        bytes = [UInt8](repeating: 0, count: Self.firstByteCount + Self.padding)
    }

    subscript(_ index: Int) -> UInt8 { bytes[index] }

    func withBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result) throws(Failure) -> Result {
        try bytes.span.bytes.withUnsafeBytes(body)
    }

    /// Line ends in a part of the window.
    func lineCount(_ range: Range<Int>) -> Int {
        withBytes { bytes in
            var (index, count) = (range.lowerBound, 0)
            while let found = ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: index, to: range.upperBound) {
                count += 1
                index = found + 1
            }
            return count
        }
    }

    /// Where the first bytes in a part of the window are that are not UTF-8; nil where all are.
    func illFormedOffset(_ range: Range<Int>) -> Int? {
        do {
            _ = try UTF8Span(validating: bytes.span.extracting(range))
            return nil
        } catch {
            return range.lowerBound + error.byteOffsets.lowerBound
        }
    }

    /// Goes past a byte order mark at the beginning of the stream.
    mutating func skipByteOrderMark() throws {
        while filled - position < 3, try refill() {}
        if filled - position >= 3, bytes[position] == 0xEF, bytes[position + 1] == 0xBB, bytes[position + 2] == 0xBF { position += 3 }
    }

    /// Reads more behind what is there, after moving that to the front. Returns false at the end.
    ///
    /// Throws `.limitExceeded` where what begins at `position` has more than 64 MiB; what `read` throws.
    mutating func refill() throws -> Bool {
        if isAtEnd { return false }
        if position > 0 {
            let rest = filled - position
            bytes.withUnsafeMutableBytes { $0.copyBytes(from: UnsafeRawBufferPointer(rebasing: $0[position..<filled])) }
            filled = rest
            position = 0
        }
        if filled + Self.padding >= bytes.count || (isLong && bytes.count < Self.byteCount) { try grow() }
        let room = filled..<bytes.count - Self.padding
        let count = try bytes.withUnsafeMutableBytes { try read(UnsafeMutableRawBufferPointer(rebasing: $0[room])) }
        filled += count
        isAtEnd = count == 0
        isLong = count == room.count
        return count > 0
    }

    private mutating func grow() throws {
        guard bytes.count <= Self.documentByteCountMax else {
            let message = "A document or record inside a file has at most 64 MiB; the one that begins here has more."
            throw CambiumError(.limitExceeded, message, place: .init(file: file, line: line))
        }
        let byteCount = max(2 * bytes.count, Self.byteCount + Self.padding)
        var grown = [UInt8](repeating: 0, count: byteCount)
        grown.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
        bytes = grown
    }
}
