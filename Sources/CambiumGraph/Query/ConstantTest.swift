import CambiumModel

/// A comparison of a value with constants.
struct ConstantTest {
    let relation: Comparison.Relation
    /// A single constant, the elements of `in`, or the two limits of `between`.
    let literals: [QueryLiteral]
    /// The constants that are not null.
    let present: [QueryLiteral]
    let folding: Folding
    let offset: TextOffset

    init(_ relation: Comparison.Relation, _ literals: [QueryLiteral], _ folding: Folding, at offset: TextOffset) {
        self.relation = relation
        self.literals = literals
        present = literals.contains(where: Self.isNull) ? literals.filter { !Self.isNull($0) } : literals
        self.folding = folding
        self.offset = offset
    }

    /// Whether the comparison is with null. Only `==` and `!=` can be true for null; other relations with null are always false.
    var isNull: Bool {
        switch relation {
        case .isIn: false
        case .isBetween: literals.contains(where: Self.isNull)
        default: literals.first.map(Self.isNull) ?? true
        }
    }

    /// The result of the comparison if the value is null.
    var holdsForNull: Bool {
        switch relation {
        case .equal: isNull
        case .notEqual: !isNull
        default: false
        }
    }

    private static func isNull(_ literal: QueryLiteral) -> Bool {
        switch literal {
        case .null, .value(.null): true
        default: false
        }
    }

    /// Returns the limits of the numbers that satisfy the relation. For `!=`, returns the limits for `==`, and the caller negates the
    /// result. Returns `nil` if the relation does not compare numbers.
    func limits(_ first: LiteralNumber, _ last: LiteralNumber) -> NumberLimits? {
        let (open, closed) = (false, true)
        return switch relation {
        case .equal, .notEqual: NumberLimits(equal: first)
        case .less: NumberLimits(nil, .init(number: first, isIncluded: open))
        case .lessOrEqual: NumberLimits(nil, .init(number: first, isIncluded: closed))
        case .greater: NumberLimits(.init(number: first, isIncluded: open), nil)
        case .greaterOrEqual: NumberLimits(.init(number: first, isIncluded: closed), nil)
        case .isBetween: NumberLimits(.init(number: first, isIncluded: closed), .init(number: last, isIncluded: closed))
        default: nil
        }
    }
}

extension QueryLiteral {
    /// The literal as a number; `nil` if it is not a number.
    var number: LiteralNumber? {
        switch self {
        case .value(.int(let value)): .whole(value)
        case .value(.double(let value)) where value.isFinite: .real(value)
        default: numberText.map { .text($0) }
        }
    }
}
