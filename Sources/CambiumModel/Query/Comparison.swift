/// A comparison of two operands, such as `name beginswith[c] "Ma"`.
package struct Comparison: Hashable, Sendable {
    /// The relation between the left and the right operand.
    package enum Relation: Hashable, Sendable, CaseIterable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        /// The left text contains the right text. Or the left path leads to several objects or values, and one of them equals the right
        /// operand.
        case contains
        case beginsWith, endsWith
        /// The left text matches a pattern in which `*` matches any characters and `?` matches one character.
        case like
        /// The left text as a whole matches a regular expression (RE2 syntax).
        case matches
        /// The left operand equals an element of the list on the right.
        case isIn
        /// The left operand lies between the two elements of the list on the right. Both bounds are included.
        case isBetween
    }

    /// How many of the values must satisfy the relation, if a path leads through a to-many relationship.
    package var quantifier: Quantifier?
    package var left: Operand
    package var relation: Relation
    package var right: Operand
    /// The differences between texts that the comparison ignores.
    package var folding: Folding

    package init(_ left: Operand, _ relation: Relation, _ right: Operand, quantifier: Quantifier? = nil, folding: Folding = []) {
        self.quantifier = quantifier
        self.left = left
        self.relation = relation
        self.right = right
        self.folding = folding
    }
}

/// The differences between texts that a comparison or an order ignores.
///
/// ```swift
/// let query = RecordQuery<Person> { $0.name.hasPrefix("mu", [.caseInsensitive, .diacriticInsensitive]) }
/// let people = try graph.fetch(query.sorted(by: \.name, folding: .caseInsensitive))
/// ```
public struct Folding: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Ignores the case of letters: `[c]`.
    public static let caseInsensitive = Folding(rawValue: 1)
    /// Ignores diacritics: `[d]`.
    public static let diacriticInsensitive = Folding(rawValue: 2)
}
