public import FoundationEssentials

extension RecordQuery {
    /// Creates a query for the objects that satisfy a Foundation predicate.
    ///
    /// ```swift
    /// let adults = try RecordQuery(#Predicate<Person> { $0.age >= 18 && $0.city?.name == "Paris" })
    /// ```
    ///
    /// The predicate is translated once. It does not run for each object. The comparisons of the predicate have the same meaning as in the
    /// query language. For example, texts are equal if their bytes are equal. A forced unwrap of null makes a comparison, a `contains` and
    /// a `??` false.
    ///
    /// Throws `.invalidInput` with the name and the position of a part that has no translation, such as arithmetic. Throws `.unknownName`
    /// for a property that the record's schema does not list.
    public init(_ predicate: Predicate<Record>) throws {
        var translation = PredicateTranslation()
        translation.variables[predicate.variable.key] = PredicateTranslation.Variable(level: 0)
        let condition = try translation.condition(predicate.expression, "the predicate")
        self.init()
        query.condition = condition
    }
}

/// The translation of the expressions of one predicate.
struct PredicateTranslation {
    /// A variable of the predicate or of a closure in the predicate. Only the variable of the innermost closure can be translated, because
    /// a condition on members cannot refer to the owner of the members.
    struct Variable {
        let level: Int
        /// For a variable of `flatMap` or of an optional chain: the path from the object of the innermost closure to the variable's value.
        var path: [String] = []
    }

    var variables: [PredicateExpressions.VariableID: Variable] = [:]
    /// The number of nested closures, such as those of `allSatisfy`, that enclose the expression.
    var level = 0
    /// For each path with a `!` in the current comparison, the condition that the path is not null. If one of these conditions is false,
    /// the comparison is false.
    var unwrapped: [Condition] = []
    /// The positions of the enclosing expressions, the outermost first, for errors.
    var way: [String] = []

    /// A translated expression.
    enum Part {
        case condition(Condition)
        /// The path to an attribute or a relationship; empty for the object itself.
        case path([String])
        case aggregate(RelatedAggregate)
        /// The members of a to-many relationship that satisfy a condition.
        case members([String], Condition)
        case value(Value)
        case object(ObjectID)
        case list([Operand])
        case range(Operand, Operand, isClosed: Bool)
    }

    /// Returns the error about a part of the predicate. The message names the innermost part first.
    ///
    /// - Parameter place: The position of the part in the current expression; `nil` for the current expression itself.
    func refusal(_ reason: String, of place: String? = nil) -> CambiumError {
        let parts = way + (place.map { [$0] } ?? [])
        let subject = parts.isEmpty ? "it" : parts.reversed().joined(separator: " in ")
        return CambiumError(.invalidInput, "The predicate cannot be translated: \(subject) \(reason).")
    }

    /// Translates an expression.
    ///
    /// - Parameter place: The position of the expression in the enclosing expression, for errors.
    mutating func part(_ expression: any PredicateExpression, _ place: String) throws -> Part {
        way.append(place)
        defer { way.removeLast() }
        guard way.count < Condition.depthMax else { throw refusal("is nested too deeply. Simplify the predicate") }
        guard let translatable = expression as? any TranslatableExpression else {
            let name = String(describing: type(of: expression)).prefix { $0 != "<" }
            throw refusal(
                "is \(name), which queries do not have. Compute its value before the predicate, or filter the records that you fetch")
        }
        return try translatable.part(&self)
    }

    /// Translates an expression that is true or false.
    mutating func condition(_ expression: any PredicateExpression, _ place: String) throws -> Condition {
        // A condition is already false for null. So a `!` inside of this condition adds no test to the outer expression.
        let outer = unwrapped
        defer { unwrapped = outer }
        switch try part(expression, place) {
        case .condition(let condition): return condition
        case .value(.bool(let constant)): return .constant(constant)
        case .path(let names): return .comparison(FieldComparison(Operand(.path(QueryPath(names))), .equal, .value(.bool(true))))
        default: throw refusal("is not a condition", of: place)
        }
    }

    /// Translates an expression that is a value.
    mutating func operand(_ expression: any PredicateExpression, _ place: String) throws -> Operand {
        switch try part(expression, place) {
        case .path(let names): return Operand(.path(QueryPath(names)))
        case .aggregate(let aggregate): return Operand(.aggregate(aggregate))
        case .value(let value): return .value(value)
        case .object(let id): return .object(id)
        case .condition:
            throw refusal("is a condition. Write the condition without a comparison, or with '== true' after it", of: place)
        default: throw refusal("is not a value that can be compared", of: place)
        }
    }

    /// Translates a closure that tests the members of a relationship.
    mutating func test(
        _ sequence: any PredicateExpression, _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression,
        _ quantifier: Quantifier
    ) throws -> Condition {
        let names: [String]
        var filter: Condition?
        switch try part(sequence, "the sequence") {
        case .path(let path): names = path
        case .members(let path, let condition): (names, filter) = (path, condition)
        default: throw refusal("tests a sequence that is not a relationship")
        }
        level += 1
        variables[variable] = Variable(level: level)
        defer {
            level -= 1
            variables[variable] = nil
        }
        let condition = try condition(test, "the closure")
        let path = QueryPath(names)
        guard quantifier == .all else { return .related(quantifier, path, filter.map { Condition.and([$0, condition]) } ?? condition) }
        guard let filter else { return Self.withOwner(of: names, .related(.all, path, condition)) }
        // "Each filtered member passes the test" becomes "no member passes the filter and fails the test".
        return Self.withOwner(of: names, .related(.none, path, .and([filter, .not(condition)])))
    }

    /// Adds to a condition on members the test that the owner of the members exists. The test is necessary if the condition is true without
    /// members.
    ///
    /// In a query, a missing object has no members. In Swift, the path to the members unwraps the owner, so no condition is true without
    /// an owner.
    static func withOwner(of names: [String], _ condition: Condition) -> Condition {
        if names.count < 2 { return condition }
        return isPresent(Array(names.dropLast())) && condition
    }

    /// The condition that the value at the end of a path is not null.
    static func isPresent(_ names: [String]) -> Condition {
        .comparison(FieldComparison(Operand(.path(QueryPath(names))), .notEqual, .value(.null)))
    }
}

/// The comparison of a query. `PredicateExpressions` contains another type with the name `Comparison`.
typealias FieldComparison = Comparison

/// A type of expression in predicates that can be translated into a part of a query.
protocol TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part
}
