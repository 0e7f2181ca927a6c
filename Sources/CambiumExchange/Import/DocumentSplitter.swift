internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

/// Cuts a stream of bytes into the documents of rows: the elements of arrays, the lines of JSON Lines, objects one after the other, or the
/// values at a pointer in each of several documents.
///
/// The splitter finds the ends of documents by looking only at strings, brackets and line ends. The parser checks the content of the
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
    private enum Shape { case unknown, lines, stream }

    /// An array or an object that contains rows, or leads to them.
    private struct Container {
        let isObject: Bool
        /// The number of steps of the pointer that lead to the container. It exceeds the steps by one if each element is a row.
        let level: Int
        let line: Int
        let column: Int
        var count = 0
        /// Whether an element was found to which the next step leads.
        var isFound = false
        /// The first keys, for a message.
        var keys: [String] = []
    }

    /// The maximum number of keys in the message about a missing one.
    private static let shownKeyCountMax = 8

    private var window: ByteWindow
    private let pointer: RowPointer?
    private var steps: [RowPointer.Step] { pointer?.steps ?? [] }
    private let stepCount: Int
    private var shape = Shape.unknown
    private var open: [Container] = []
    private var documentCount = 0
    /// Whether a whole array of rows precedes the position.
    private var isAfterArray = false

    /// - Parameters:
    ///   - rows: the place of the rows in each document; `nil` if the documents, or the elements of arrays, are the rows.
    ///   - read: fills a buffer and returns the number of bytes; 0 at the end.
    init(file: String, rows: RowPointer? = nil, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        window = ByteWindow(file: file, read: read)
        pointer = rows
        stepCount = rows?.steps.count ?? 0
    }

    /// Returns the next document; `nil` at the end.
    ///
    /// Throws `.invalidInput` if an array or an object around rows does not end, or is malformed. Throws `.limitExceeded` for a document of
    /// more than 64 MiB. Rethrows the errors of `read`.
    mutating func next() throws -> Document? {
        while true {
            try skipSpace()
            if shape == .unknown { try recognize() }
            guard window.position < window.filled else {
                if let container = open.last { throw unended(container) }
                return nil
            }
            let document = open.isEmpty ? try outermost() : try element()
            if let document { return document }
        }
    }

    // This method is mutating, because a caller that holds the splitter in an optional would otherwise copy the splitter.
    mutating func withWindow<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { window.withBytes(body) }

    // MARK: Shape

    private mutating func recognize() throws {
        try window.skipByteOrderMark()
        try skipSpace()
        guard window.position < window.filled else { return }
        if stepCount > 0 || window[window.position] == UInt8(ascii: "[") {
            shape = .stream
        } else {
            shape = try isStream() ? .stream : .lines
        }
    }

    /// Returns whether brackets, instead of line ends, end the documents. Returns `true` if the first value has several lines, or if it is
    /// valid JSON and followed by text on its line. A comma at the end of the line is not such a text. Otherwise, each line is a document,
    /// so that a malformed line affects no other line.
    private mutating func isStream() throws -> Bool {
        var byteCount = 0
        if window[window.position] == UInt8(ascii: "{") {
            switch try firstShape() {
            case .lines: return false
            case .stream: return true
            case .oneLine(let count): byteCount = count
            }
        } else {
            byteCount = try valueEnd() - window.position
        }
        guard isDocument(byteCount: byteCount) else { return false }
        // A line may have any length, so the rest of the line is read only up to the first character that is not a space.
        var offset = byteCount
        var hasComma = false
        while true {
            while window.position + offset < window.filled {
                switch window[window.position + offset] {
                case UInt8(ascii: "\n"): return false
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): offset += 1
                case UInt8(ascii: ",") where !hasComma: (hasComma, offset) = (true, offset + 1)
                default: return true
                }
            }
            if try !window.refill() { return false }
        }
    }

    private mutating func firstShape() throws -> ShapeScan.Shape {
        var scan = ShapeScan()
        while true {
            let shape = window.withBytes { scan.shape(of: UnsafeRawBufferPointer(rebasing: $0[window.position..<window.filled])) }
            if let shape { return shape }
            if try !window.refill() { return scan.shapeAtEnd }
        }
    }

    private func isDocument(byteCount: Int) -> Bool {
        withPart(byteCount) { (try? JSONParser().parse($0)) != nil }  // A faulty document is parsed again later and reported then.
    }

    private func withPart<Result>(_ byteCount: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        window.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[window.position..<window.position + byteCount])) }
    }

    // MARK: Documents

    /// Returns the document at the position outside of all arrays and objects. Returns `nil` if the position has entered an array or an
    /// object.
    private mutating func outermost() throws -> Document? {
        if try isByteOrderMark() {
            let flaw = "a byte order mark is in the middle of the input; remove it where the files are joined"
            return document(to: window.position + 3, flaw)
        }
        if shape == .lines {
            let end = try lineEnd()
            return document(to: end, strayComma(to: end))
        }
        let byte = window[window.position]
        guard byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") else { return try value(0) }
        if stepCount > 0 || isAfterArray { throw failure("more text follows the end of the \(isAfterArray ? "array" : "document")") }
        // A bracket or comma where a value must begin becomes a separate document, so that the splitter advances.
        let isComma = byte == UInt8(ascii: ",") && documentCount > 0
        return document(to: window.position + 1, isComma ? Self.comma : nil)
    }

    private static let comma = "a comma follows the row; omit commas between rows, or enclose all rows in [ and ]"

    /// Returns the message for a line that ends with a comma after a whole row.
    private func strayComma(to end: Int) -> String? {
        guard window[window.position] == UInt8(ascii: "{") else { return nil }
        return withPart(end - window.position) { line in
            guard line.last(where: { $0 > 0x20 }) == UInt8(ascii: ",") else { return nil }
            var scan = BracketScan()
            guard let end = scan.end(in: line) else { return nil }
            return line[end...].count(where: { $0 > 0x20 }) == 1 ? Self.comma : nil
        }
    }

    private mutating func isByteOrderMark() throws -> Bool {
        guard window[window.position] == 0xEF else { return false }
        while window.filled - window.position < 3, try window.refill() {}
        guard window.filled - window.position >= 3 else { return false }
        return window[window.position + 1] == 0xBB && window[window.position + 2] == 0xBF
    }

    /// Returns the document between the position and its end, and moves the position to the end.
    ///
    /// - Parameter flaw: the reason why the document is malformed, without the column.
    private mutating func document(to end: Int, _ flaw: String? = nil) -> Document {
        var document = Document(start: window.position, end: end, line: window.line, column: window.column)
        document.isFirst = documentCount == 0 && open.isEmpty
        if let flaw { document.failure = malformed(flaw) }
        // A line contains no line end, so the window need not count line ends.
        if shape == .lines { window.position = end } else { window.advance(to: end) }
        documentCount += 1
        return document
    }

    /// Enters the array or the object at the position if the pointer leads into it or to it. Otherwise, returns the value as a document.
    ///
    /// - Parameter level: the number of steps of the pointer that lead to the value.
    private mutating func value(_ level: Int) throws -> Document? {
        let byte = window[window.position]
        let (isArray, isObject) = (byte == UInt8(ascii: "["), byte == UInt8(ascii: "{"))
        let enters: Bool
        if level < stepCount {
            switch steps[level] {
            case .all: enters = isArray || isObject
            case .key(_, let index): enters = isObject || isArray && index != nil
            }
        } else {
            enters = level == stepCount && isArray
        }
        if enters {
            open.append(Container(isObject: isObject, level: level, line: window.line, column: window.column))
            window.position += 1
            return nil
        }
        let end = try valueEnd()
        if end == window.position { return document(to: end, missingValue) }
        return document(to: end, level < stepCount ? "the pointer to the rows, \(pointerText), leads into \(found(byte))" : nil)
    }

    private var pointerText: String { (pointer?.text ?? "").excerpt }

    private func found(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "["): "an array, whose elements have indexes or '*' instead of keys"
        case UInt8(ascii: "\""): "a text"
        default: "a value without elements"
        }
    }

    /// The flaw of a missing value: a comma, a `]` or a `}` is found instead of a value.
    private var missingValue: String {
        let wanted = (open.last?.count ?? 0) > 1 && open.last?.isObject == false ? "a value after the comma" : "a value"
        return "expected \(wanted), but found '\(Character(Unicode.Scalar(window[window.position])))'"
    }

    // MARK: Arrays and objects

    /// Reads the next element of the innermost array or object, or leaves it at its end. Returns a document if the element is a row.
    private mutating func element() throws -> Document? {
        let inner = open.count - 1
        let container = open[inner]
        let end = container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        if window[window.position] == end { return leave() }
        if container.count > 0 {
            guard window[window.position] == UInt8(ascii: ",") else {
                throw failure("',' or '\(container.isObject ? "}" : "]")' is missing between elements")
            }
            window.position += 1
            try skipToText()
        }
        open[inner].count += 1
        let isNext: Bool
        if container.isObject {
            let key = try self.key()
            if open[inner].keys.count < Self.shownKeyCountMax { open[inner].keys.append(key) }
            isNext = isStep(container, key)
        } else {
            isNext = container.level == stepCount || isStep(container, nil)
        }
        if isNext {
            open[inner].isFound = true
            return try value(container.level + 1)
        }
        try skipValue()
        return nil
    }

    /// Returns whether the next step of the pointer leads to the current element of a container.
    private func isStep(_ container: Container, _ key: String?) -> Bool {
        guard container.level < stepCount else { return false }
        switch steps[container.level] {
        case .all: return true
        case .key(let wanted, let index): return key.map { $0.utf8.elementsEqual(wanted) } ?? (index == container.count)
        }
    }

    /// Leaves the innermost array or object. Returns a document with a failure if the pointer leads to none of its elements.
    private mutating func leave() -> Document? {
        let container = open.removeLast()
        window.position += 1
        if open.isEmpty { isAfterArray = true }
        guard container.level < stepCount, !container.isFound, steps[container.level] != .all else { return nil }
        let keys = container.keys.isEmpty ? "" : "; its keys are \(container.keys.map { "'\($0.excerpt)'" }.joined(separator: ", "))"
        let what = container.isObject ? "object\(keys)" : "array, which has \(container.count) elements"
        var document = Document(start: window.position, end: window.position, line: container.line, column: container.column)
        let message = "the pointer to the rows, \(pointerText), leads to nothing in the \(what)"
        document.failure = RowFailure(code: .malformed, pointer: "", message: "\(message), at column \(container.column)")
        documentCount += 1
        return document
    }

    /// Returns the key at the position, and moves the position to the value of the key.
    private mutating func key() throws -> String {
        guard window[window.position] == UInt8(ascii: "\"") else { throw failure("expected a key in double quotation marks") }
        let end = try valueEnd()
        guard case .string(let key)? = try checked(to: end) else { throw failure("expected a key in double quotation marks") }
        window.advance(to: end)
        try skipToText()
        guard window[window.position] == UInt8(ascii: ":") else { throw failure("expected ':' after a key") }
        window.position += 1
        try skipToText()
        return key
    }

    private mutating func skipValue() throws {
        let end = try valueEnd()
        if end == window.position { throw failure(missingValue) }
        _ = try checked(to: end)
        window.advance(to: end)
    }

    /// Returns the value between the position and its end. Throws `.invalidInput` if the value is malformed.
    private func checked(to end: Int) throws -> JSONValue? {
        let failure: JSONError? = withPart(end - window.position) { bytes in
            do throws(JSONError) {
                _ = try JSONParser().parse(bytes)
                return nil
            } catch { return error }
        }
        guard let failure else {
            // Only keys are needed as values, and the first byte distinguishes them.
            guard window[window.position] == UInt8(ascii: "\"") else { return nil }
            return withPart(end - window.position) { try? JSONValue(parsing: $0) }  // The text was parsed before.
        }
        let column = failure.line == 1 ? window.column - 1 + failure.column : failure.column
        let place = CambiumError.Place(file: window.file, line: window.line + failure.line - 1, column: column)
        throw CambiumError(.invalidInput, "Malformed JSON: \(failure.message).", place: place)
    }

    private mutating func skipToText() throws {
        try skipSpace()
        if window.position == window.filled, let container = open.last { throw unended(container) }
    }

    // MARK: Failures

    private func unended(_ container: Container) -> CambiumError {
        container.isObject ? failure("the object does not end; '}' is missing") : failure("the array does not end; ']' is missing")
    }

    private func malformed(_ message: String) -> RowFailure {
        RowFailure(code: .malformed, pointer: "", message: "malformed JSON: \(message), at column \(window.column)")
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
