/// A parser for the text of a condition, an operand or sort keys. It looks one token ahead. A method that reads a part of the text sets
/// `token` to the first token after this part.
///
/// The recursion is bounded: each level consumes a `(` or a `not`, and a text may nest at most `Condition.depthMax` of them.
struct QueryParser: Sendable {
    var lexer: QueryLexer
    /// The next token.
    private(set) var token: QueryToken
    /// The number of open parentheses, plus the number of words `not` whose conditions have not ended yet.
    private var level = 0
    /// The number of comparisons with a pattern that were read so far.
    private var patternCount = 0

    init(_ text: String) throws(CambiumError) {
        lexer = try QueryLexer(text)
        token = try lexer.next()
    }

    mutating func advance() throws(CambiumError) { token = try lexer.next() }

    // MARK: Tokens

    mutating func take(_ symbol: QueryToken.Symbol) throws(CambiumError) -> Bool {
        guard token.isSymbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func take(_ word: QueryWord, or symbol: QueryToken.Symbol) throws(CambiumError) -> Bool {
        guard token.word == word || token.isSymbol(symbol) else { return false }
        try advance()
        return true
    }

    /// Checks that `token` is the end of the text; otherwise, throws the error for an unexpected token.
    func finish(_ expectation: String) throws(CambiumError) {
        guard token.kind == .end else { throw expected("\(expectation) or the end") }
    }

    /// Checks that the text is not empty.
    func refuseEmpty(_ remedy: String) throws(CambiumError) {
        if token.kind == .end { throw lexer.error("The text is empty. \(remedy)", at: token.start) }
    }

    // MARK: Levels

    /// Counts one more level. The caller calls this method if the token opens a parenthesis or negates a condition.
    mutating func enter() throws(CambiumError) {
        level += 1
        try checkDepth(level, at: token.start)
    }

    mutating func leave(_ count: Int) { level -= count }

    func checkDepth(_ depth: Int, at offset: Int) throws(CambiumError) {
        guard depth > Condition.depthMax else { return }
        throw lexer.error(
            "The condition is nested deeper than \(Condition.depthMax) levels. Write it with fewer parentheses, or pass lists to 'in'.",
            at: offset, code: .limitExceeded)
    }

    /// Counts one more comparison with a pattern. `token` is the relation of the comparison, such as `like`.
    mutating func countPattern() throws(CambiumError) {
        patternCount += 1
        if patternCount > Condition.patternCountMax {
            throw lexer.error(Condition.tooManyPatterns, at: token.start, code: .limitExceeded)
        }
    }

    // MARK: Options

    /// Reads an option such as `[cd]` if the token is an opening bracket. If `isOptional` is `true`, the bracket may also begin a list,
    /// which the method does not read.
    mutating func folding(isOptional: Bool = false) throws(CambiumError) -> Folding {
        guard token.isSymbol(.openBracket) else { return [] }
        let start = token.start
        guard let letters = lexer.takeOption(at: start) else {
            if isOptional { return [] }
            throw unknownOption(start..<token.end)
        }
        let folding: Folding? =
            switch letters.lowercased() {
            case "c": .caseInsensitive
            case "d": .diacriticInsensitive
            case "cd", "dc": [.caseInsensitive, .diacriticInsensitive]
            default: nil
            }
        guard let folding else { throw unknownOption(start..<lexer.index) }
        try advance()
        return folding
    }

    private func unknownOption(_ range: Range<Int>) -> CambiumError {
        lexer.error("Expected [c], [d] or [cd], but found '\(lexer.excerpt(range))'.", at: range.lowerBound)
    }

    // MARK: Errors

    /// Returns the error for a token other than the expected one.
    func expected(_ expectation: String, remedy: String? = nil) -> CambiumError {
        let remedy = (remedy ?? remedyOfCharacter).map { " \($0)" } ?? ""
        return lexer.error("Expected \(expectation), but found \(found).\(remedy)", at: token.start)
    }

    /// The current token as it is written in the text.
    private var found: String {
        switch token.kind {
        case .end: "the end"
        case .string: "the string \(lexer.excerpt(token.start..<token.end))"
        default: "'\(lexer.excerpt(token.start..<token.end))'"
        }
    }

    /// The remedy for a character that belongs to another query language.
    private var remedyOfCharacter: String? {
        guard case .unknown(let scalar) = token.kind else { return nil }
        return switch scalar {
        case "%": "Write a parameter such as $name."
        case "&", "|": "Write 'and' or 'or'."
        case "\u{2018}", "\u{2019}", "\u{201A}", "\u{201C}", "\u{201D}", "\u{201E}", "\u{AB}", "\u{BB}", "`":
            "Write straight quotation marks."
        case "\u{2260}": "Write !=."
        case "\u{2264}": "Write <=."
        case "\u{2265}": "Write >=."
        case "$", "#", "@": "Write a name after this character."
        case "/": "Write an object without spaces, such as Note/42."
        default: nil
        }
    }
}
