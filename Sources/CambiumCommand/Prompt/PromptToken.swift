/// A token of a prompt line. It can be larger than a token of a condition: a whole path is one word.
struct PromptToken: Equatable {
    enum Kind { case word, string, symbol }

    let kind: Kind
    let text: String
    /// The offset of the first byte.
    let start: Int
    /// The offset after the last byte.
    let end: Int
    /// The number of parentheses, braces and brackets around the token.
    let depth: Int

    /// Returns the tokens of a line. A string without an end extends to the end of the line.
    static func tokens(_ line: String) -> [PromptToken] {
        let bytes = Array(line.utf8)
        var (tokens, index, depth): ([PromptToken], Int, Int) = ([], 0, 0)
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x20 || byte == 0x09 {
                index += 1
                continue
            }
            let start = index
            var kind = Kind.symbol
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                kind = .string
                index = endOfString(bytes, index) ?? bytes.count
            } else if isPartOfWord(bytes, index) {
                kind = .word
                while index < bytes.count, isPartOfWord(bytes, index) { index += 1 }
            } else {
                index += 1
            }
            if closers.contains(byte) { depth = max(0, depth - 1) }
            let text = String(decoding: bytes[start..<index], as: UTF8.self)
            tokens.append(PromptToken(kind: kind, text: text, start: start, end: index, depth: depth))
            if openers.contains(byte) { depth += 1 }
        }
        return tokens
    }

    private static let openers = Array("({[".utf8)
    private static let closers = Array(")}]".utf8)
    /// The characters, other than letters and digits, that a word may contain. A word may also contain a minus sign between two letters,
    /// digits or underscores.
    private static let marks = Array("_.$@#/:".utf8)

    /// Returns the index after the quote that closes the string at an index, or `nil` if no quote closes it.
    private static func endOfString(_ bytes: [UInt8], _ start: Int) -> Int? {
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == bytes[start] { return index + 1 }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// Whether the token is a string without a closing quote.
    var isUnclosed: Bool { kind == .string && Self.endOfString(Array(text.utf8), 0) == nil }

    /// Returns whether a byte belongs to a word. All bytes of non-ASCII characters belong to words.
    private static func isPartOfWord(_ bytes: [UInt8], _ index: Int) -> Bool {
        let byte = bytes[index]
        if byte == UInt8(ascii: "-") {
            return index > 0 && isPartOfName(bytes[index - 1]) && index + 1 < bytes.count && isPartOfName(bytes[index + 1])
        }
        return isPartOfName(byte) || marks.contains(byte)
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }

    // MARK: Meaning

    /// The words of a condition that must be followed by an operand or a condition.
    static let connectives: Set<String> = [
        "and", "or", "not", "any", "all", "some", "none", "beginswith", "endswith", "contains", "like", "matches", "in", "between", "by",
    ]

    /// Whether a name must follow the token. If so, the next word is a name, even if it is spelled like a keyword of the prompt.
    var expectsName: Bool {
        switch kind {
        case .word: Self.connectives.contains(text.lowercased())
        case .string: false
        case .symbol: ![")", "}", "]"].contains(text)
        }
    }
}
