internal import CambiumBytes

/// Finds the fields of a CSV record, over several windows. Source: RFC 4180; line ends may be LF as well as CRLF.
///
/// Where a quote is broken the record ends with its first line: what follows may be sound.
struct CSVRecordScan {
    struct Field {
        /// Without quotes around it.
        var start: Int
        var end: Int
        var isQuoted = false
        /// Whether it has quotes in it, each of which is written twice.
        var isDoubled = false

        var isEmpty: Bool { start == end }
    }

    struct Flaw {
        let offset: Int
        let message: String
    }

    private enum State { case fieldStart, plain, quoted, closed, closedByReturn }

    /// Fields that a record can have: there are no more attributes and relationships in a schema.
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

    /// The offset behind the record that begins at the buffer's first byte; nil where the buffer ends before it does. Called again
    /// with more of the same bytes it goes on where it stopped.
    ///
    /// - Parameter isLast: whether no bytes come behind these.
    mutating func end(in bytes: UnsafeRawBufferPointer, isLast: Bool) -> Int? {
        while flaw == nil, index < bytes.count {
            let byte = bytes[index]
            switch state {
            case .fieldStart: begin(byte)
            case .plain:
                if byte == UInt8(ascii: "\n") { return closeRecord(bytes) }
                plain(byte)
            case .quoted:
                // Text in quotes may be long.
                index = ByteSearch.firstIndex(of: UInt8(ascii: "\""), in: bytes, from: index, to: bytes.count) ?? bytes.count
                if index == bytes.count { continue }
                state = .closed
            case .closed, .closedByReturn:
                if byte == UInt8(ascii: "\n") { return closeRecord(bytes) }
                closed(byte)
            }
            index += 1
        }
        if flaw == nil, isLast {
            if state != .quoted { return closeLast(bytes) }
            flaw = Flaw(offset: field.start - 1, message: "a quote that does not end")
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
            // The byte is looked at again, as a part of the field.
            state = .plain
            index -= 1
        }
    }

    private mutating func plain(_ byte: UInt8) {
        if byte == UInt8(ascii: ",") {
            close(at: index)
        } else if byte == UInt8(ascii: "\"") {
            flaw = Flaw(offset: index, message: "a quote inside of a field that does not begin with one")
        }
    }

    /// Behind a quote that closes a field, or is the first of two.
    private mutating func closed(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\"") where state == .closed:
            field.isDoubled = true
            state = .quoted
        case UInt8(ascii: ",") where state == .closed: close(at: index - 1)
        case UInt8(ascii: "\r") where state == .closed: state = .closedByReturn
        default: flaw = Flaw(offset: index, message: "text behind the quote that ends a field")
        }
    }

    private mutating func close(at end: Int) {
        field.end = end
        if fields.count == Self.fieldCountMax {
            flaw = Flaw(offset: field.start, message: "more than \(Self.fieldCountMax) fields")
        } else {
            fields.append(field)
        }
        state = .fieldStart
    }

    /// At a line end.
    private mutating func closeRecord(_ bytes: UnsafeRawBufferPointer) -> Int {
        closeField(bytes)
        return index + 1
    }

    /// At the end of the input, which may lack a line end.
    private mutating func closeLast(_ bytes: UnsafeRawBufferPointer) -> Int {
        if state == .fieldStart { field = Field(start: index, end: index) }
        closeField(bytes)
        return index
    }

    private mutating func closeField(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .closed: close(at: index - 1)
        case .closedByReturn: close(at: index - 2)
        default:
            let hasReturn = index > field.start && bytes[index - 1] == UInt8(ascii: "\r")
            close(at: hasReturn ? index - 1 : index)
        }
    }
}
