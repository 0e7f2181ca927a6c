/// The part of the parser that reads conditions.
extension QueryParser {
    /// A condition and the number of levels in it. A comparison has 0 levels.
    private struct Nested {
        var condition: Condition
        var depth = 0
    }

    mutating func wholeCondition() throws(CambiumError) -> Condition {
        try refuseEmpty("Write a condition such as age > 30, or true for all objects.")
        let condition = try disjunction().condition
        try finish("'and', 'or'")
        return condition
    }

    // MARK: Connectives

    private mutating func disjunction() throws(CambiumError) -> Nested {
        let start = token.start
        let first = try conjunction()
        var all = [first.condition]
        var depth = first.depth
        while try take(.or, or: .or) {
            let next = try conjunction()
            all.append(next.condition)
            depth = max(depth, next.depth)
        }
        if all.count == 1 { return first }
        try checkDepth(depth + 1, at: start)
        return Nested(condition: .or(all), depth: depth + 1)
    }

    private mutating func conjunction() throws(CambiumError) -> Nested {
        let start = token.start
        let first = try negation()
        var all = [first.condition]
        var depth = first.depth
        while try take(.and, or: .and) {
            let next = try negation()
            all.append(next.condition)
            depth = max(depth, next.depth)
        }
        if all.count == 1 { return first }
        try checkDepth(depth + 1, at: start)
        return Nested(condition: .and(all), depth: depth + 1)
    }

    private mutating func negation() throws(CambiumError) -> Nested {
        let start = token.start
        var count = 0
        while token.word == .not || token.isSymbol(.not) {
            try enter()
            try advance()
            count += 1
        }
        var nested = try primary()
        leave(count)
        try checkDepth(nested.depth + count, at: start)
        for _ in 0..<count { nested = Nested(condition: .not(nested.condition), depth: nested.depth + 1) }
        return nested
    }

    private mutating func primary() throws(CambiumError) -> Nested {
        if token.isSymbol(.openParenthesis) { return try group() }
        if token.isSymbol(.openBrace) || token.isSymbol(.openBracket) {
            throw expected("a path or a value", remedy: "Write a list on the right side of 'in' or 'between'.")
        }
        switch token.word {
        case .truepredicate?:
            try advance()
            return Nested(condition: .constant(true))
        case .falsepredicate?:
            try advance()
            return Nested(condition: .constant(false))
        case let word?:
            if let quantifier = word.quantifier { return try quantified(quantifier) }
        case nil: break
        }
        let left = try operand("a condition such as age > 30")
        if case .literal(.bool(let value)) = left.form, relation == nil { return Nested(condition: .constant(value)) }
        return Nested(condition: .comparison(try comparison(left, nil)))
    }

    /// Reads a condition in parentheses.
    private mutating func group() throws(CambiumError) -> Nested {
        try enter()
        try advance()
        let nested = try disjunction()
        guard try take(.closeParenthesis) else { throw expected("'and', 'or' or ')'") }
        leave(1)
        return nested
    }

    private mutating func quantified(_ quantifier: Quantifier) throws(CambiumError) -> Nested {
        try advance()
        let left = try operand("a path after '\(quantifier.rawValue)'")
        guard case .path(var path) = left.form else {
            let message = "Expected a path after '\(quantifier.rawValue)'. \(Self.remedy(for: left, after: quantifier))"
            throw lexer.error(message, at: left.offset.value ?? token.start)
        }
        guard token.word == .where else { return Nested(condition: .comparison(try comparison(left, quantifier))) }
        try advance()
        guard token.isSymbol(.openParenthesis) else {
            throw expected("'(' after 'where'", remedy: "Write a condition in parentheses, such as any items where (price > 3).")
        }
        let start = token.start
        let inner = try group()
        let depth = inner.depth + path.levelCount
        try checkDepth(depth, at: start)
        path.offset = left.offset
        return Nested(condition: .related(quantifier, path, inner.condition), depth: depth)
    }

    /// Returns the remedy for an operand that is not a path, but follows a quantifier.
    private static func remedy(for operand: Operand, after quantifier: Quantifier) -> String {
        guard case .aggregate(var aggregate) = operand.form else {
            return "Write the path on the left side, such as any tags.name == \"red\"."
        }
        let names = aggregate.path.names
        guard let last = names.last, names.count > 1 else {
            return "Omit '\(quantifier.rawValue)', because \(operand) is one value."
        }
        aggregate.path = QueryPath([last])
        let (path, inner) = (QueryPath(names.dropLast()), Operand(.aggregate(aggregate)))
        return "Write the aggregate in a condition after 'where', such as \(quantifier.rawValue) \(path) "
            + "where (\(inner) == 2). If '\(path)' leads to one object, write no quantifier."
    }

    // MARK: Comparisons

    /// The relation that the token means, or `nil` if the token means no relation.
    private var relation: Comparison.Relation? {
        if case .symbol(let symbol) = token.kind { symbol.relation } else { token.word?.relation }
    }

    private mutating func comparison(_ left: Operand, _ quantifier: Quantifier?) throws(CambiumError) -> Comparison {
        guard let relation else { throw missingRelation(left, quantifier) }
        let end = token.end
        if relation.hasPattern { try countPattern() }
        try advance()
        let takesList = relation == .isIn || relation == .isBetween
        // `[c]` after a space is not an option, but a list with the path `c`.
        let folding = takesList && token.start > end ? [] : try folding(isOptional: takesList)
        switch relation {
        case .isIn: return try membership(left, quantifier, folding)
        case .isBetween: return Comparison(left, relation, try bounds(), quantifier: quantifier, folding: folding)
        default:
            if token.isSymbol(.openBrace) || token.isSymbol(.openParenthesis) {
                throw expected("a value or a path", remedy: "Write 'in' before a list.")
            }
            return Comparison(left, relation, try operand("a value or a path"), quantifier: quantifier, folding: folding)
        }
    }

    private func missingRelation(_ left: Operand, _ quantifier: Quantifier?) -> CambiumError {
        let expectation = quantifier == nil ? "a relation such as ==" : "a relation such as ==, or 'where'"
        guard case .name(let name) = token.kind else {
            let isPath = if case .path = left.form { true } else { false }
            if isPath, token.isSymbol(.openParenthesis) { return expected(expectation, remedy: Self.remedy(forCallOf: left)) }
            return expected(expectation, remedy: isPath && token.kind == .end ? "Write == true to test a truth value." : nil)
        }
        switch name.lowercased() {
        case "not": return expected(expectation, remedy: "Write 'not' before the whole comparison.")
        case "is": return expected(expectation, remedy: "Write == null or != null.")
        case "ilike": return expected(expectation, remedy: "Write like[c].")
        case "startswith": return expected(expectation, remedy: "Write beginswith.")
        case "regexp", "rlike": return expected(expectation, remedy: "Write matches.")
        default: return expected(expectation)
        }
    }

    /// Returns the remedy for a name before a parenthesis, which is the call of a function in other languages.
    private static func remedy(forCallOf name: Operand) -> String {
        switch name.description.lowercased() {
        case "count": "Write items.@count for the number of related objects."
        case "sum", "avg", "min", "max": "Write items.@sum.price for a function of related objects."
        case "year", "month", "day", "date": "Compare the date with its bounds, such as born >= \"2026-01-01\"."
        case "lower", "upper", "lowercase", "uppercase": "Write ==[c] to ignore the case of letters."
        default: "Conditions have no such function."
        }
    }

    // MARK: Lists

    /// Reads the right side of `in`. If a path follows `in`, returns a comparison that tests whether the path contains the left side.
    private mutating func membership(_ left: Operand, _ quantifier: Quantifier?, _ folding: Folding) throws(CambiumError) -> Comparison {
        if let list = try list() { return Comparison(left, .isIn, list, quantifier: quantifier, folding: folding) }
        let right = try operand("a list such as {1, 2}, a parameter or a path after 'in'")
        switch right.form {
        case .parameter: return Comparison(left, .isIn, right, quantifier: quantifier, folding: folding)
        case .path where quantifier == nil: return Comparison(right, .contains, left, folding: folding)
        case .path:
            throw lexer.error(
                "Expected a list or a parameter, because the comparison begins with a quantifier. Write the path before 'contains'.",
                at: right.offset.value ?? token.start)
        default:
            throw lexer.error(
                "Expected a list such as {1, 2}, a parameter or a path after 'in'. Write braces around the values.",
                at: right.offset.value ?? token.start)
        }
    }

    /// Reads the right side of `between`.
    private mutating func bounds() throws(CambiumError) -> Operand {
        let start = token.start
        if let list = try list() {
            guard case .list(let elements) = list.form, elements.count == 2 else {
                throw lexer.error("Expected a list of two bounds after 'between', such as {1, 9}.", at: start)
            }
            return list
        }
        if case .parameter(let name) = token.kind {
            try advance()
            return Operand(.parameter(name), at: start)
        }
        throw expected("a list of two bounds, such as {1, 9}, or a parameter after 'between'")
    }

    /// Reads a list in braces, brackets or parentheses. Returns `nil` if the token does not open a list.
    private mutating func list() throws(CambiumError) -> Operand? {
        guard case .symbol(let open) = token.kind else { return nil }
        let close: QueryToken.Symbol
        switch open {
        case .openBrace: close = .closeBrace
        case .openBracket: close = .closeBracket
        case .openParenthesis: close = .closeParenthesis
        default: return nil
        }
        let start = token.start
        try advance()
        var elements: [Operand] = []
        while !token.isSymbol(close) {
            if !elements.isEmpty, try !take(.comma) { throw expected("',' or '\(close.rawValue)'") }
            guard elements.count < Operand.elementCountMax else {
                let message = "The list has more than \(Operand.elementCountMax) elements. Ask for the objects in several queries."
                throw lexer.error(message, at: token.start, code: .limitExceeded)
            }
            elements.append(try operand("a value"))
        }
        try advance()
        return Operand(.list(elements), at: start)
    }
}
