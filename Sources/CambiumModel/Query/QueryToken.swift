internal import CambiumJSON

/// A token of a query's text, and the bytes that it takes in the text.
struct QueryToken: Sendable {
    enum Kind: Hashable, Sendable {
        /// A name, or a word of the language.
        case name(String)
        /// A name after `#`, which is never a word of the language.
        case escapedName(String)
        /// The name of a parameter, without `$`.
        case parameter(String)
        /// The name of an aggregate function, without `@`.
        case function(String)
        case number(String)
        case string(String)
        case object(entity: String, serial: UInt64)
        case id(ObjectID)
        case symbol(Symbol)
        /// A character with which no token begins.
        case unknown(Unicode.Scalar)
        case end
    }

    /// The symbols of the language. Each symbol has one name, although some symbols can be written in two ways.
    enum Symbol: String, Hashable, Sendable {
        case openParenthesis = "("
        case closeParenthesis = ")"
        case openBrace = "{"
        case closeBrace = "}"
        case openBracket = "["
        case closeBracket = "]"
        case comma = ","
        case dot = "."
        case minus = "-"
        case not = "!"
        case and = "&&"
        case or = "||"
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    let kind: Kind
    let start: Int
    let end: Int

    /// The word of the query language that the token represents, or `nil` for any other token.
    var word: QueryWord? { if case .name(let name) = kind { QueryWord(name) } else { nil } }

    func isSymbol(_ symbol: Symbol) -> Bool { kind == .symbol(symbol) }
}

/// A word of the language. A name that has the same letters, in any case, must be written with a `#` before it.
enum QueryWord: String, Hashable, Sendable, CaseIterable {
    case and, or, not, any, all, none, some, `where`
    case `true`, yes, `false`, no, null, `nil`, `self`, truepredicate, falsepredicate
    case beginswith, endswith, contains, like, matches, `in`, between

    private static let byteCountMax = allCases.map(\.rawValue.utf8.count).max() ?? 0

    /// Finds the word with the letters of a name. The case of ASCII letters does not matter.
    init?(_ name: String) {
        guard name.utf8.count <= Self.byteCountMax, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.init(rawValue: name.lowercased())
    }

    var quantifier: Quantifier? {
        switch self {
        case .any, .some: .any
        case .all: .all
        case .none: Quantifier.none
        default: nil
        }
    }

    var relation: Comparison.Relation? {
        switch self {
        case .beginswith: .beginsWith
        case .endswith: .endsWith
        case .contains: .contains
        case .like: .like
        case .matches: .matches
        case .in: .isIn
        case .between: .isBetween
        default: nil
        }
    }

    var literal: QueryLiteral? {
        switch self {
        case .true, .yes: .bool(true)
        case .false, .no: .bool(false)
        case .null, .nil: .null
        default: nil
        }
    }
}

extension QueryToken.Symbol {
    var relation: Comparison.Relation? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        default: nil
        }
    }
}
