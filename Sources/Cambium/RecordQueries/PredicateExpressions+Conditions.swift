import FoundationEssentials

// Translates the logical operators, comparisons, optionals and sequences of Foundation predicates into conditions of queries.

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
    fileprivate mutating func comparison(
        _ left: any PredicateExpression, _ relation: FieldComparison.Relation, _ right: any PredicateExpression
    ) throws -> Part {
        .condition(
            .comparison(
                FieldComparison(
                    try operand(left, "the left side of a comparison"), relation, try operand(right, "the right side of a comparison"))))
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.comparison(lhs, .equal, rhs)
    }
}

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
        try translation.part(inner, "the left side of !")
    }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard case .path(let names) = try translation.part(wrapped, "the left side of ?") else {
            throw translation.refusal("unwraps something other than a property")
        }
        translation.variables[variable.key] = PredicateTranslation.Variable(level: translation.level, path: names)
        defer { translation.variables[variable.key] = nil }
        let part = try translation.part(transform, "the right side of ?")
        // In Swift, an optional chain on `nil` gives `nil`, and the predicate is false. So the translated condition must be false for null,
        // even if it is a negation.
        guard case .condition(let condition) = part else { return part }
        let isPresent = Condition.comparison(FieldComparison(Operand(.path(QueryPath(names))), .notEqual, .value(.null)))
        return .condition(isPresent && condition)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let left = try translation.part(lhs, "the left side of ??")
        let right = try translation.part(rhs, "the right side of ??")
        switch (left, right) {
        case (.condition, .value(.bool(false))): return left
        case (.path(let names), .value(.bool(let constant))):
            let operand = Operand(.path(QueryPath(names)))
            let isTrue = Condition.comparison(FieldComparison(operand, .equal, .value(.bool(true))))
            if !constant { return .condition(isTrue) }
            return .condition(isTrue || .comparison(FieldComparison(operand, .equal, .value(.null))))
        default:
            throw translation.refusal("has ?? with a value other than 'false'. Compare with nil in a separate condition")
        }
    }
}

// MARK: Sequences, ranges and texts

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .condition(try translation.test(sequence, variable.key, test, .any))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .condition(try translation.test(sequence, variable.key, test, .all))
    }
}

extension PredicateExpressions.Filter: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard case .related(_, let path, let condition) = try translation.test(sequence, variable.key, filter, .any) else {
            throw translation.refusal("filters something other than a relationship")
        }
        return .members(path.names, condition)
    }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let wanted = try translation.operand(element, "the argument of contains")
        switch try translation.part(sequence, "the sequence") {
        case .list(let elements): return .condition(.comparison(FieldComparison(wanted, .isIn, Operand(.list(elements)))))
        case .path(let names): return .condition(.comparison(FieldComparison(Operand(.path(QueryPath(names))), .contains, wanted)))
        default: throw translation.refusal("searches a sequence that is neither a relationship nor a list of constants")
        }
    }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .range(try translation.operand(lower, "the lower bound"), try translation.operand(upper, "the upper bound"), isClosed: true)
    }
}

extension PredicateExpressions.Range: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .range(try translation.operand(lower, "the lower bound"), try translation.operand(upper, "the upper bound"), isClosed: false)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let wanted = try translation.operand(element, "the argument of contains")
        guard case .range(let lower, let upper, let isClosed) = try translation.part(range, "the range") else {
            throw translation.refusal("has a range without two bounds. Use comparisons")
        }
        return .condition(
            .comparison(FieldComparison(wanted, .greaterOrEqual, lower))
                && .comparison(FieldComparison(wanted, isClosed ? .lessOrEqual : .less, upper)))
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard Base.Output.self == String.self || Base.Output.self == Substring.self else {
            throw translation.refusal("searches for a collection in a collection. Only texts can be searched in this way")
        }
        return try translation.comparison(base, .contains, other)
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard Base.Output.self == String.self || Base.Output.self == Substring.self else {
            throw translation.refusal("compares the beginnings of sequences. Only texts can be compared in this way")
        }
        return try translation.comparison(base, .beginsWith, prefix)
    }
}
