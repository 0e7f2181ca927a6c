import FoundationEssentials

// Translates the logical operators, comparisons and optionals of Foundation predicates into conditions of queries.

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .condition(try translation.condition(lhs, "the left side of &&") && translation.condition(rhs, "the right side of &&"))
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .condition(try translation.condition(lhs, "the left side of ||") || translation.condition(rhs, "the right side of ||"))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .condition(.not(try translation.condition(wrapped, "the right side of !")))
    }
}

extension PredicateTranslation {
    mutating func comparison(
        _ left: any PredicateExpression, _ relation: FieldComparison.Relation, _ right: any PredicateExpression
    ) throws -> Part {
        try unwrapping { translation in
            let left = try translation.operand(left, "the left side of a comparison")
            return Self.compared(left, relation, try translation.operand(right, "the right side of a comparison"))
        }
    }

    /// Returns the condition that `body` translates. For each path with a `!`, adds the test that the path is not null.
    ///
    /// Paths without a `!` get no test, because a comparison by `!=` must stay true for null.
    mutating func unwrapping(_ body: (inout Self) throws -> Condition) throws -> Part {
        let outer = unwrapped
        defer { unwrapped = outer }
        unwrapped = []
        let condition = try body(&self)
        return .condition(unwrapped.reduce(condition) { $1 && $0 })
    }

    /// If a condition such as `$0.nick?.contains("x")` is compared with the constant `true`, returns the condition. Otherwise returns
    /// `nil`.
    ///
    /// The condition of an optional chain is false if the chain is nil. In Swift, the comparison is false, too, because nil is not `true`.
    fileprivate mutating func condition(
        _ left: any PredicateExpression, comparedWith right: any PredicateExpression
    ) throws -> Condition? {
        let outer = unwrapped
        defer { unwrapped = outer }
        guard let right = right as? any ConstantExpression, right.constant as? Bool == true,
            case .condition(let condition) = try part(left, "the left side of a comparison")
        else { return nil }
        return condition
    }

    /// Compares two operands.
    ///
    /// In a query, the number of members of a missing object is 0. In Swift, the number is nil if an optional chain leads to no object. So
    /// the condition also tests whether the owner of the members exists.
    static func compared(_ left: Operand, _ relation: FieldComparison.Relation, _ right: Operand) -> Condition {
        let owners = [left, right].compactMap(\.owner)
        let compared = Condition.comparison(FieldComparison(left, relation, right))
        if owners.isEmpty { return compared }
        if relation == .notEqual { return .not(Self.compared(left, .equal, right)) }
        let exists = owners.reduce(compared) { Condition.comparison(FieldComparison($1, .notEqual, .value(.null))) && $0 }
        guard relation == .equal, let isLeftNull = left.isNull, let isRightNull = right.isNull else { return exists }
        return exists || (isLeftNull && isRightNull)
    }

    /// Tests whether a value is an element of a list.
    ///
    /// In a query, null is not in any list. In Swift, nil is an element of a list that contains nil. So for such a list, the condition also
    /// tests whether the value is null.
    static func isElement(_ wanted: Operand, of elements: [Operand]) -> Condition {
        let values = elements.filter { $0 != .value(.null) }
        let isIn = compared(wanted, .isIn, Operand(.list(values)))
        guard values.count < elements.count, let isNull = wanted.isNull else { return isIn }
        return isIn || isNull
    }
}

extension Operand {
    /// If the operand is a number of members, the path to the object that has the members. `nil` if this object always exists, because it
    /// is the object that the condition tests. Also `nil` for any other operand.
    fileprivate var owner: Operand? {
        guard case .aggregate(let aggregate) = form, aggregate.path.names.count > 1 else { return nil }
        return Operand(.path(QueryPath(Array(aggregate.path.names.dropLast()))))
    }

    /// The condition that the operand is null; `nil` if the operand is never null.
    fileprivate var isNull: Condition? {
        switch form {
        case .path: .comparison(FieldComparison(self, .equal, .value(.null)))
        case .aggregate: owner?.isNull
        case .literal(let literal): literal == .value(.null) ? .constant(true) : nil
        case .list, .parameter: nil
        }
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        if let condition = try translation.condition(lhs, comparedWith: rhs) { return .condition(condition) }
        return try translation.comparison(lhs, .equal, rhs)
    }
}

/// A constant of a predicate.
private protocol ConstantExpression { var constant: Any { get } }
extension PredicateExpressions.Value: ConstantExpression { fileprivate var constant: Any { value } }

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.comparison(lhs, .notEqual, rhs)
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let relation: FieldComparison.Relation
        switch op {
        case .lessThan: relation = .less
        case .lessThanOrEqual: relation = .lessOrEqual
        case .greaterThan: relation = .greater
        case .greaterThanOrEqual: relation = .greaterOrEqual
        @unknown default: throw translation.refusal("uses the comparison \(op), which queries do not have. Use <, <=, > or >=")
        }
        return try translation.comparison(lhs, relation, rhs)
    }
}

// MARK: Optionals

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let part = try translation.part(inner, "the left side of !")
        if case .path(let names) = part { translation.unwrapped.append(PredicateTranslation.isPresent(names)) }
        return part
    }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard case .path(let names) = try translation.part(wrapped, "the left side of ?") else {
            throw translation.refusal("unwraps something other than a property")
        }
        translation.variables[variable.key] = PredicateTranslation.Variable(level: translation.level, path: names)
        defer { translation.variables[variable.key] = nil }
        let outer = translation.unwrapped
        translation.unwrapped = []
        let part = try translation.part(transform, "the right side of ?")
        // If the value before the `?` is nil, Swift does not evaluate a `!` after the `?`. So the tests for these `!` apply only if the
        // value is not null.
        let isMissing = Condition.comparison(FieldComparison(Operand(.path(QueryPath(names))), .equal, .value(.null)))
        translation.unwrapped = outer + translation.unwrapped.map { isMissing || $0 }
        // In Swift, an optional chain on `nil` gives `nil`, and `== true` or `?? false` after the chain turns this `nil` into false. So the
        // translated condition must be false for null. A negation after the `?` would otherwise be true for null.
        guard case .condition(let condition) = part else { return part }
        return .condition(PredicateTranslation.isPresent(names) && condition)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.unwrapping { translation in
            let left = try translation.part(lhs, "the left side of ??")
            let right = try translation.part(rhs, "the right side of ??")
            switch (left, right) {
            case (.condition(let condition), .value(.bool(false))): return condition
            case (.path(let names), .value(.bool(let constant))):
                let operand = Operand(.path(QueryPath(names)))
                let isTrue = Condition.comparison(FieldComparison(operand, .equal, .value(.bool(true))))
                return constant ? isTrue || .comparison(FieldComparison(operand, .equal, .value(.null))) : isTrue
            default:
                throw translation.refusal("has ?? with a value other than 'false'. Compare with nil in a separate condition")
            }
        }
    }
}
