/// Decides whether lines or brackets end the documents of an input, by its whole first object, which may be malformed.
///
/// A row of JSON Lines has all its brackets on its line. If brackets are open at the end of the first line, either the object extends over
/// several lines, or the line is malformed. Between the keys of an object, no line can begin with `{`. So such a line is the next row, and
/// the line before it is malformed.
struct ShapeScan {
    enum Shape {
        case oneLine(byteCount: Int)
        case lines, stream
    }

    /// The maximum number of open brackets whose kinds are kept. A document with more of them is refused in any case.
    private static let depthMax = 1024

    private var depth = 0
    /// Whether each open bracket belongs to an object.
    private var areObjects: [Bool] = []
    private var isInString = false
    private var isEscaped = false
    private var isAtLineStart = false
    private var lineCount = 0
    /// The last byte that is not white space.
    private var previous: UInt8 = 0
    /// Whether a later line begins with `{` although no object can begin there.
    private var isDoubtful = false
    private var scanned = 0

    /// Returns the shape of an input that begins with the bytes. Returns `nil` if more bytes are needed. The caller then passes the same
    /// bytes again, followed by more bytes.
    mutating func shape(of bytes: UnsafeRawBufferPointer) -> Shape? {
        while scanned < bytes.count {
            let byte = bytes[scanned]
            scanned += 1
            if let shape = take(byte) { return shape }
        }
        return nil
    }

    /// The shape if the input ends within its first object.
    var shapeAtEnd: Shape { lineCount == 0 || isDoubtful ? .lines : .stream }

    private mutating func take(_ byte: UInt8) -> Shape? {
        switch byte {
        case UInt8(ascii: "\n"):
            // A string contains no line end, so a string without a closing quotation mark ends here.
            (isInString, isEscaped, isAtLineStart) = (false, false, true)
            return nil
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
            isEscaped = false
            return nil
        default: break
        }
        if isInString {
            if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            return nil
        }
        if isAtLineStart {
            isAtLineStart = false
            lineCount += 1
            if byte == UInt8(ascii: "{"), isMisplaced {
                if lineCount == 1 { return .lines }
                isDoubtful = true
            }
        }
        previous = byte
        return bracket(byte)
    }

    private mutating func bracket(_ byte: UInt8) -> Shape? {
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            if depth <= Self.depthMax { areObjects.append(byte == UInt8(ascii: "{")) }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth <= Self.depthMax { areObjects.removeLast() }
            depth -= 1
            if depth == 0 { return lineCount == 0 ? .oneLine(byteCount: scanned) : .stream }
        default: break
        }
        return nil
    }

    /// Whether no object can begin after the previous byte.
    private var isMisplaced: Bool {
        guard let isInObject = areObjects.last else { return false }
        let isAfterComma = previous == UInt8(ascii: ",") || previous == UInt8(ascii: "[")
        return previous != UInt8(ascii: ":") && (isInObject || !isAfterComma)
    }
}
