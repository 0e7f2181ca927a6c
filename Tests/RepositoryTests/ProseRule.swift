/// Keeps recognizable faults of prose (Docs/CONTRIBUTING.md, "Language") out of comments and documents.
struct ProseRule {
    static let places = ["Sources", "Tests", "Benchmarks", "Docs", "README.md", "CHANGELOG.md"]
    static let wordCountMax = 30

    /// Words that the lexicon replaces.
    static let replacedWords: Set<String> = [
        "behind", "told", "whoever", "tentative", "surroundings", "room", "meanwhile", "somebody", "nobody",
    ]

    /// The beginnings of British words, which the lexicon replaces with American ones.
    static let britishBeginnings = [
        "neighbour", "colour", "behaviour", "favour", "recognis", "normalis", "labelled", "modelled", "travelled", "equalled", "catalogue",
        "licence",
    ]

    /// Sequences of words that the lexicon replaces.
    static let replacedPhrases: [[String]] = [
        ["but", "for"], ["tell", "of"], ["tells", "of"], ["has", "to", "be"], ["have", "to", "be"], ["said", "of"],
        ["is", "so", "long", "ago"],
    ]

    /// Words before a `who` without a noun, because none of them names a person.
    private static let wordsBeforeBareWho: Set<String> = [
        "", "of", "for", "to", "by", "with", "from", "and", "or", "as", "than", "but", "if", "is", "are", "that", "let", "lets", "so",
        "then",
        "beside", "what", "has", "have",
    ]

    /// Words that mean a value. A `where` after such a word states a condition, not a place.
    private static let valuesBeforeWhere: Set<String> = ["nil", "x", "none", "false", "true", "0", "empty"]

    func violations(in prose: Prose) -> [Violation] {
        prose.paragraphs.flatMap { paragraph in
            Sentence.all(in: paragraph.text).flatMap(Self.faults).map {
                Violation(path: prose.path, line: paragraph.line, reason: $0)
            }
        }
    }

    /// Returns the faults of a sentence.
    static func faults(_ sentence: Sentence) -> [String] {
        openingFaults(sentence) + phraseFaults(sentence) + wordFaults(sentence)
    }

    private static func openingFaults(_ sentence: Sentence) -> [String] {
        var faults: [String] = []
        let words = sentence.words
        if sentence.isWhole, !sentence.isQuestion {
            if words.first == "what" { faults.append("a clause with 'what' is the subject") }
            if words.first == "where" { faults.append("'where' begins a condition: write 'if'") }
        }
        if sentence.isWhole, words.first == "has" { faults.append("'Has' begins a sentence: use an active verb") }
        if sentence.isWhole, words.first == "those" { faults.append("a pronoun begins a sentence: repeat the noun") }
        if words.count > wordCountMax { faults.append("a sentence has \(words.count) words, \(wordCountMax) are allowed") }
        return faults
    }

    private static func phraseFaults(_ sentence: Sentence) -> [String] {
        let words = sentence.words
        var faults: [String] = []
        for place in words.indices {
            let before = place > 0 ? words[place - 1] : ""
            let next = place + 1 < words.count ? words[place + 1] : ""
            if words[place] == "who", !sentence.isQuestion, wordsBeforeBareWho.contains(before) { faults.append("'who' lacks its noun") }
            if words[place] == "where", valuesBeforeWhere.contains(before) {
                faults.append("'\(before) where' states a condition: write 'if'")
            }
            let isThere = place > 0 && before == "there"
            if next == "none", ["is", "are", "was", "were"].contains(words[place]), !isThere { faults.append("'none' is the predicate") }
            for phrase in replacedPhrases where phrase[0] == words[place] && words[place...].starts(with: phrase) {
                faults.append("'\(phrase.joined(separator: " "))' is replaced by the lexicon")
            }
        }
        return faults
    }

    private static func wordFaults(_ sentence: Sentence) -> [String] {
        sentence.words.filter { word in
            replacedWords.contains(word) || britishBeginnings.contains { word.hasPrefix($0) }
        }.map { "'\($0)' is replaced by the lexicon" }
    }
}
