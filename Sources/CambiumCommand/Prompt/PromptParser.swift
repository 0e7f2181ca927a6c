import Cambium

/// Splits a line of the prompt into its parts. Conditions, paths and keys are parsed later.
struct PromptParser {
    /// The commands with which a line can begin, without their other names `?` and `exit`. Completion offers these commands.
    static let commands = ["find", "show", "schema", "explain", "set", "at", "help", "quit"]

    private let line: String
    private let tokens: [PromptToken]

    init(_ line: String) {
        self.line = line
        tokens = PromptToken.tokens(line)
    }

    func statement() throws(PromptMistake) -> PromptStatement {
        guard let first = tokens.first, !first.text.hasPrefix("#") else { return .nothing }
        let rest = clause(from: 1, to: tokens.count)
        switch first.text.lowercased() {
        case "find": return .find(try query(from: 1))
        case "explain": return .explain(try query(from: 1))
        case "show": return try show()
        case "schema": return .schema(rest)
        case "set": return .set(rest)
        case "at": return .at(rest)
        case "help", "?": return .help
        case "quit", "exit": return .quit
        default: return .find(try query(from: 0))
        }
    }

    /// The word that names the entity, if the line is a query. `nil` if the line begins with another command, or has a keyword of queries
    /// instead of the name.
    var entity: PromptClause? {
        guard let first = tokens.first?.text.lowercased() else { return nil }
        let isNamed = first == "find" || first == "explain"
        if !isNamed, Self.commands.contains(first) { return nil }
        let start = isNamed ? 1 : 0
        guard let entity = clause(from: start, to: min(start + 1, tokens.count)), tokens[start].kind == .word else { return nil }
        return PromptWord(entity.text) == nil ? entity : nil
    }

    /// Returns the text from the token at `start` to the token before `end`, or `nil` if there are no such tokens.
    private func clause(from start: Int, to end: Int) -> PromptClause? {
        guard start < end else { return nil }
        let bytes = Array(line.utf8)[tokens[start].start..<tokens[end - 1].end]
        return PromptClause(text: String(decoding: bytes, as: UTF8.self), start: tokens[start].start)
    }

    private func show() throws(PromptMistake) -> PromptStatement {
        let found = tokens.indices.dropFirst().first {
            tokens[$0].kind == .word && tokens[$0].text.lowercased() == "include" && !continuesValue($0)
        }
        if let open = tokens.first(where: \.isUnclosed) { throw PromptMistake("The text has no closing quote. Add one.", at: open.start) }
        let parts = values(from: 1, to: found ?? tokens.count)
        guard !parts.isEmpty else {
            throw PromptMistake(
                "Expected an object after 'show'. Write its id, as in 'show Note/42', or an entity and an identity.", at: line.utf8.count)
        }
        guard let include = found else { return .show(parts, include: nil) }
        guard let paths = clause(from: include + 1, to: tokens.count) else {
            throw PromptMistake("Nothing follows 'include'. Write paths, such as 'include items.tags'.", at: tokens[include].end)
        }
        return .show(parts, include: paths)
    }

    /// Returns the values in the tokens from `start` to the token before `end`. A value is a string, or a text without spaces.
    private func values(from start: Int, to end: Int) -> [PromptClause] {
        var values: [PromptClause] = []
        for index in start..<end {
            let token = tokens[index]
            if continuesValue(index), let last = values.popLast() {
                values.append(PromptClause(text: last.text + token.text, start: last.start))
            } else {
                // For a string, the text is the part between the quotation marks. The escapes in this part are not decoded.
                let text = token.kind == .string ? String(token.text.dropFirst().dropLast()) : token.text
                values.append(PromptClause(text: text, start: token.start))
            }
        }
        return values
    }

    /// Returns whether a token belongs to the value of the preceding token, as `5` does in `-5`.
    private func continuesValue(_ index: Int) -> Bool {
        let (previous, token) = (tokens[index - 1], tokens[index])
        return previous.end == token.start && previous.kind != .string && token.kind != .string
    }

    // MARK: Queries

    private func query(from start: Int) throws(PromptMistake) -> PromptQuery {
        guard start < tokens.count, tokens[start].kind == .word, let entity = clause(from: start, to: start + 1) else {
            let offset = start < tokens.count ? tokens[start].start : line.utf8.count
            throw PromptMistake("Expected the name of an entity. 'schema' lists them.", at: offset)
        }
        var query = PromptQuery(entity: entity)
        let words = words(after: start)
        if let first = words.first?.index ?? (start + 1 < tokens.count ? tokens.count : nil), first > start + 1 {
            if PromptWord(entity.text) != nil {
                throw PromptMistake("Begin the line with the entity, such as 'Note \(entity.text) ...'.", at: entity.start)
            }
            let names = PromptWord.allCases.prefix(5).map(\.rawValue).joined(separator: ", ")
            throw PromptMistake(
                "Expected a word such as \(names) after the entity, but found '\(tokens[start + 1].text)'.", at: tokens[start + 1].start)
        }
        for (number, found) in words.enumerated() {
            let end = number + 1 < words.count ? words[number + 1].index : tokens.count
            try add(found.word, at: found.index, to: end, &query)
        }
        return query
    }

    private func add(_ word: PromptWord, at index: Int, to end: Int, _ query: inout PromptQuery) throws(PromptMistake) {
        let token = tokens[index]
        if query.has(word) { throw PromptMistake("The line has '\(token.text)' twice. Write it once.", at: token.start) }
        var start = index + 1
        if word == .sort || word == .group, start < end, tokens[start].text.lowercased() == "by" { start += 1 }
        if !word.hasText, start < end {
            throw PromptMistake(
                "Expected the next word of the query after '\(token.text)', but found '\(tokens[start].text)'.", at: tokens[start].start)
        }
        let text = clause(from: start, to: end)
        if word.hasText, text == nil { throw PromptMistake("Nothing follows '\(token.text)'. Write \(Self.example(word)).", at: token.end) }
        query.clauses[word] = text ?? PromptClause(text: "", start: token.start)
    }

    /// Returns the words that begin parts of the query. If such a word is at a position where a name must follow, the word is a name
    /// instead.
    private func words(after entity: Int) -> [(word: PromptWord, index: Int)] {
        var found: [(word: PromptWord, index: Int)] = []
        for index in tokens.indices where index > entity && tokens[index].kind == .word && tokens[index].depth == 0 {
            guard let word = PromptWord(tokens[index].text) else { continue }
            let previous = tokens[index - 1]
            let begins = found.last.map { $0.index == index - 1 && $0.word.hasText } ?? false
            if begins || (index - 1 > entity && previous.expectsName) { continue }
            // A second `where`, as in `any items where (...)`, belongs to the condition.
            if word == .where, found.contains(where: { $0.word == .where }) { continue }
            found.append((word, index))
        }
        return found
    }

    private static func example(_ word: PromptWord) -> String {
        switch word {
        case .where: "a condition, such as 'where price > 3'"
        case .sort: "keys, such as 'sort -price, name'"
        case .limit, .offset: "a number, such as '\(word.rawValue) 10'"
        case .query: "the name of a query, such as 'query recent'"
        case .having: "a condition, such as 'having count > 5'"
        case .group: "paths, such as 'group by city.name'"
        default: "paths, such as '\(word.rawValue) price'"
        }
    }
}
