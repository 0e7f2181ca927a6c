internal import CambiumJSON

/// A lexer: it reads the tokens of a query's text, one after the other. A method that reads a part of the text moves `index` to the end of
/// this part.
///
/// The lexer creates a token when the parser requests it, so the memory for tokens does not depend on the length of the text.
struct QueryLexer: Sendable {
    let bytes: [UInt8]
    /// The offset of the next byte.
    var index = 0

    /// The maximum number of bytes of a query's text: 1 MiB.
    static let byteCountMax = 1 << 20

    init(_ text: String) throws(CambiumError) {
        guard text.utf8.count <= Self.byteCountMax else {
            throw CambiumError(
                .limitExceeded,
                "The text has \(text.utf8.count) bytes, but a query may have at most \(Self.byteCountMax) bytes. "
                    + "Pass long lists as parameters.",
                place: .init(line: 1, column: 1))
        }
        bytes = Array(text.utf8)
    }

    mutating func next() throws(CambiumError) -> QueryToken {
        skipSpace()
        let start = index
        let kind = try kind()
        return QueryToken(kind: kind, start: start, end: index)
    }

    private mutating func kind() throws(CambiumError) -> QueryToken.Kind {
        guard let byte = peek(0) else { return .end }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string(byte))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "-") where Self.isDigit(peek(1)): return try number()
        case UInt8(ascii: "$"): return try parameterName().map { .parameter($0) } ?? unknown()
        case UInt8(ascii: "@"): return prefixedName().map { .function($0) } ?? unknown()
        case UInt8(ascii: "#"): return prefixedName().map { .escapedName($0) } ?? unknown()
        default: break
        }
        if let symbol = symbol() { return .symbol(symbol) }
        guard let name = name(at: index) else { return unknown() }
        let start = index
        index += name.utf8.count
        guard peek(0) == UInt8(ascii: "/") else { return .name(CanonicalText.ordered(name)) }
        return .object(entity: name, serial: try serial(from: start))
    }

    // MARK: Characters

    func peek(_ distance: Int) -> UInt8? { index + distance < bytes.count ? bytes[index + distance] : nil }

    static func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }

    /// Returns the character at an offset. The bytes are valid UTF-8, because they come from a `String`.
    func scalar(at offset: Int) -> Unicode.Scalar? {
        guard offset < bytes.count else { return nil }
        let first = UInt32(bytes[offset])
        if first < 0x80 { return Unicode.Scalar(first) }
        let count = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let lead = first & (0x7F >> UInt32(count))
        return Unicode.Scalar(bytes[offset..<min(offset + count, bytes.count)].dropFirst().reduce(lead) { $0 << 6 | UInt32($1 & 0x3F) })
    }

    private mutating func skipSpace() {
        while let byte = peek(0) {
            // Comparisons for ASCII come first, because looking up a property of a character takes longer.
            if byte == UInt8(ascii: " ") {
                index += 1
            } else if byte > UInt8(ascii: " "), byte < 0x7F {
                return
            } else {
                guard let scalar = scalar(at: index), scalar.properties.isWhitespace else { return }
                index += UTF8.width(scalar)
            }
        }
    }

    private mutating func unknown() -> QueryToken.Kind {
        guard let scalar = scalar(at: index) else { return .end }
        index += UTF8.width(scalar)
        return .unknown(scalar)
    }

    // MARK: Names

    /// Whether the name of an entity or a property can contain the character. If `first` is `true`, whether a name can begin with the
    /// character. `_` is allowed, because of `_id` and `_entity`.
    func isInName(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        if scalar == "_" { return true }
        if scalar.value < 0x80 {
            let isLetter = (0x61...0x7A).contains(scalar.value | 0x20)
            return isLetter || (!first && (scalar == "-" || (0x30...0x39).contains(scalar.value)))
        }
        return first ? scalar.properties.isXIDStart : scalar.properties.isXIDContinue
    }

    /// Returns the name at an offset, or `nil` if no name begins there.
    private func name(at start: Int) -> String? {
        var end = start
        while let scalar = scalar(at: end), isInName(scalar, first: end == start) { end += UTF8.width(scalar) }
        return end > start ? String(decoding: bytes[start..<end], as: UTF8.self) : nil
    }

    /// Reads a mark such as `$`, and the name after it. Returns `nil` and reads nothing if no name follows the mark.
    private mutating func prefixedName() -> String? {
        guard let name = name(at: index + 1) else { return nil }
        index += 1 + name.utf8.count
        return CanonicalText.ordered(name)
    }

    /// Reads the name of a parameter. If the names of a path follow the parameter, as in `$source.owner.name`, also reads these names.
    private mutating func parameterName() throws(CambiumError) -> String? {
        guard var parameter = prefixedName() else { return nil }
        var count = 0
        while peek(0) == UInt8(ascii: "."), let next = prefixedName() {
            count += 1
            guard count <= QueryPath.nameCountMax else {
                let message = "The path has more than \(QueryPath.nameCountMax) names. Write a shorter path."
                throw error(message, at: index, code: .limitExceeded)
            }
            parameter += "." + next
        }
        return parameter
    }

    // MARK: Symbols

    private static let symbols: [(text: StaticString, symbol: QueryToken.Symbol)] = [
        ("==", .equal), ("=<", .lessOrEqual), ("=>", .greaterOrEqual), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual),
        (">=", .greaterOrEqual), ("&&", .and), ("||", .or), ("=", .equal), ("<", .less), (">", .greater), ("!", .not),
        ("(", .openParenthesis), (")", .closeParenthesis), ("{", .openBrace), ("}", .closeBrace), ("[", .openBracket),
        ("]", .closeBracket), (",", .comma), (".", .dot), ("-", .minus),
    ]

    private mutating func symbol() -> QueryToken.Symbol? {
        guard let first = peek(0) else { return nil }
        let second = peek(1)
        for (text, symbol) in Self.symbols {
            let matches = text.withUTF8Buffer { $0[0] == first && ($0.count == 1 || $0[1] == second) }
            if matches {
                index += text.utf8CodeUnitCount
                return symbol
            }
        }
        return nil
    }

    // MARK: Options

    /// Reads an option such as `[cd]`, and returns its letters. The opening bracket is at `start`. Returns `nil` unless letters and a
    /// closing bracket follow.
    mutating func takeOption(at start: Int) -> String? {
        let end = bytes[(start + 1)...].firstIndex { !(0x61...0x7A).contains($0 | 0x20) } ?? bytes.count
        guard end > start + 1, end < bytes.count, bytes[end] == UInt8(ascii: "]") else { return nil }
        index = end + 1
        return String(decoding: bytes[start + 1..<end], as: UTF8.self)
    }

    // MARK: Errors

    func error(_ message: String, at offset: Int, code: CambiumError.Code = .invalidInput) -> CambiumError {
        CambiumError(code, message, place: .init(offset: offset, in: bytes))
    }

    /// Returns a part of the text for a message, shortened if it is long.
    func excerpt(_ range: Range<Int>) -> String {
        Excerpt.plain(String(decoding: bytes[range].prefix(4 * (Excerpt.characterCountMax + 1)), as: UTF8.self))
    }
}
