internal import CambiumBytes
import CambiumModel

/// The part of an import's input that is in memory. Bytes before this window have been dropped, and bytes after it have not been read.
///
/// The window takes 64 KiB of memory for a short input. For a longer input, the window takes at least 8 MiB, and always enough memory for
/// the largest document. A document is at most 64 MiB.
struct ByteWindow {
    static let documentByteCountMax = 64 << 20
    static let byteCount = 8 << 20
    /// The initial capacity, for an input that may have few rows. Clearing a large window would take longer than importing a few rows.
    static let firstByteCount = 64 << 10
    /// The number of readable bytes that follow every document, because the parser may read beyond the end of a document.
    static let padding = 64

    let file: String
    private let read: (UnsafeMutableRawBufferPointer) throws -> Int
    private var bytes: [UInt8]
    /// The offset of the next document. Earlier bytes are dropped when more bytes are read.
    var position = 0
    private(set) var filled = 0
    /// The line at `position`, counted from 1.
    private(set) var line = 1
    /// The offset of the first byte of the line at `position`; negative if this byte was dropped.
    private var lineStart = 0
    /// The column at `position` in bytes, counted from 1.
    var column: Int { position - lineStart + 1 }
    private var isAtEnd = false
    /// Whether the last read filled all free memory of the window. If so, a small window grows before the next read.
    private var isLong = false

    /// - Parameter read: fills a buffer and returns the number of bytes; 0 at the end.
    init(file: String, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.file = file
        self.read = read
        bytes = [UInt8](repeating: 0, count: Self.firstByteCount + Self.padding)
    }

    subscript(_ index: Int) -> UInt8 { bytes[index] }

    func withBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result) throws(Failure) -> Result {
        try bytes.span.bytes.withUnsafeBytes(body)
    }

    /// Returns the number of line ends in a part of the window.
    func lineCount(_ range: Range<Int>) -> Int { lineEnds(range).count }

    /// Returns the number of line ends in a part of the window, and the offset of the last one.
    private func lineEnds(_ range: Range<Int>) -> (count: Int, last: Int?) {
        withBytes { bytes -> (count: Int, last: Int?) in
            var (count, last): (Int, Int?) = (0, nil)
            var index = range.lowerBound
            while let found = ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: index, to: range.upperBound) {
                (count, last) = (count + 1, found)
                index = found + 1
            }
            return (count, last)
        }
    }

    /// Moves `position` to a later byte, and counts the line ends before that byte.
    mutating func advance(to end: Int) {
        let (count, last) = lineEnds(position..<end)
        line += count
        if let last { lineStart = last + 1 }
        position = end
    }

    /// Moves `position` to the first byte after a line end at `position`.
    mutating func skipLineEnd() {
        line += 1
        position += 1
        lineStart = position
    }

    /// Returns the offset of the first bytes in a part of the window that are not UTF-8. Returns `nil` if all bytes are UTF-8.
    func illFormedOffset(_ range: Range<Int>) -> Int? {
        do {
            _ = try UTF8Span(validating: bytes.span.extracting(range))
            return nil
        } catch {
            return range.lowerBound + error.byteOffsets.lowerBound
        }
    }

    /// Skips a byte order mark at the beginning of the stream. Throws `.invalidInput` for a stream that begins like gzip or like text in
    /// UTF-16, because an error about the first row would not name the cause.
    mutating func skipByteOrderMark() throws {
        while filled - position < 3, try refill() {}
        for (beginning, message) in Self.foreignBeginnings where bytes[position..<filled].starts(with: beginning) {
            throw CambiumError(.invalidInput, message, place: .init(file: file, line: line))
        }
        if filled - position >= 3, bytes[position] == 0xEF, bytes[position + 1] == 0xBB, bytes[position + 2] == 0xBF {
            position += 3
            lineStart = position
        }
    }

    /// The beginnings of other formats, and the errors for them. None of these beginnings is valid UTF-8.
    private static let foreignBeginnings: [(bytes: [UInt8], message: String)] = [
        ([0x1F, 0x8B], "The input is compressed with gzip. Decompress it, or import a file whose name ends in '.gz'."),
        ([0xFF, 0xFE], "The input is text in UTF-16. Convert it to UTF-8."),
        ([0xFE, 0xFF], "The input is text in UTF-16. Convert it to UTF-8."),
    ]

    /// Moves the remaining bytes to the front and reads more bytes after them. Returns `false` at the end of the input.
    ///
    /// Throws `.limitExceeded` if the document at `position` is larger than 64 MiB. Rethrows the errors of `read`.
    mutating func refill() throws -> Bool {
        if isAtEnd { return false }
        if position > 0 {
            let rest = filled - position
            bytes.withUnsafeMutableBytes { $0.copyBytes(from: UnsafeRawBufferPointer(rebasing: $0[position..<filled])) }
            filled = rest
            lineStart -= position
            position = 0
        }
        if filled + Self.padding >= bytes.count || (isLong && bytes.count < Self.byteCount) { try grow() }
        let free = filled..<bytes.count - Self.padding
        let count = try bytes.withUnsafeMutableBytes { try read(UnsafeMutableRawBufferPointer(rebasing: $0[free])) }
        filled += count
        isAtEnd = count == 0
        isLong = count == free.count
        return count > 0
    }

    private mutating func grow() throws {
        guard bytes.count <= Self.documentByteCountMax else {
            let message = "The document or record that begins here is larger than 64 MiB, which is the maximum. Split it into smaller ones."
            throw CambiumError(.limitExceeded, message, place: .init(file: file, line: line))
        }
        let byteCount = max(2 * bytes.count, Self.byteCount + Self.padding)
        try CambiumError.checkMemory(2 * byteCount, for: "the rows of '\(file)'")
        var grown = [UInt8](repeating: 0, count: byteCount)
        grown.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
        bytes = grown
    }
}
