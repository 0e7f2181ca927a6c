import Cambium
import CambiumJSON

/// A part of a line that a person enters at the prompt.
struct PromptClause: Equatable {
    let text: String
    /// The offset of the first byte in the line.
    let start: Int

    /// Adds the position in the line to an error that `body` throws about this clause.
    func located<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CambiumError {
            let column = error.place?.line == 1 ? error.place?.column ?? 1 : 1
            throw PromptMistake(error, at: start + column - 1)
        }
    }

    /// The parts of the clause between commas.
    var parts: [PromptClause] {
        var offset = start
        return text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            defer { offset += part.utf8.count + 1 }
            let trimmed = part.drop { $0 == " " }
            return PromptClause(text: String(trimmed), start: offset + part.utf8.count - trimmed.utf8.count)
        }
    }

    /// Returns the number in the clause. Throws if the text is not a whole number of at least 0.
    func count(_ name: String) throws(PromptMistake) -> Int {
        guard let count = Int(text), count >= 0 else {
            throw PromptMistake("Expected a number after '\(name)', such as '\(name) 10', but found \(Excerpt.quoted(text)).", at: start)
        }
        return count
    }
}

/// A word that begins a part of a query in the prompt.
enum PromptWord: String, CaseIterable {
    case `where`, sort, limit, offset, select, distinct, group, count, sum, min, max, avg
    case countDistinct = "count-distinct"
    case having, query

    /// Finds a word without regard to the case of its letters.
    init?(_ text: String) {
        switch text.lowercased() {
        case "order": self = .sort
        case "countdistinct": self = .countDistinct
        case "group-by": self = .group
        default: self.init(rawValue: text.lowercased())
        }
    }

    /// Whether a text must follow this word in the line.
    var hasText: Bool { self != .distinct && self != .count }
}

/// A query in the prompt: an entity, and the parts that follow it.
struct PromptQuery: Equatable {
    let entity: PromptClause
    var clauses: [PromptWord: PromptClause] = [:]

    func has(_ word: PromptWord) -> Bool { clauses[word] != nil }
}

/// The meaning of a line that a person enters at the prompt.
enum PromptStatement: Equatable {
    case nothing
    case find(PromptQuery)
    case explain(PromptQuery)
    /// An object, identified by its id, or by its entity and its identity.
    case show([PromptClause], include: PromptClause?)
    case schema(PromptClause?)
    case set(PromptClause?)
    case at(PromptClause?)
    case help
    case quit
}
