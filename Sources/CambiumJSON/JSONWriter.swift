/// A writer of JSON text, as bytes of UTF-8.
///
/// The caller opens and closes arrays and objects. The writer adds the commas between their elements.
public struct JSONWriter: Sendable {
    /// The characters of strings that a writer escapes.
    public enum Escapes: Sendable {
        /// The characters that JSON forbids in strings: quotes, backslashes, and controls below U+0020.
        case required
        /// The characters of `required`, and the characters that a terminal obeys or a viewer hides (`ControlText`).
        case controls
    }

    public internal(set) var bytes: [UInt8] = []
    let escapes: Escapes
    private var needsComma = false

    /// - Parameter escapes: Use `.required` for text that is stored or compared, and not shown.
    public init(escapes: Escapes = .controls) { self.escapes = escapes }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Drops the bytes that were written so far, which the caller must have copied if it still needs them. The next bytes continue the
    /// text.
    public mutating func forgetBytes() { bytes.removeAll(keepingCapacity: true) }

    // MARK: Structure

    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    public mutating func key(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Ends a line. The next value begins a new document, so no comma precedes it.
    public mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Starts a new line for the next element of an array.
    public mutating func separateLine() {
        separate()
        endLine()
    }

    // MARK: Values

    public mutating func null() { raw("null") }
    public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }
    public mutating func number(_ value: Int) { number(Int64(value)) }
    public mutating func number(_ value: UInt64) {
        separate()
        appendDigits(value)
        needsComma = true
    }

    public mutating func number(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude)
        needsComma = true
    }

    /// Writes a string that consists of `beginning`, which needs no escapes, and a number.
    public mutating func string(_ beginning: [UInt8], _ number: UInt64) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        beginning.withUnsafeBytes { bytes.append(contentsOf: $0) }
        appendDigits(number)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    public mutating func string(_ value: String) {
        separate()
        quote(value)
        needsComma = true
    }

    /// Writes a string from its UTF-8 bytes.
    public mutating func string(utf8: UnsafeRawBufferPointer) {
        separate()
        quote(utf8)
        needsComma = true
    }

    /// Writes a key that already has its quotes and its colon.
    public mutating func quotedKey(_ key: [UInt8]) {
        separate()
        key.withUnsafeBytes { bytes.append(contentsOf: $0) }
        needsComma = false
    }

    /// Writes text that is already valid JSON: a number, or a complete value whose strings need no escapes.
    public mutating func raw(_ json: String) {
        separate()
        bytes.append(contentsOf: json.utf8)
        needsComma = true
    }

    public mutating func raw(_ json: UnsafeRawBufferPointer) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Writes a complete value that is already JSON text. Control characters may occur only in its strings, and are escaped there.
    public mutating func json(_ text: String) {
        separate()
        var text = text
        text.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0), isQuoted: false) }
        needsComma = true
    }

    public mutating func write(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let text): raw(text)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray()
            for element in elements { write(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(member.key)
                write(member.value)
            }
            endObject()
        }
    }

    // MARK: Members

    /// Writes a member with a text; null if there is no text.
    package mutating func member(_ name: String, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// Writes a member with a number; null if there is no number.
    package mutating func member(_ name: String, _ number: (some FixedWidthInteger)?) {
        key(name)
        raw(number.map { String($0) } ?? "null")
    }

    package mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        bool(flag)
    }

    package mutating func member(_ name: String, _ value: JSONValue) {
        key(name)
        write(value)
    }

    package mutating func member(_ name: String, _ texts: some Sequence<String>) { array(name, texts) { $0.string($1) } }

    /// Writes an object whose members `members` writes.
    package mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
        beginObject()
        try members(&self)
        endObject()
    }

    /// Writes a member with an object whose members `members` writes.
    package mutating func object(_ name: String, _ members: (inout JSONWriter) throws -> Void) rethrows {
        key(name)
        try object(members)
    }

    /// Writes a member with an array. `write` writes each element.
    package mutating func array<Element>(
        _ name: String, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        key(name)
        beginArray()
        for element in elements { try write(&self, element) }
        endArray()
    }

    // MARK: Bytes

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func appendDigits(_ value: UInt64) {
        var (rest, digits) = (value, (UInt64(0), UInt64(0), UInt64(0)))
        withUnsafeMutableBytes(of: &digits) { buffer in
            var start = buffer.count
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                start -= 1
                buffer[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest > 0
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[start...]))
        }
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }
}

/// Writing strings. Most strings need no escapes, so runs of plain characters are found eight bytes at a time.
extension JSONWriter {
    mutating func quote(_ value: String) {
        var value = value
        value.withUTF8 { quote(UnsafeRawBufferPointer($0)) }
    }

    mutating func quote(_ utf8: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(utf8, isQuoted: true)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends text, with escapes for the characters that need them.
    ///
    /// - Parameter isQuoted: Whether the bytes are the content of a string. If not, they are JSON text, in which quotes and line ends are
    ///   not escaped.
    @inline(__always)
    mutating func appendEscaped(_ utf8: UnsafeRawBufferPointer, isQuoted: Bool) {
        var (plain, index) = (0, 0)
        let count = utf8.count
        while index < count {
            if index &+ 8 <= count, Self.isPlain(utf8.loadUnaligned(fromByteOffset: index, as: UInt64.self)) {
                index &+= 8
                continue
            }
            let end = min(index &+ 8, count)
            while index < end {
                let escapedCount = escapedCount(utf8, index, isQuoted)
                if escapedCount == 0 {
                    index &+= 1
                    continue
                }
                bytes.append(contentsOf: utf8[plain..<index])
                escape(ControlText.scalar(utf8, at: index, escapedCount))
                index &+= escapedCount
                plain = index
            }
        }
        bytes.append(contentsOf: utf8[plain...])
    }

    /// Whether eight bytes contain nothing to escape: no quote, no backslash, no control character, and no byte that begins a control
    /// character beyond ASCII.
    @inline(__always)
    private static func isPlain(_ word: UInt64) -> Bool {
        let low = (word &- ones &* 0x20) & ~word
        let found = low | zeros(word, 0x22) | zeros(word, 0x5C) | zeros(word, 0x7F)
        if word & tops == 0 { return found & tops == 0 }
        return (found | zeros(word, 0xC2) | zeros(word, 0xD8) | zeros(word, 0xE2)) & tops == 0
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// Returns a word in which the top bit of each byte is set if the byte at the same position in `word` equals `byte`. The top bits of
    /// bytes after a match may also be set. These bits do not change the result of `isPlain`, because the match alone makes the result
    /// `false`.
    @inline(__always)
    private static func zeros(_ word: UInt64, _ byte: UInt64) -> UInt64 {
        let difference = word ^ (ones &* byte)
        return (difference &- ones) & ~difference
    }

    /// Returns the number of bytes at `index` that must be replaced by one escape, or 0 if the byte needs no escape.
    @inline(__always)
    private func escapedCount(_ utf8: UnsafeRawBufferPointer, _ index: Int, _ isQuoted: Bool) -> Int {
        let byte = utf8[index]
        if byte < 0x7F {
            return isQuoted && (byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")) ? 1 : 0
        }
        return escapes == .controls ? ControlText.byteCount(utf8, at: index) : 0
    }

    private mutating func escape(_ scalar: UInt32) {
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22, 0x5C: bytes.append(UInt8(scalar))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            bytes.append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] { bytes.append(Self.digit(scalar >> UInt32(shift) & 15)) }
        }
    }

    private static func digit(_ value: UInt32) -> UInt8 { UInt8(value < 10 ? 0x30 + value : 0x57 + value) }
}
