/// The prose inside a line of Swift code.
enum QuotedProse {
    /// A literal with fewer words may be a name, or a word of a format.
    private static let wordCountMin = 4

    /// Returns the name of the test that begins on a line, or `nil` if it has one word.
    static func testName(in line: Substring) -> String? {
        let parts = line.split(separator: "`", omittingEmptySubsequences: false)
        return parts.count > 2 && parts[0].hasSuffix("func ") && parts[1].contains(" ") ? String(parts[1]) : nil
    }

    /// Returns the literals of a line that are prose, with `X` in place of each interpolated value.
    static func messages(in line: Substring) -> [String] {
        var messages: [String] = []
        var rest = line[...]
        while let start = rest.firstIndex(of: "\"") {
            rest = rest[rest.index(after: start)...]
            guard let literal = takeLiteral(&rest) else { break }
            let words = literal.split(separator: " ").filter { $0.allSatisfy { $0.isLetter || $0.isPunctuation } }
            guard words.count >= wordCountMin else { continue }
            // A literal that begins in lower case continues a sentence.
            messages.append(literal.first?.isLowercase == true ? "X: " + literal : literal)
        }
        return messages
    }

    /// Reads the rest of a literal after its first quotation mark. Returns `nil` if the literal does not end on the line.
    private static func takeLiteral(_ rest: inout Substring) -> String? {
        var literal = ""
        var depth = 0
        var isEscaped = false
        while let character = rest.popFirst() {
            if depth > 0 {
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
            } else if isEscaped {
                isEscaped = false
                if character == "(" {
                    depth = 1
                    literal += "X"
                }
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                return literal
            } else {
                literal.append(character)
            }
        }
        return nil
    }
}
