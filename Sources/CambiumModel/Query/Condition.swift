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
