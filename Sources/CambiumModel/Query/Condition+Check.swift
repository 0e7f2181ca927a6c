internal import CambiumJSON

/// Checks rules that only a condition built in code can break. The parser enforces these rules for a text.
extension Condition {
    /// Checks that the condition obeys the rules of the language. Throws `.limitExceeded` for a tree that is too deep, and for a list or a
    /// path that is too long. Throws `.invalidInput` for a part in the wrong place.
    ///
    /// Complexity: O(operands). The check keeps its own stack instead of using recursion. So a tree of any depth cannot exhaust the stack
    /// of the thread.
    package func check() throws(CambiumError) {
        var stack = [(condition: self, depth: 0)]
        var patternCount = 0
        while let (condition, depth) = stack.popLast() {
            switch condition.form {
            case .constant: break
            case .comparison(let comparison):
                try comparison.check()
                patternCount += comparison.relation.hasPattern ? 1 : 0
            case .and(let parts), .or(let parts): stack += parts.reversed().map { ($0, depth + 1) }
            case .not(let part): stack.append((part, depth + 1))
            case .related(_, let path, let part):
                try path.check()
                stack.append((part, depth + path.levelCount))
            }
            // The parser counts levels in the same way: one for each part that contains other parts, and one for each name before 'where'.
            if depth > Self.depthMax {
                throw CambiumError(
                    .limitExceeded, "The condition is nested deeper than \(Self.depthMax) levels. Join the parts with fewer levels.")
            }
            if patternCount > Self.patternCountMax { throw CambiumError(.limitExceeded, Self.tooManyPatterns) }
        }
    }

    static var tooManyPatterns: String {
        "The condition has more than \(patternCountMax) comparisons with 'like' or 'matches'. "
            + "Combine several patterns into one pattern of 'matches', such as \"a|b\"."
    }

    /// The number of comparisons with a pattern. Complexity: O(operands).
    var patternCount: Int {
        var count = 0
        forEachComparison { if $0.relation.hasPattern { count += 1 } }
        return count
    }

    /// The names of the parameters of the condition, without the `$`. Complexity: O(operands).
    package var parameterNames: Set<String> {
        var names: Set<String> = []
        forEachComparison {
            $0.left.addParameterNames(to: &names)
            $0.right.addParameterNames(to: &names)
        }
        return names
    }

    /// Calls `body` with each comparison of the condition, in no particular order. Uses no recursion, so a condition of any depth is safe.
    private func forEachComparison(_ body: (Comparison) -> Void) {
        var stack = [self]
        while let condition = stack.popLast() {
            switch condition.form {
            case .constant: break
            case .comparison(let comparison): body(comparison)
            case .and(let parts), .or(let parts): stack += parts
            case .not(let part), .related(_, _, let part): stack.append(part)
            }
        }
    }
}

extension Operand {
    fileprivate func addParameterNames(to names: inout Set<String>) {
        var stack = [self]
        while let operand = stack.popLast() {
            switch operand.form {
            case .parameter(let name): names.insert(name)
            case .list(let elements): stack += elements
            case .path, .aggregate, .literal: break
            }
        }
    }
}

extension Comparison.Relation {
    /// Whether the relation compares a text with a pattern on its right side.
    var hasPattern: Bool { self == .like || self == .matches }
}

extension Comparison {
    fileprivate func check() throws(CambiumError) {
        if case .list = left.form { throw Self.error("A list is on the left side of a comparison. Put the list on the right side.") }
        if quantifier != nil {
            guard case .path = left.form else {
                throw Self.error(
                    "A quantifier precedes \(Excerpt.plain(left.description)), which is not a path. Put a path on the left side.")
            }
        }
        try left.check()
        let takesList = relation == .isIn || relation == .isBetween
        switch right.form {
        case .list(let elements):
            guard takesList else { throw Self.error("A list follows '\(relationText)'. Write 'in' before a list.") }
            try check(elements)
        case .parameter: break
        case .path, .aggregate, .literal:
            guard !takesList else {
                throw Self.error(
                    "'\(relationText)' needs a list, but \(Excerpt.plain(right.description)) follows. Pass a list or a parameter.")
            }
            try right.check()
        }
    }

    private func check(_ elements: [Operand]) throws(CambiumError) {
        if relation == .isBetween, elements.count != 2 {
            throw Self.error("A list of \(elements.count) elements follows 'between'. Pass two bounds.")
        }
        guard elements.count <= Operand.elementCountMax else {
            throw CambiumError(
                .limitExceeded,
                "A list has \(elements.count) elements, but at most \(Operand.elementCountMax) are allowed. Pass fewer elements.")
        }
        for element in elements {
            if case .list = element.form { throw Self.error("A list contains a list. Pass the elements in one list.") }
            try element.check()
        }
    }

    private var relationText: String { QueryWriter.text(relation) }

    fileprivate static func error(_ message: String) -> CambiumError { CambiumError(.invalidInput, message) }
}

extension Operand {
    /// Checks the operand of a sort key, an output or a comparison. Throws if the operand breaks a rule. Does not check the elements of a
    /// list.
    package func check() throws(CambiumError) {
        switch form {
        case .path(let path): try path.check()
        case .aggregate(let aggregate): try aggregate.check()
        case .literal(.number(let digits)):
            guard QueryLexer.isNumber(digits) else {
                throw Comparison.error("'\(Excerpt.plain(digits))' is not a valid JSON number. Pass a number such as -12.5.")
            }
        case .literal, .list, .parameter: break
        }
    }
}

extension QueryPath {
    /// The number of levels that a `related` condition with this path adds. Each relationship is a level, because a query evaluates the
    /// relationships one inside the other.
    var levelCount: Int { max(1, names.count) }

    package func check() throws(CambiumError) {
        guard names.count > Self.nameCountMax else { return }
        throw CambiumError(
            .limitExceeded, "A path has \(names.count) names, but at most \(Self.nameCountMax) are allowed. Pass a shorter path.")
    }
}

extension RelatedAggregate {
    fileprivate func check() throws(CambiumError) {
        try path.check()
        try value?.check()
        if path.names.isEmpty {
            throw Comparison.error("The aggregate @\(function.rawValue) has an empty path. Pass a path that leads to the objects.")
        }
        if function == .count, value != nil {
            throw Comparison.error("The aggregate @count has a path to values. Pass only the path to the objects, or use @countDistinct.")
        }
        if function != .count, value == nil {
            throw Comparison.error(
                "The aggregate @\(function.rawValue) has no path to the values. Pass the path that leads from each object to its value.")
        }
    }
}
