internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

/// Cuts a stream of bytes into JSON documents: the elements of one array, or the lines (or objects) of a stream of them.
///
/// It only looks for where documents end: for strings, brackets and line ends. What is in them is the parser's. Memory is one
/// window: 64 KiB for a short input, else at least 8 MiB and as large as the largest document, of which 64 MiB is the most.
struct DocumentSplitter {
    static let documentByteCountMax = 64 << 20
    static let windowByteCount = 8 << 20
    /// What an input gets that may be a few rows: clearing a window for many would take longer than importing them.
    static let firstWindowByteCount = 64 << 10
    /// Bytes that can be read behind every document, which the parser's wide loads need.
    static let padding = 64

    struct Document {
        /// Where the document lies in `window`.
        let start: Int
        let end: Int
        /// The line that it begins on, counted from 1.
        let line: Int
    }

    /// `lines` where each line is a document; `stream` where they are cut by their brackets.
    private enum Shape { case unknown, array, lines, stream }

    private let read: (UnsafeMutableRawBufferPointer) throws -> Int
    private var window: [UInt8]
    private var position = 0
    private var filled = 0
    private var isAtEnd = false
    /// Whether the last read had more than the window could take.
    private var isLong = false
    private var shape = Shape.unknown
    private var line = 1
    private var elementCount = 0
    private let file: String

    /// - Parameter read: fills a buffer and returns how many bytes it got; 0 at the end.
    init(file: String, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.file = file
        self.read = read
        window = [UInt8](repeating: 0, count: Self.firstWindowByteCount + Self.padding)
    }

    /// The next document; nil at the end.
    ///
    /// Throws `.invalidInput` for an array that does not end, or has something else than commas between its elements;
    /// `.limitExceeded` for a document of more than 64 MiB; what `read` throws.
    mutating func next() throws -> Document? {
        try skipSpace()
        if shape == .unknown { try recognise() }
        guard position < filled else {
            if shape == .array { throw failure("the array does not end; ']' is missing") }
            return nil
        }
        if shape == .array {
            guard try enterElement() else { return nil }
        }
        var end = shape == .lines ? try lineEnd() : try valueEnd()
        // A bracket or comma where a value has to begin is a document, or it would be met again for ever.
        if shape == .stream, end == position { end += 1 }
        let document = Document(start: position, end: end, line: line)
        countLines(from: position, to: end)
        position = end
        elementCount += 1
        return document
    }

    func withWindow<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try window.withUnsafeBytes(body)
    }

    private mutating func recognise() throws {
        while filled - position < 3, try refill() {}
        if filled - position >= 3, window[position] == 0xEF, window[position + 1] == 0xBB, window[position + 2] == 0xBF {
            position += 3
            try skipSpace()
        }
        guard position < filled else { return }
        if window[position] == UInt8(ascii: "[") {
            shape = .array
            position += 1
            try skipSpace()
        } else {
            shape = try isStream() ? .stream : .lines
        }
    }

    /// Whether documents are cut by their brackets, because the first line is no document and its first value is one. Else each
    /// line is a document, so that a malformed one spoils no other.
    private mutating func isStream() throws -> Bool {
        let lineCount = try lineEnd() - position
        if isDocument(byteCount: lineCount) { return false }
        let valueCount = try valueEnd() - position
        return isDocument(byteCount: valueCount)
    }

    private func isDocument(byteCount: Int) -> Bool {
        window.withUnsafeBytes { bytes in
            let document = UnsafeRawBufferPointer(rebasing: bytes[position..<position + byteCount])
            return (try? JSONParser().parse(document)) != nil  // What is wrong with it is told later.
        }
    }

    /// Goes past the comma before an element. Returns false at the end of the array.
    private mutating func enterElement() throws -> Bool {
        if window[position] == UInt8(ascii: "]") {
            position += 1
            try skipSpace()
            if position < filled { throw failure("the array has ended, and more follows") }
            shape = .stream
            return false
        }
        if elementCount > 0 {
            guard window[position] == UInt8(ascii: ",") else { throw failure("',' or ']' is missing between elements") }
            position += 1
            try skipSpace()
        }
        guard position < filled else { throw failure("the array does not end; ']' is missing") }
        return true
    }

    private func failure(_ message: String) -> CambiumError {
        CambiumError(.invalidInput, "Malformed JSON: \(message).", place: .init(file: file, line: line))
    }

    // MARK: Window

    private mutating func skipSpace() throws {
        while true {
            while position < filled {
                let byte = window[position]
                if byte == UInt8(ascii: "\n") {
                    line += 1
                } else if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"), byte != UInt8(ascii: "\r") {
                    return
                }
                position += 1
            }
            if try !refill() { return }
        }
    }

    /// Reads more behind what is there, after moving that to the front. Returns false at the end.
    private mutating func refill() throws -> Bool {
        if isAtEnd { return false }
        if position > 0 {
            let rest = filled - position
            window.withUnsafeMutableBytes { $0.copyBytes(from: UnsafeRawBufferPointer(rebasing: $0[position..<filled])) }
            filled = rest
            position = 0
        }
        if filled + Self.padding >= window.count || (isLong && window.count < Self.windowByteCount) {
            guard window.count <= Self.documentByteCountMax else {
                let message = "A JSON document inside a file has at most 64 MiB; the one that begins here has more."
                throw CambiumError(.limitExceeded, message, place: .init(file: file, line: line))
            }
            let byteCount = max(2 * window.count, Self.windowByteCount + Self.padding)
            window.append(contentsOf: repeatElement(0, count: byteCount - window.count))
        }
        let room = filled..<window.count - Self.padding
        let count = try window.withUnsafeMutableBytes { try read(UnsafeMutableRawBufferPointer(rebasing: $0[room])) }
        filled += count
        isAtEnd = count == 0
        isLong = count == room.count
        return count > 0
    }

    // MARK: Ends

    private mutating func lineEnd() throws -> Int {
        var scanned = 0
        while true {
            let found = window.withUnsafeBytes { bytes in
                ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: position + scanned, to: filled)
            }
            if let found { return found }
            scanned = filled - position
            if try !refill() { return filled }
        }
    }

    /// The end of the value at `position`: where its brackets are closed; for a plain value, before the next delimiter.
    private mutating func valueEnd() throws -> Int {
        var scan = BracketScan()
        while true {
            let end = window.withUnsafeBytes { scan.end(in: UnsafeRawBufferPointer(rebasing: $0[position..<filled])) }
            if let end { return position + end }
            // What does not end is given to the parser as it is: it tells what is wrong with it, and where.
            if try !refill() { return filled }
        }
    }

    private mutating func countLines(from start: Int, to end: Int) {
        window.withUnsafeBytes { bytes in
            var index = start
            while let found = ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: index, to: end) {
                line += 1
                index = found + 1
            }
        }
    }
}

/// Looks for the end of a JSON value, over several windows.
struct BracketScan {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var scanned = 0

    /// The offset behind the value that begins at the buffer's first byte; nil where the buffer ends before it does. Called
    /// again with more of the same bytes it goes on where it stopped.
    mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        var index = scanned
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return index }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index - 1 }
                depth -= 1
                if depth == 0 { return index }
            case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if depth == 0 { return index - 1 }
            default: break
            }
        }
        scanned = index
        return nil
    }
}
