/// The regular expressions of a schema. Attributes with the same pattern share one expression.
///
/// The number of different patterns is limited for two reasons. The check of a schema compiles each pattern, and an expression takes memory
/// after its first use.
package final class SchemaExpressions {
    /// The maximum number of different patterns in a schema.
    package static let countMax = 1000

    private let expressions: SchemaResolver.Expressions
    /// The expressions, found by the bytes of their patterns, because Swift's `==` for texts ignores how characters with accents are
    /// encoded.
    private var known: [[UInt8]: Result<LinearRegex, LinearRegex.PatternError>] = [:]
    /// Whether an expression was omitted because the schema has more than `countMax` different patterns.
    private(set) var isExceeded = false

    init(_ expressions: SchemaResolver.Expressions) { self.expressions = expressions }

    /// Creates an empty set that checks each new pattern by compiling it.
    package convenience init() { self.init(.compileAll) }

    /// Returns the expression of a pattern, or `nil` if there are too many different patterns. Throws if the pattern is malformed.
    package func expression(_ pattern: String) throws(LinearRegex.PatternError) -> LinearRegex? {
        let key = Array(pattern.utf8)
        if let found = known[key] { return try found.get() }
        guard known.count < Self.countMax else {
            isExceeded = true
            return nil
        }
        let made = Result { () throws(LinearRegex.PatternError) in try make(pattern) }
        known[key] = made
        return try made.get()
    }

    private func make(_ pattern: String) throws(LinearRegex.PatternError) -> LinearRegex {
        // This compilation is only a check, and its result is released to save memory. Most processes that set a schema use few of its
        // expressions.
        if expressions == .compileAll { _ = try LinearRegex(pattern) }
        return LinearRegex(compiledBefore: pattern)
    }
}
