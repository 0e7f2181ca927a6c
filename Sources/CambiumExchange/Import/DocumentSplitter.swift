internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

/// Cuts a stream of bytes into JSON documents: the elements of one array, or the lines or objects of a stream.
///
/// The splitter only finds the ends of documents, by looking at strings, brackets and line ends. The parser checks the content of the
/// documents.
struct DocumentSplitter {
    struct Document {
        /// The offset of the document in the window.
        let start: Int
        let end: Int
        /// The line on which the document begins, counted from 1.
        let line: Int
        /// The column in bytes at which the document begins, counted from 1.
        var column = 1
        /// Whether the document is the first one of its source, and is not an element of an array.
        var isFirst = false
        /// The reason why the document is not valid, if the fault was found before parsing.
        var failure: RowFailure?
        /// Whether the document was created from a CSV record. If so, all its values are text.
        var isRecord = false
    }

    /// `lines` if each line is a document; `stream` if brackets end the documents.
    private enum Shape { case unknown, array, lines, stream }

    private var window: ByteWindow
    private var shape = Shape.unknown
    private var elementCount = 0

    /// - Parameter read: fills a buffer and returns the number of bytes; 0 at the end.
    init(file: String, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        window = ByteWindow(file: file, read: read)
    }

    /// Returns the next document; `nil` at the end.
    ///
    /// Throws `.invalidInput` if an array does not end or has anything except commas between its elements. Throws `.limitExceeded` for a
    /// document of more than 64 MiB. Rethrows the errors of `read`.
    mutating func next() throws -> Document? {
        try skipSpace()
        if shape == .unknown { try recognize() }
        guard window.position < window.filled else {
            if shape == .array { throw failure("the array does not end; ']' is missing") }
            return nil
        }
        if shape == .array {
            guard try enterElement() else { return nil }
        }
        var end = shape == .lines ? try lineEnd() : try valueEnd()
        // A bracket or comma where a value must begin becomes a separate document, so that the splitter advances.
        if shape == .stream, end == window.position { end += 1 }
        var document = Document(start: window.position, end: end, line: window.line, column: window.column)
        document.isFirst = elementCount == 0 && shape != .array
        if shape == .array, end == window.position { document.failure = missingElement }
        // A line contains no line end, so the window need not count line ends.
        if shape == .lines { window.position = end } else { window.advance(to: end) }
        elementCount += 1
        return document
    }

    // This method is mutating, because a caller that holds the splitter in an optional would otherwise copy the splitter.
    mutating func withWindow<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { window.withBytes(body) }

    private mutating func recognize() throws {
        try window.skipByteOrderMark()
        try skipSpace()
        guard window.position < window.filled else { return }
        if window[window.position] == UInt8(ascii: "[") {
            shape = .array
            window.position += 1
            try skipSpace()
        } else {
            shape = try isStream() ? .stream : .lines
        }
    }

    /// Returns whether brackets, instead of line ends, end the documents. Returns `true` only if the first value is valid JSON, and if it
    /// has several lines or is followed by text on its line. Otherwise, each line is a document, so that a malformed line affects no other
    /// line.
    private mutating func isStream() throws -> Bool {
        let valueCount = try valueEnd() - window.position
        guard isDocument(byteCount: valueCount) else { return false }
        if window.lineCount(window.position..<window.position + valueCount) > 0 { return true }
        // A line may have any length, so the rest of the line is read only up to the first character that is not a space.
        var offset = valueCount
        while true {
            while window.position + offset < window.filled {
                switch window[window.position + offset] {
                case UInt8(ascii: "\n"): return false
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): offset += 1
                default: return true
                }
            }
            if try !window.refill() { return false }
        }
    }

    private func isDocument(byteCount: Int) -> Bool {
        window.withBytes { bytes in
            let document = UnsafeRawBufferPointer(rebasing: bytes[window.position..<window.position + byteCount])
            return (try? JSONParser().parse(document)) != nil  // A faulty document is parsed again later and reported then.
        }
    }

    /// Skips the comma before an element. Returns `false` at the end of the array.
    private mutating func enterElement() throws -> Bool {
        if window[window.position] == UInt8(ascii: "]") {
            window.position += 1
            try skipSpace()
            if window.position < window.filled { throw failure("more text follows the end of the array") }
            shape = .stream
            return false
        }
        if elementCount > 0 {
            guard window[window.position] == UInt8(ascii: ",") else { throw failure("',' or ']' is missing between elements") }
            window.position += 1
            try skipSpace()
        }
        guard window.position < window.filled else { throw failure("the array does not end; ']' is missing") }
        return true
    }

    /// The failure for a missing element of the array: a comma, a `]` or a `}` is found instead of a value.
    private var missingElement: RowFailure {
        let wanted = elementCount > 0 ? "a value after the comma" : "a value"
        let found = Character(Unicode.Scalar(window[window.position]))
        let message = "malformed JSON: expected \(wanted), but found '\(found)', at column \(window.column)"
        return RowFailure(code: .malformed, pointer: "", message: message)
    }

    private func failure(_ message: String) -> CambiumError {
        let place = CambiumError.Place(file: window.file, line: window.line, column: window.column)
        return CambiumError(.invalidInput, "Malformed JSON: \(message).", place: place)
    }

    // MARK: Window

    private mutating func skipSpace() throws {
        while true {
            while window.position < window.filled {
                let byte = window[window.position]
                if byte == UInt8(ascii: "\n") {
                    window.skipLineEnd()
                    continue
                }
                if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"), byte != UInt8(ascii: "\r") { return }
                window.position += 1
            }
            if try !window.refill() { return }
        }
    }

    // MARK: Ends

    private mutating func lineEnd() throws -> Int {
        var scanned = 0
        while true {
            let found = window.withBytes { bytes in
                ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: window.position + scanned, to: window.filled)
            }
            if let found { return found }
            scanned = window.filled - window.position
            if try !window.refill() { return window.filled }
        }
    }

    /// Returns the end of the value that begins at the position of the window. A value with brackets ends after its last bracket. Any other
    /// value ends before the next delimiter.
    private mutating func valueEnd() throws -> Int {
        var scan = BracketScan()
        while true {
            let end = window.withBytes { scan.end(in: UnsafeRawBufferPointer(rebasing: $0[window.position..<window.filled])) }
            if let end { return window.position + end }
            // If the value has no end, the document contains the rest of the input. The parser then reports the fault and its position.
            if try !window.refill() { return window.filled }
        }
    }
}

/// Finds the end of a JSON value, even if the input is read in parts that end within the value.
struct BracketScan {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var scanned = 0

    /// Returns the offset after the value that begins at the buffer's first byte. Returns `nil` if the buffer ends within the value. The
    /// caller then passes the same bytes again, followed by more bytes, and the scan continues where it stopped.
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
