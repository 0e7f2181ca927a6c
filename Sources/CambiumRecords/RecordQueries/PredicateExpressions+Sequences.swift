import FoundationEssentials

// Translates the sequences, ranges and texts of Foundation predicates into conditions of queries.

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
        guard case .related(_, let path, let condition) = try translation.test(sequence, variable.key, filter, .any).form else {
            throw translation.refusal("filters something other than a relationship")
        }
        return .members(path.names, condition)
    }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.unwrapping { translation in
            let wanted = try translation.operand(element, "the argument of contains")
            switch try translation.part(sequence, "the sequence") {
            case .list(let elements): return PredicateTranslation.isElement(wanted, of: elements)
            case .path(let names): return .comparison(FieldComparison(Operand(.path(QueryPath(names))), .contains, wanted))
            default: throw translation.refusal("searches a sequence that is neither a relationship nor a list of constants")
            }
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
            PredicateTranslation.compared(wanted, .greaterOrEqual, lower)
                && PredicateTranslation.compared(wanted, isClosed ? .lessOrEqual : .less, upper))
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
