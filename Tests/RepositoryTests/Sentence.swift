/// A sentence, or a part of one that a colon or a semicolon ends.
struct Sentence {
    /// The words in lower case and without punctuation, with `x` for a piece of code.
    let words: [String]
    /// Whether the words begin where a sentence begins.
    let isWhole: Bool
    let isQuestion: Bool

    static func all(in text: String) -> [Sentence] {
        var sentences: [Sentence] = []
        var words: [String] = []
        var isWhole = true
        for token in tokens(of: text) {
            let word = token.trimmed
            if !word.isEmpty { words.append(word.lowercased()) }
            guard let end = token.end else { continue }
            if !words.isEmpty { sentences.append(Sentence(words: words, isWhole: isWhole, isQuestion: end == "?")) }
            (words, isWhole) = ([], end != ";" && end != ":")
        }
        if !words.isEmpty { sentences.append(Sentence(words: words, isWhole: isWhole, isQuestion: false)) }
        return sentences
    }

    private struct Token {
        let trimmed: Substring
        /// The mark that ends a sentence after the word.
        let end: Character?
    }

    /// Marks that may follow the end of a sentence.
    private static let closing: Set<Character> = ["\"", "*", "_", "”"]

    /// Returns the words between white space. A piece of code, or a note in parentheses, counts as one word.
    private static func tokens(of text: String) -> [Token] {
        var plain = ""
        var (isInCode, depth) = (false, 0)
        for character in text {
            switch character {
            case "`":
                if !isInCode, depth == 0 { plain.append("X") }
                isInCode.toggle()
            case "(" where !isInCode: depth += 1
            case ")" where !isInCode && depth > 0: depth -= 1
            default: if !isInCode, depth == 0 { plain.append(character) }
            }
        }
        return plain.split(separator: " ").map { part in
            let last = part.last { !closing.contains($0) }
            let trimmed = part.drop { !$0.isLetter && !$0.isNumber }
            let count = trimmed.reversed().prefix { !$0.isLetter && !$0.isNumber }.count
            return Token(trimmed: trimmed.dropLast(count), end: last.flatMap { ".!?:;".contains($0) ? $0 : nil })
        }
    }
}
