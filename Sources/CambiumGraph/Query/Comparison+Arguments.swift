import CambiumModel

extension Comparison {
    /// Returns the comparison with values in place of its parameters. Throws if a value is missing, or does not fit the relation.
    func substituted(_ arguments: [String: Operand]) throws(QueryMistake) -> Comparison {
        var comparison = self
        comparison.left = try left.substituted(arguments)
        comparison.right = try right.substituted(arguments)
        if case .list = comparison.left.form {
            throw QueryMistake("The value of \(left) is a list. Write \(left) after 'in'.", at: left.offset)
        }
        guard case .parameter = right.form else { return comparison }
        switch (relation, comparison.right.form) {
        case (.isIn, _): break
        case (.isBetween, .list(let elements)) where elements.count == 2: break
        case (.isBetween, _):
            throw QueryMistake("The value of \(right) after 'between' is not a list of two bounds. Pass such a list.", at: right.offset)
        case (_, .list): throw QueryMistake("The value of \(right) is a list. Write 'in' before \(right).", at: right.offset)
        default: break
        }
        return comparison
    }
}

extension Operand {
    /// Replaces a parameter with its value. In a list, replaces each parameter.
    fileprivate func substituted(_ arguments: [String: Operand]) throws(QueryMistake) -> Operand {
        switch form {
        case .parameter(let name):
            guard let argument = arguments[name] else {
                throw QueryMistake("The parameter $\(name.excerpt) has no value. Set a value for it.", at: offset)
            }
            guard argument.isConstant else {
                throw QueryMistake("The value of $\(name.excerpt) is not a constant. Pass a literal, or a list of literals.", at: offset)
            }
            guard case .list(let elements) = argument.form else { return Operand(argument.form, at: offset.value) }
            // A message about an element has the position of the parameter.
            return Operand(.list(elements.map { Operand($0.form, at: offset.value) }), at: offset.value)
        case .list(let elements):
            if elements.areLiterals { return self }
            var replaced: [Operand] = []
            replaced.reserveCapacity(elements.count)
            for element in elements {
                let value = try element.substituted(arguments)
                if case .list = value.form {
                    throw QueryMistake("The value of \(element) is a list within a list. Pass one value.", at: element.offset)
                }
                replaced.append(value)
            }
            return Operand(.list(replaced), at: offset.value)
        case .path, .aggregate, .literal: return self
        }
    }

    /// Whether the operand is a literal or a list of literals.
    private var isConstant: Bool {
        switch form {
        case .literal: true
        case .list(let elements): elements.areLiterals
        case .path, .aggregate, .parameter: false
        }
    }
}

extension [Operand] {
    fileprivate var areLiterals: Bool { allSatisfy { if case .literal = $0.form { true } else { false } } }

    /// Returns the literals, with values in place of parameters. Returns `nil` if an element or the value of a parameter is not a literal.
    func literals(_ arguments: [String: Operand]) -> [QueryLiteral]? {
        var literals: [QueryLiteral] = []
        literals.reserveCapacity(count)
        for element in self {
            switch element.form {
            case .literal(let literal): literals.append(literal)
            case .parameter(let name):
                guard case .literal(let literal)? = arguments[name]?.form else { return nil }
                literals.append(literal)
            case .path, .aggregate, .list: return nil
            }
        }
        return literals
    }
}
