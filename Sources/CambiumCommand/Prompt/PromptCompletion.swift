import Cambium
import CambiumJSON

/// The texts that can replace the word before the cursor when a person presses Tab at the prompt.
struct PromptCompletion: Equatable {
    /// The number of characters in the line before the word that is completed.
    let start: Int
    /// The possible words, sorted.
    let candidates: [String]
    let word: String

    /// The longest text with which all candidates begin.
    var commonPrefix: String { candidates.dropFirst().reduce(candidates.first ?? "") { $0.commonPrefix(with: $1) } }

    private static let conditionWords = [
        "and", "or", "beginswith", "endswith", "contains", "like", "matches", "in", "between", "==", "!=", "<", "<=", ">", ">=",
    ]
    private static let operandWords = ["not", "any", "all", "none"]
    private static let moments = ["label:", "now", "today", "yesterday"]

    /// Finds the texts that can replace the last word of `text`. `text` is the part of the line before the cursor.
    init(_ text: String, _ schema: Schema) {
        let tokens = PromptToken.tokens(text)
        let isInWord = tokens.last.map { $0.end == text.utf8.count && $0.kind != .symbol } ?? false
        let last = isInWord ? tokens.last : nil
        let word = last?.text ?? ""
        let found = last?.kind == .string ? [] : Self.candidates(isInWord ? Array(tokens.dropLast()) : tokens, word, schema)
        self.word = word
        start = text.count - word.count
        // Names that need quotation marks or contain control characters are omitted, because a person could not type them as they are.
        candidates = Set(found.filter { $0.hasPrefix(word) && $0 != word && ControlText.escaped($0) == $0 && !$0.contains(" ") }).sorted()
    }

    private static func candidates(_ tokens: [PromptToken], _ word: String, _ schema: Schema) -> [String] {
        let entities = schema.entities.map(\.name)
        guard let first = tokens.first else { return PromptParser.commands + entities }
        switch first.text.lowercased() {
        case "find", "explain": return tokens.count == 1 ? entities : query(Array(tokens.dropFirst()), word, schema)
        case "show": return shown(tokens, word, schema)
        case "schema": return tokens.count == 1 ? entities : []
        case "at": return tokens.count == 1 ? moments : []
        case "set", "help", "quit": return []
        default: return query(tokens, word, schema)
        }
    }

    private static func shown(_ tokens: [PromptToken], _ word: String, _ schema: Schema) -> [String] {
        if tokens.count == 1 { return schema.entities.map(\.name) }
        let name = tokens[1].text.prefix { $0 != "/" }
        guard let entity = schema.entity(String(name)) else { return [] }
        let isIncluding = tokens.contains { $0.text.lowercased() == "include" }
        return isIncluding ? PathNames(schema: schema).continuations(of: word, from: entity) : ["include"]
    }

    private static func query(_ tokens: [PromptToken], _ word: String, _ schema: Schema) -> [String] {
        guard let first = tokens.first, let entity = schema.entity(first.text), let previous = tokens.last else { return [] }
        let clauses = PromptWord.allCases.map(\.rawValue)
        if tokens.count == 1 { return clauses }
        let isBeginning = PromptWord(previous.text) != nil && previous.kind == .word
        if isBeginning, PromptWord(previous.text) == .query { return entity.queries.map(\.name) }
        guard isBeginning || previous.expectsName else { return conditionWords + clauses + ["nulls"] }
        let paths =
            owner(tokens, found(tokens, entity, schema), schema).map { PathNames(schema: schema).continuations(of: word, from: $0) } ?? []
        let isInCondition = tokens.contains { [.where, .having].contains(PromptWord($0.text)) }
        return paths + (isInCondition ? operandWords : [])
            + (["group", "sort", "order"].contains(previous.text.lowercased()) ? ["by"] : [])
            + (isBeginning && PromptWord(previous.text)?.hasText == false ? clauses : [])
    }

    /// Returns the entity whose objects a query finds. This is the target of the stored query in the line, or the entity at the beginning
    /// of the line.
    private static func found(_ tokens: [PromptToken], _ entity: Entity, _ schema: Schema) -> Entity {
        guard let index = tokens.dropLast().firstIndex(where: { PromptWord($0.text) == .query && $0.depth == 0 }) else { return entity }
        return entity.query(tokens[index + 1].text)?.definition.target.flatMap { schema.entity($0) } ?? entity
    }

    /// Returns the entity at which a path at the end of the line begins. This is the entity of the query, or the entity at the end of the
    /// path in `any items where (`.
    private static func owner(_ tokens: [PromptToken], _ entity: Entity, _ schema: Schema) -> Entity? {
        var owners: [Entity?] = [entity]
        for (index, token) in tokens.enumerated() where token.kind == .symbol {
            if ["(", "{", "["].contains(token.text) {
                let isRelated = index > 2 && tokens[index - 1].text.lowercased() == "where"
                let isQuantified = isRelated && PromptToken.connectives.contains(tokens[index - 3].text.lowercased())
                let owner = owners.last.flatMap { $0 }
                let path = isQuantified ? tokens[index - 2].text : ""
                owners.append(owner.flatMap { PathNames(schema: schema).entity(at: path, from: $0) })
            } else if [")", "}", "]"].contains(token.text), owners.count > 1 {
                owners.removeLast()
            }
        }
        return owners.last.flatMap { $0 }
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}
