import CambiumModel

/// Tests whether a value has a relation to one or more other values.
struct ValueTest {
    private let relation: Comparison.Relation
    private let folding: Folding

    init(_ relation: Comparison.Relation, _ folding: Folding) {
        self.relation = relation
        self.folding = folding
    }

    /// - Parameter right: The value on the right side, the elements of `in`, or the two limits of `between`.
    func holds(_ left: QueryValue, _ right: [QueryValue]) -> Bool {
        guard let first = right.first else { return false }
        switch relation {
        case .equal: return isSame(left, first)
        case .notEqual: return !isSame(left, first)
        case .less: return order(left, first).map { $0 < 0 } ?? false
        case .lessOrEqual: return order(left, first).map { $0 <= 0 } ?? false
        case .greater: return order(left, first).map { $0 > 0 } ?? false
        case .greaterOrEqual: return order(left, first).map { $0 >= 0 } ?? false
        case .isIn: return !left.isNull && right.contains { !$0.isNull && isSame(left, $0) }
        case .isBetween:
            guard right.count == 2, let lower = order(left, right[0]), let upper = order(left, right[1]) else { return false }
            return lower >= 0 && upper <= 0
        case .contains, .beginsWith, .endsWith, .like, .matches: return hasText(left, first)
        }
    }

    private func isSame(_ left: QueryValue, _ right: QueryValue) -> Bool {
        if case .value(let left) = left.folded(folding), case .value(let right) = right.folded(folding) { return left.isSame(as: right) }
        return left == right
    }

    private func order(_ left: QueryValue, _ right: QueryValue) -> Int? {
        guard case .value(let left) = left.folded(folding), case .value(let right) = right.folded(folding) else { return nil }
        return left.order(right)
    }

    private func hasText(_ value: QueryValue, _ wanted: QueryValue) -> Bool {
        guard case .value(let left) = value.folded(folding), case .value(let right) = wanted.folded(folding),
            let text = left.comparedText, let part = right.comparedText
        else { return false }
        let bytes = Array(part.utf8)
        let test: TextTest
        switch relation {
        case .contains: test = .contains(bytes)
        case .beginsWith: test = .begins(bytes)
        case .endsWith: test = .ends(bytes)
        default: return false
        }
        return Array(text.utf8).withUnsafeBytes { test.holds($0) }
    }

    /// Converts a literal to a value that can be compared with `other`.
    ///
    /// - Parameter kind: The kind of the value if `other` is null.
    static func value(_ literal: QueryLiteral, like other: QueryValue?, _ kind: ValueKind?) -> QueryValue {
        let type: AttributeType? = if case .value(let value)? = other { value.attributeType } else { nil }
        switch literal {
        case .null: return .null
        case .bool(let flag): return .value(.bool(flag))
        case .id(let id): return .object(id)
        case .number, .string, .text, .object, .value: break
        }
        if let kind = type.map({ ValueKind($0) }) ?? kind {
            switch kind {
            case .date: if let date = literal.value(of: .date) { return .value(date) }
            case .uuid: if let uuid = literal.value(of: .uuid) { return .value(uuid) }
            case .data: if let data = literal.value(of: .data) { return .value(data) }
            case .bool: if let flag = literal.boolValue { return .value(.bool(flag)) }
            case .text: if let text = literal.stringText { return .value(.string(text)) }
            case .number, .object: break
            }
        }
        if let number = literal.number(like: type) { return .value(number) }
        if case .value(let value) = literal, literal.stringText == nil { return .value(value) }
        return .value(.string(literal.stringText ?? literal.description))
    }
}

extension QueryLiteral {
    /// Returns the number that is compared with values of a type; `nil` if the literal is not a number.
    ///
    /// For `float` and `double`, the number is rounded to the type, as an import rounds a number. For any other type, and if the type is
    /// not known, the number is exact if possible. Otherwise, it is a double that lies before and after the same possible values as the
    /// exact number.
    func number(like type: AttributeType?) -> Value? {
        guard let text = numberText else { return nil }
        if type == .float { return Float(text).map { .float($0) } }
        if type == .double { return Double(text).map { .double($0) } }
        if case .value(let value) = self { return value }
        if let whole = Int64(text) { return .int(whole) }
        if let number = DecimalNumber(text) { return .decimal(number) }
        guard let number = Double(text) else { return nil }
        // `DecimalNumber` reads every spelling of 0, so the number is not 0. If the number is too small for a double, the result is the
        // nearest double other than 0.
        let least = text.hasPrefix("-") ? -Double.leastNonzeroMagnitude : Double.leastNonzeroMagnitude
        return .double(number == 0 ? least : number)
    }
}
