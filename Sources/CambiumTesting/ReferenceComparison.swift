internal import CambiumModel
import Foundation

/// Compares values in the same way as queries do. The code is slow, simple and independent of the engine's comparisons, so that tests can
/// compare the engine's results with those of this code.
struct ReferenceComparison {
    enum Wanted {
        case literal(QueryLiteral)
        case item(ReferenceQuery.Item)
    }

    private let schema: Schema
    private let relation: Comparison.Relation
    private let folding: Folding

    init(_ schema: Schema, _ relation: Comparison.Relation, _ folding: Folding) {
        self.schema = schema
        self.relation = relation
        self.folding = folding
    }

    func holds(_ item: ReferenceQuery.Item, _ wanted: [Wanted]) -> Bool {
        let items = wanted.map { resolved($0, like: item) }
        guard let first = items.first else { return false }
        switch relation {
        case .equal: return isSame(item, first)
        case .notEqual: return !isSame(item, first)
        case .isIn: return item != .null && items.contains { $0 != .null && isSame(item, $0) }
        case .less: return order(item, first).map { $0 < 0 } ?? false
        case .lessOrEqual: return order(item, first).map { $0 <= 0 } ?? false
        case .greater: return order(item, first).map { $0 > 0 } ?? false
        case .greaterOrEqual: return order(item, first).map { $0 >= 0 } ?? false
        case .isBetween:
            guard items.count == 2, let lower = order(item, items[0]), let upper = order(item, items[1]) else { return false }
            return lower >= 0 && upper <= 0
        case .contains, .beginsWith, .endsWith, .like, .matches:
            guard let text = self.text(item), let part = self.text(first) else { return false }
            return holds(text, part)
        }
    }

    private func holds(_ text: String, _ part: String) -> Bool {
        let (bytes, wanted) = (Array(text.utf8), Array(part.utf8))
        switch relation {
        case .beginsWith: return bytes.starts(with: wanted)
        case .endsWith: return bytes.reversed().starts(with: wanted.reversed())
        case .contains:
            guard bytes.count >= wanted.count else { return false }
            return (0...bytes.count - wanted.count).contains { bytes[$0...].starts(with: wanted) }
        case .like: return Self.isLike(Array(text.unicodeScalars), Array(part.unicodeScalars))
        case .matches: return text.range(of: part, options: .regularExpression).map { $0 == text.startIndex..<text.endIndex } ?? false
        default: return false
        }
    }

    /// Matches a text against a pattern with `*` and `?`. `states` contains the positions in the pattern up to which the pattern matches
    /// the characters that were read.
    private static func isLike(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
        var states: Set<Int> = [0]
        func close() {
            for state in pattern.indices where states.contains(state) && pattern[state] == "*" { states.insert(state + 1) }
        }
        close()
        for scalar in text {
            states = Set(
                states.compactMap { state in
                    guard state < pattern.count else { return nil }
                    if pattern[state] == "*" { return state }
                    return pattern[state] == "?" || pattern[state] == scalar ? state + 1 : nil
                })
            close()
        }
        return states.contains(pattern.count)
    }

    // MARK: Values

    /// Converts a constant to the type of the item with which it is compared.
    private func resolved(_ wanted: Wanted, like item: ReferenceQuery.Item) -> ReferenceQuery.Item {
        let literal: QueryLiteral
        switch wanted {
        case .item(let item): return item
        case .literal(let wanted): literal = wanted
        }
        switch literal {
        case .null, .value(.null): return .null
        case .bool(let flag): return .value(.bool(flag))
        case .value(let value): return .value(value)
        case .id(let id): return .object(id)
        case .object(let name, let serial): return schema.entity(name).map { .object(ObjectID(root: $0.root, serial: serial)) } ?? .null
        case .number(let text): return number(text, like: item)
        case .string(let text), .text(let text):
            guard case .value(let value) = item else { return .value(.string(text)) }
            switch value {
            case .date: return (try? Value(text: text, type: .date)).map { .value($0) } ?? .null
            case .uuid: return (try? Value(text: text, type: .uuid)).map { .value($0) } ?? .null
            case .data: return (try? Value(text: text, type: .data)).map { .value($0) } ?? .null
            default: return .value(.string(text))
            }
        }
    }

    /// Converts a constant to a number. If `item` is a floating-point number, returns the nearest number of its type. Otherwise, returns a
    /// decimal.
    private func number(_ text: String, like item: ReferenceQuery.Item) -> ReferenceQuery.Item {
        switch item {
        case .value(.float): .value(.float(Float(text) ?? .nan))
        case .value(.double): .value(.double(Double(text) ?? .nan))
        default: .value(DecimalNumber(text).map { .decimal($0) } ?? .double(Double(text) ?? .nan))
        }
    }

    private func text(_ item: ReferenceQuery.Item) -> String? { Self.text(item).map { Self.folded($0, folding) } }

    private static func text(_ item: ReferenceQuery.Item) -> String? {
        switch item {
        case .value(.string(let text)), .value(.uri(let text)), .value(.json(let text)): text
        default: nil
        }
    }

    /// Removes the differences of case and of accents that `folding` ignores. The tests contain only simple letters, for which the
    /// functions of Foundation are sufficient.
    static func folded(_ text: String, _ folding: Folding) -> String {
        var options: String.CompareOptions = []
        if folding.contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if folding.contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return options.isEmpty ? text : text.folding(options: options, locale: nil)
    }

    private func isSame(_ left: ReferenceQuery.Item, _ right: ReferenceQuery.Item) -> Bool {
        if left == .null || right == .null { return left == right }
        if case .value(let first) = left, case .value(let second) = right {
            switch (first, second) {
            case (.uuid, .uuid), (.data, .data), (.bool, .bool): return first == second
            default: return Self.order(left, right, folding) == 0
            }
        }
        return left == right
    }

    private func order(_ left: ReferenceQuery.Item, _ right: ReferenceQuery.Item) -> Int? { Self.order(left, right, folding) }

    static func order(_ left: ReferenceQuery.Item, _ right: ReferenceQuery.Item, _ folding: Folding) -> Int? {
        if let first = text(left), let second = text(right) {
            let (first, second) = (Array(folded(first, folding).utf8), Array(folded(second, folding).utf8))
            return first == second ? 0 : first.lexicographicallyPrecedes(second) ? -1 : 1
        }
        switch (left, right) {
        case (.object(let first), .object(let second)): return first == second ? 0 : first < second ? -1 : 1
        case (.value(let first), .value(let second)): return order(first, second)
        default: return nil
        }
    }

    private static func order(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.date(let first), .date(let second)): return first == second ? 0 : first < second ? -1 : 1
        case (.bool(let first), .bool(let second)): return first == second ? 0 : second ? -1 : 1
        case (.data(let first), .data(let second)): return first == second ? 0 : first.lexicographicallyPrecedes(second) ? -1 : 1
        case (.uuid(let first), .uuid(let second)):
            return first == second ? 0 : first.uuidString < second.uuidString ? -1 : 1
        default: break
        }
        if let first = exact(left), let second = exact(right) { return first == second ? 0 : first < second ? -1 : 1 }
        guard let first = real(left), let second = real(right) else { return nil }
        return first == second ? 0 : first < second ? -1 : 1
    }

    private static func exact(_ value: Value) -> DecimalNumber? {
        switch value {
        case .int(let number): DecimalNumber(number)
        case .decimal(let number): number
        default: nil
        }
    }

    private static func real(_ value: Value) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .float(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double(number.description)
        default: nil
        }
    }

    // MARK: Aggregates

    static func aggregate(_ function: AggregateFunction, _ values: [Value]) -> Value {
        switch function {
        case .count: return .int(Int64(values.count))
        case .countDistinct:
            return .int(Int64(values.indices.count { index in !values[..<index].contains { order($0, values[index]) == 0 } }))
        case .min: return values.min { (order($0, $1) ?? 0) < 0 } ?? .null
        case .max: return values.max { (order($0, $1) ?? 0) < 0 } ?? .null
        case .sum: return sum(values)
        case .avg: return values.isEmpty ? .null : .double((real(sum(values)) ?? 0) / Double(values.count))
        }
    }

    private static func sum(_ values: [Value]) -> Value {
        let exacts = values.compactMap(exact)
        if exacts.count == values.count {
            var sum = DecimalNumber.zero
            for value in exacts { sum = sum + value }
            return .decimal(sum)
        }
        return .double(values.compactMap(real).reduce(0, +))
    }
}
