/// The prose of a file: the paragraphs and list items of a Markdown document, or the comments, the names of tests and the messages of Swift
/// code. Only literals in Sources are messages, because tests have samples in theirs.
struct Prose {
    struct Paragraph {
        /// The number of the first line, counted from 1.
        let line: Int
        /// The text on one line, without the marks of comments and lists.
        let text: String
    }

    let path: String
    let paragraphs: [Paragraph]

    init(_ file: TextFile) {
        path = file.path
        var reader = Reader(readsLiterals: file.target != nil)
        let isMarkdown = file.path.hasSuffix(".md")
        for (index, line) in file.lines.enumerated() {
            if isMarkdown {
                reader.readMarkdown(line, index + 1)
            } else {
                reader.readSwift(line, index + 1)
            }
        }
        reader.endParagraph()
        paragraphs = reader.paragraphs
    }

    /// Collects the lines of each paragraph.
    private struct Reader {
        let readsLiterals: Bool
        var paragraphs: [Paragraph] = []
        private var words: [Substring] = []
        private var first = 0
        private var isInCode = false
        private static let listMarks = ["- ", "* ", "> "]

        init(readsLiterals: Bool) { self.readsLiterals = readsLiterals }

        mutating func endParagraph() {
            if !words.isEmpty { paragraphs.append(Paragraph(line: first, text: words.joined(separator: " "))) }
            words = []
        }

        private mutating func add(_ text: Substring, _ line: Int) {
            if words.isEmpty { first = line }
            words.append(text)
        }

        mutating func readSwift(_ line: Substring, _ number: Int) {
            let code = line.drop(while: \.isWhitespace)
            guard code.hasPrefix("//") else {
                endParagraph()
                isInCode = false
                let name = line.contains("func `") ? QuotedProse.testName(in: line).map { [$0] } ?? [] : []
                let messages = readsLiterals && line.contains("\"") ? QuotedProse.messages(in: line) : []
                let comment = Self.trailingComment(line).map { [String($0)] } ?? []
                for text in name + messages + comment {
                    add(Substring(text), number)
                    endParagraph()
                }
                return
            }
            let text = code.drop { $0 == "/" }
            let isFence = text.hasPrefix(" ```")
            if isFence { isInCode.toggle() }
            let isSample = isInCode || isFence || text.hasPrefix("     ") || text.hasPrefix(" MARK:")
            readText(isSample ? "" : text, number)
        }

        /// Returns a comment that follows code on its line. A `//` inside a string literal follows an odd number of quotation marks.
        private static func trailingComment(_ line: Substring) -> Substring? {
            guard let range = line.firstRange(of: " // ") else { return nil }
            let quoteCount = line[..<range.lowerBound].count { $0 == "\"" }
            return quoteCount.isMultiple(of: 2) ? line[range.upperBound...] : nil
        }

        mutating func readMarkdown(_ line: Substring, _ number: Int) {
            let isFence = line.drop(while: \.isWhitespace).hasPrefix("```")
            if isFence { isInCode.toggle() }
            let isOther = isInCode || isFence || line.hasPrefix("#") || line.hasPrefix("|") || (words.isEmpty && line.hasPrefix("    "))
            readText(isOther ? "" : line, number)
        }

        private mutating func readText(_ text: Substring, _ number: Int) {
            let text = text.drop(while: \.isWhitespace)
            if text.isEmpty { return endParagraph() }
            let isListItem = Self.listMarks.contains { text.hasPrefix($0) } || Self.isNumbered(text)
            if isListItem { endParagraph() }
            add(isListItem ? Self.withoutLabel(text.drop { $0 != " " }.dropFirst()) : text, number)
        }

        /// Returns the text of a list item without a parameter's name, such as `count:` or `Parameter count:`.
        private static func withoutLabel(_ text: Substring) -> Substring {
            guard let colon = text.firstRange(of: ": ") else { return text }
            let label = text[..<colon.lowerBound].split(separator: " ")
            return label.count == 1 || (label.count == 2 && label[0] == "Parameter") ? text[colon.upperBound...] : text
        }

        private static func isNumbered(_ text: Substring) -> Bool {
            let digits = text.prefix(while: \.isNumber)
            return !digits.isEmpty && text.dropFirst(digits.count).hasPrefix(". ")
        }
    }
}
