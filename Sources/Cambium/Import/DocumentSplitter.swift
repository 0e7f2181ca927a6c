internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

/// Cuts a stream of bytes into JSON documents: the elements of one array, or the lines (or objects) of a stream of them.
///
/// It only looks for where documents end: for strings, brackets and line ends. What is in them is the parser's.
struct DocumentSplitter {
    struct Document {
        /// Where the document lies in the window.
        let start: Int
        let end: Int
        /// The line that it begins on, counted from 1.
        let line: Int
        /// Why it is none, where that was seen before it was parsed.
        var failure: RowFailure?
        /// Whether it is a record of CSV, whose values are texts.
        var isRecord = false
    }

    /// `lines` where each line is a document; `stream` where they are cut by their brackets.
    private enum Shape { case unknown, array, lines, stream }

    private var window: ByteWindow
    private var shape = Shape.unknown
    private var elementCount = 0

    /// - Parameter read: fills a buffer and returns how many bytes it got; 0 at the end.
    init(file: String, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        window = ByteWindow(file: file, read: read)
    }

    /// The next document; nil at the end.
    ///
    /// Throws `.invalidInput` for an array that does not end, or has something else than commas between its elements;
    /// `.limitExceeded` for a document of more than 64 MiB; what `read` throws.
    mutating func next() throws -> Document? {
        try skipSpace()
        if shape == .unknown { try recognise() }
        guard window.position < window.filled else {
            if shape == .array { throw failure("the array does not end; ']' is missing") }
            return nil
        }
        if shape == .array {
            guard try enterElement() else { return nil }
        }
        var end = shape == .lines ? try lineEnd() : try valueEnd()
        // A bracket or comma where a value has to begin is a document, or it would be met again for ever.
        if shape == .stream, end == window.position { end += 1 }
        let document = Document(start: window.position, end: end, line: window.line)
        if shape != .lines { window.line += window.lineCount(window.position..<end) }
        window.position = end
        elementCount += 1
        return document
    }

    // Mutating, so that nobody makes a copy to call it on.
    mutating func withWindow<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { window.withBytes(body) }

    private mutating func recognise() throws {
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

    /// Whether documents are cut by their brackets, because the first line is no document and its first value is one. Else each
    /// line is a document, so that a malformed one spoils no other.
    private mutating func isStream() throws -> Bool {
        let lineCount = try lineEnd() - window.position
        if isDocument(byteCount: lineCount) { return false }
        let valueCount = try valueEnd() - window.position
        return isDocument(byteCount: valueCount)
    }

    private func isDocument(byteCount: Int) -> Bool {
        window.withBytes { bytes in
            let document = UnsafeRawBufferPointer(rebasing: bytes[window.position..<window.position + byteCount])
            return (try? JSONParser().parse(document)) != nil  // What is wrong with it is told later.
        }
    }

    /// Goes past the comma before an element. Returns false at the end of the array.
    private mutating func enterElement() throws -> Bool {
        if window[window.position] == UInt8(ascii: "]") {
            window.position += 1
            try skipSpace()
            if window.position < window.filled { throw failure("the array has ended, and more follows") }
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

    private func failure(_ message: String) -> CambiumError {
        CambiumError(.invalidInput, "Malformed JSON: \(message).", place: .init(file: window.file, line: window.line))
    }

    // MARK: Window

    private mutating func skipSpace() throws {
        while true {
            while window.position < window.filled {
                let byte = window[window.position]
                if byte == UInt8(ascii: "\n") {
                    window.line += 1
                } else if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"), byte != UInt8(ascii: "\r") {
                    return
                }
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

    /// The end of the value that begins here: where its brackets are closed; for a plain value, before the next delimiter.
    private mutating func valueEnd() throws -> Int {
        var scan = BracketScan()
        while true {
            let end = window.withBytes { scan.end(in: UnsafeRawBufferPointer(rebasing: $0[window.position..<window.filled])) }
            if let end { return window.position + end }
            // What does not end is given to the parser as it is: it tells what is wrong with it, and where.
            if try !window.refill() { return window.filled }
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
