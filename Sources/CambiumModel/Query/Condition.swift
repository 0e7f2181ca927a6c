/// A condition that an object satisfies or does not satisfy: the parsed form of a predicate.
///
/// A condition is always either true or false, even if a value is null, as in NSPredicate. Docs/Use/QUERIES.md specifies the text and the
/// meaning of each form.
///
/// ```swift
/// let condition = try Condition(parsing: "age > 30 and any tags.name == \"red\"")
/// ```
///
/// The operators `&&`, `||` and `!` combine conditions.
public struct Condition: Hashable, Sendable {
    package indirect enum Form: Hashable, Sendable {
        /// Every object satisfies the condition if the value is `true`. No object satisfies the condition if the value is `false`.
        case constant(Bool)
        case comparison(Comparison)
        /// True if all conditions are true. True if there are no conditions.
        case and([Condition])
        /// True if one of the conditions is true. False if there are no conditions.
        case or([Condition])
        case not(Condition)
        /// A condition on the objects at the end of a path of relationships: `any items where (price > 3 and done == false)`.
        case related(Quantifier, QueryPath, Condition)
    }

    package let form: Form

    private init(_ form: Form) { self.form = form }

    package static func constant(_ isTrue: Bool) -> Condition { Condition(.constant(isTrue)) }
    package static func comparison(_ comparison: Comparison) -> Condition { Condition(.comparison(comparison)) }
    package static func and(_ parts: [Condition]) -> Condition { Condition(.and(parts)) }
    package static func or(_ parts: [Condition]) -> Condition { Condition(.or(parts)) }
    package static func not(_ part: Condition) -> Condition { Condition(.not(part)) }
    package static func related(_ quantifier: Quantifier, _ path: QueryPath, _ part: Condition) -> Condition {
        Condition(.related(quantifier, path, part))
    }

    /// The maximum number of levels to which conditions may be nested. Each name of a path before `where` is a level. A deeper condition is
    /// refused.
    package static let depthMax = 200
    /// The maximum number of comparisons with `like` or `matches` in a condition. The number is limited, because each pattern takes up to 8
    /// MiB.
    package static let patternCountMax = 100
}

/// How many related objects must satisfy a condition.
package enum Quantifier: String, Hashable, Sendable, CaseIterable {
    /// At least one object. False if there are no objects.
    case any
    /// Every object. True if there are no objects.
    case all
    /// No object. True if there are no objects.
    case none
}

extension Condition: CustomStringConvertible {
    /// The text of the condition. If the condition was parsed, its text parses to an equal condition.
    ///
    /// A condition that was built in code may have more than 200 levels. Deeper levels are written as `...`.
    public var description: String { QueryWriter.text { $0.write(self) } }
}

extension Comparison: CustomStringConvertible {
    /// The text of the comparison, such as `any tags.name ==[c] "red"`.
    package var description: String { QueryWriter.text { $0.write(self) } }
}

extension Operand: CustomStringConvertible {
    /// The text of the operand, such as `owner.name`, `items.@count`, `$limit` or `{1, 2}`.
    public var description: String { QueryWriter.text { $0.write(self) } }
}

extension QueryPath: CustomStringConvertible {
    /// The names, separated by dots. If the first of them is also a keyword of conditions, a `#` precedes it. The text of the empty path
    /// is the word `self`.
    package var description: String { QueryWriter.text { $0.write(self) } }
}

extension QueryLiteral: CustomStringConvertible {
    /// The text of the literal. Text, dates, UUIDs, URIs, data and JSON are in quotation marks.
    package var description: String { QueryWriter.text { $0.write(self) } }
}

extension SortKey: CustomStringConvertible {
    /// The text of the key, such as `-name[c] nulls first`.
    public var description: String { QueryWriter.text { $0.write(self) } }
}

extension Condition {
    /// Parses the text of a condition, such as `age > 30 and name beginswith[c] "Ma"`. Docs/Use/QUERIES.md specifies the language.
    ///
    /// Throws `.invalidInput` with the line and the column if the text is not a condition. Throws `.limitExceeded` if the text has more
    /// than 1 MiB or nests deeper than 200 levels. Also throws this error if a list or a path is too long. Complexity: O(bytes of the
    /// text).
    public init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholeCondition()
    }
}

extension Operand {
    /// Parses a path such as `owner.name`, or an aggregate such as `items.@sum.price`.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is neither a path nor an aggregate. A literal is
    /// refused, too.
    public init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholeOperand()
    }

    /// Parses paths and aggregates that are separated by commas, such as `name,owner.name,items.@count`.
    package static func list(parsing text: String) throws(CambiumError) -> [Operand] {
        var parser = try QueryParser(text)
        return try parser.wholeOperands()
    }
}

extension QueryPath {
    /// Parses names that are separated by dots, such as `owner.name`. The text `self` is the empty path.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is not a path.
    package init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholePath()
    }
}

extension SortKey {
    /// Parses a key such as `-owner.name[c] nulls last`.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is not a key.
    public init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholeSortKey()
    }

    /// Parses keys that are separated by commas, such as `owner.name,-born`. Objects with equal first keys are sorted by the next key.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is not a list of keys.
    package static func list(parsing text: String) throws(CambiumError) -> [SortKey] {
        var parser = try QueryParser(text)
        return try parser.wholeSortKeys()
    }
}
