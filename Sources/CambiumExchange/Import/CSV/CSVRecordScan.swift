internal import CambiumBytes

/// Finds the fields of a CSV record, even if the file is read in parts that end within the record. Source: RFC 4180; a line may end with LF
/// or CRLF.
///
/// If a quotation mark is misplaced, or if no LF follows a CR outside of quotation marks, the record ends with its first line. The next
/// scan then begins with the following line.
struct CSVRecordScan {
    struct Field {
        /// The offset of the field's text. An opening quote is not part of the text.
        var start: Int
        /// The offset after the field's text. A closing quote is not part of the text.
        var end: Int
        var isQuoted = false
        /// Whether the field's text contains quotation marks. CSV writes each of them twice.
        var isDoubled = false

        var isEmpty: Bool { start == end }
    }

    struct Flaw {
        let offset: Int
        let message: String
    }

    private enum State { case fieldStart, plain, returned, quoted, closed, closedByReturn }

    /// The maximum number of fields of a record. No entity has more attributes and relationships, so each of them can have a column.
    static let fieldCountMax = 65_536

    private(set) var fields: [Field] = []
    private(set) var flaw: Flaw?
    private var state = State.fieldStart
    private var field = Field(start: 0, end: 0)
    private var index = 0

    mutating func removeAll() {
        fields.removeAll(keepingCapacity: true)
        flaw = nil
        state = .fieldStart
        index = 0
    }

    /// Returns the offset after the record that begins at the buffer's first byte; `nil` if the buffer ends within the record. The caller
    /// then passes the same bytes again, followed by more bytes, and the scan continues where it stopped.
    ///
    /// - Parameter isLast: whether the input ends with these bytes.
    mutating func end(in bytes: UnsafeRawBufferPointer, isLast: Bool) -> Int? {
        while flaw == nil, index < bytes.count {
            let byte = bytes[index]
            switch state {
            case .fieldStart: begin(byte)
            case .plain:
                if byte == UInt8(ascii: "\n") { return closeRecord() }
                plain(byte)
            case .quoted:
                // A quoted text may be long, so a fast search finds its end.
                index = ByteSearch.firstIndex(of: UInt8(ascii: "\""), in: bytes, from: index, to: bytes.count) ?? bytes.count
                if index == bytes.count { continue }
                state = .closed
            case .returned:
                if byte == UInt8(ascii: "\n") { return closeRecord() }
                flaw = Self.lineEndFlaw(index - 1)
            case .closed, .closedByReturn:
                if byte == UInt8(ascii: "\n") { return closeRecord() }
                closed(byte)
            }
            index += 1
        }
        if flaw == nil, isLast {
            switch state {
            case .quoted: flaw = Flaw(offset: field.start - 1, message: "a quoted field does not end; its second quotation mark is missing")
            case .returned, .closedByReturn: flaw = Self.lineEndFlaw(index - 1)
            default: return closeLast()
            }
        }
        guard flaw != nil else { return nil }
        if let end = ByteSearch.firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: 0, to: bytes.count) { return end + 1 }
        return isLast ? bytes.count : nil
    }

    private mutating func begin(_ byte: UInt8) {
        field = Field(start: index, end: index)
        if byte == UInt8(ascii: "\"") {
            field.start += 1
            field.isQuoted = true
            state = .quoted
        } else {
            // The byte is part of the field, so the next step reads it again.
            state = .plain
            index -= 1
        }
    }

    private static func lineEndFlaw(_ offset: Int) -> Flaw {
        Flaw(offset: offset, message: "no LF follows a CR; a line ends with LF or CRLF, and any other CR must be in quotes")
    }

    @inline(__always)
    private mutating func plain(_ byte: UInt8) {
        if byte > UInt8(ascii: ",") { return }
        switch byte {
        case UInt8(ascii: ","): close(at: index)
        case UInt8(ascii: "\""):
            flaw = Flaw(offset: index, message: "a quotation mark is inside a field without quotation marks; put them around the field")
        case UInt8(ascii: "\r"): state = .returned
        default: break
        }
    }

    /// Examines the byte after a quotation mark. This byte decides whether the mark ends the field or is the first of two marks.
    private mutating func closed(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\"") where state == .closed:
            field.isDoubled = true
            state = .quoted
        case UInt8(ascii: ",") where state == .closed: close(at: index - 1)
        case UInt8(ascii: "\r") where state == .closed: state = .closedByReturn
        case _ where state == .closedByReturn: flaw = Self.lineEndFlaw(index - 1)
        default:
            let message = "text follows the quotation mark that ends a field; write each quotation mark in a text twice"
            flaw = Flaw(offset: index, message: message)
        }
    }

    private mutating func close(at end: Int) {
        field.end = end
        if fields.count == Self.fieldCountMax {
            flaw = Flaw(offset: field.start, message: "the record has more than \(Self.fieldCountMax) fields")
        } else {
            fields.append(field)
        }
        state = .fieldStart
    }

    /// Closes the record at a line end.
    private mutating func closeRecord() -> Int {
        closeField()
        return index + 1
    }

    /// Closes the record at the end of the input, if the last line has no line end.
    private mutating func closeLast() -> Int {
        if state == .fieldStart { field = Field(start: index, end: index) }
        closeField()
        return index
    }

    private mutating func closeField() {
        switch state {
        case .closed: close(at: index - 1)
        case .closedByReturn: close(at: index - 2)
        case .returned: close(at: index - 1)
        default: close(at: index)
        }
    }
}
