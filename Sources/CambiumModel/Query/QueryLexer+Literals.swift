/// Reading strings, numbers and ids of objects.
extension QueryLexer {
    // MARK: Strings

    /// Reads a string in quotation marks, and returns its text.
    mutating func string(_ quote: UInt8) throws(CambiumError) -> String {
        let start = index
        index += 1
        var text: [UInt8] = []
        while let byte = peek(0) {
            if byte == quote {
                index += 1
                return String(decoding: text, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                try escape(start, &text)
            } else {
                text.append(byte)
                index += 1
            }
        }
        throw unterminated(start)
    }

    private func unterminated(_ start: Int) -> CambiumError {
        let quote = bytes[start] == UInt8(ascii: "'") ? "'" : "\""
        return error("The string has no end. Write \(quote) after its last character.", at: start)
    }

    /// Reads an escape such as `\n`, and appends to `text` the character that the escape represents.
    private mutating func escape(_ stringStart: Int, _ text: inout [UInt8]) throws(CambiumError) {
        guard let letter = peek(1) else { throw unterminated(stringStart) }
        switch letter {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"):
            let start = index
            let scalar = try escapedScalar(start)
            text.append(contentsOf: String(Character(scalar)).utf8)
            return
        default:
            let character = scalar(at: index + 1).map(UTF8.width) ?? 1
            let found = excerpt(index..<index + 1 + character)
            throw error("The string has the unknown escape '\(found)'. Write \\\\ for a backslash.", at: index)
        }
        index += 2
    }

    /// Reads an escape such as `\u00E9`, or the two escapes of a surrogate pair.
    private mutating func escapedScalar(_ start: Int) throws(CambiumError) -> Unicode.Scalar {
        let first = try codeUnit(start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, peek(0) == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
            let second = try codeUnit(index)
            if (0xDC00...0xDFFF).contains(second) {
                let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
                if let scalar = Unicode.Scalar(value) { return scalar }
            }
        }
        throw error(
            "The escape '\(excerpt(start..<min(start + 6, bytes.count)))' is half of a surrogate pair. Write both halves.", at: start)
    }

    /// Reads the escape of one UTF-16 code unit, such as `\u00E9`.
    private mutating func codeUnit(_ start: Int) throws(CambiumError) -> UInt16 {
        let digits = bytes[min(start + 2, bytes.count)..<min(start + 6, bytes.count)]
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == 4, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let unit = UInt16(text, radix: 16)
        else { throw error("An escape with \\u needs four hexadecimal digits. Write an escape such as \\u00E9.", at: start) }
        index = start + 6
        return unit
    }

    // MARK: Numbers

    /// Reads a number as in JSON, or the id of an object such as `3/42`.
    mutating func number() throws(CambiumError) -> QueryToken.Kind {
        let start = index
        if peek(0) == UInt8(ascii: "-") { index += 1 }
        let isSound = takeWhole() && takeFraction() && takeExponent()
        if isSound, peek(0) == UInt8(ascii: "/") { return try id(from: start) }
        guard isSound, !continues() else { throw malformedNumber(start) }
        return .number(String(decoding: bytes[start..<index], as: UTF8.self))
    }

    /// Whether `text` is a number as in JSON.
    static func isNumber(_ text: String) -> Bool {
        guard let lexer = try? QueryLexer(text) else { return false }  // The text is too long to be a number.
        var rest = lexer
        if rest.peek(0) == UInt8(ascii: "-") { rest.index += 1 }
        return rest.takeWhole() && rest.takeFraction() && rest.takeExponent() && rest.peek(0) == nil
    }

    private mutating func takeDigits() -> Int {
        let start = index
        while Self.isDigit(peek(0)) { index += 1 }
        return index - start
    }

    private mutating func takeWhole() -> Bool {
        let isZero = peek(0) == UInt8(ascii: "0")
        let count = takeDigits()
        return count == 1 || (count > 1 && !isZero)
    }

    private mutating func takeFraction() -> Bool {
        guard peek(0) == UInt8(ascii: ".") else { return true }
        index += 1
        return takeDigits() > 0
    }

    private mutating func takeExponent() -> Bool {
        guard let letter = peek(0), letter | 0x20 == UInt8(ascii: "e") else { return true }
        index += 1
        if peek(0) == UInt8(ascii: "+") || peek(0) == UInt8(ascii: "-") { index += 1 }
        return takeDigits() > 0
    }

    /// Whether more characters of the same word follow, as in `12abc` or `1990-01-01`.
    private func continues() -> Bool {
        guard let scalar = scalar(at: index) else { return false }
        return isInName(scalar, first: false) || scalar == "." || scalar == ":" || scalar == "/"
    }

    private mutating func malformedNumber(_ start: Int) -> CambiumError {
        while continues(), let scalar = scalar(at: index) { index += UTF8.width(scalar) }
        return error(
            "'\(excerpt(start..<index))' is not a number. Write a number as in JSON, and a date or another text in quotation marks.",
            at: start)
    }

    // MARK: Objects

    private mutating func id(from start: Int) throws(CambiumError) -> QueryToken.Kind {
        let digits = String(decoding: bytes[start..<index], as: UTF8.self)
        guard let root = UInt16(digits), root > 0, bytes[start] != UInt8(ascii: "-") else {
            while continues(), let scalar = scalar(at: index) { index += UTF8.width(scalar) }
            throw error(
                "'\(excerpt(start..<index))' is not an object. Begin with the name of an entity, or with its number from 1 to "
                    + "\(UInt16.max), such as Note/42.", at: start)
        }
        return .id(ObjectID(root: EntityNumber(rawValue: root), serial: try serial(from: start)))
    }

    /// Reads the `/` and the serial after the entity of an object, as in `Note/42`. `start` is the offset of the entity.
    mutating func serial(from start: Int) throws(CambiumError) -> UInt64 {
        index += 1
        let digits = index
        let isSound = takeWhole() && !continues()
        let serial = UInt64(String(decoding: bytes[digits..<index], as: UTF8.self))
        if isSound, let serial, serial <= ObjectID.serialMax { return serial }
        while continues(), let scalar = scalar(at: index) { index += UTF8.width(scalar) }
        throw malformedObject(start)
    }

    private func malformedObject(_ start: Int) -> CambiumError {
        error(
            "'\(excerpt(start..<index))' is not an object. Write an entity and a serial of at most \(ObjectID.serialMax), such as Note/42.",
            at: start)
    }
}
