import CambiumModel
import CambiumTesting

/// Makes random conditions of the kinds that a text can denote.
struct RandomCondition {
    var random: SplitMix64

    private static let names = ["a", "b2", "größe", "x-y", "_id", "any", "IN", "self", "nulls", "日本", "true", "where"]
    private static let texts = [
        "", "x", "it's", "\"", "\\", "\n\t\u{8}\u{C}\r", "\0", "é", "e\u{301}", "😀", "\u{202E}", "//", "$p", "\u{FFFF}",
    ]
    private static let numbers = ["0", "-0", "1", "-12.50", "1e5", "2E-3", "123456789012345678901234567890", "0.0"]

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &random)] }

    mutating func condition(_ depth: Int) -> Condition {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
        case 0: .constant(random.isTrue(1, outOf: 2))
        case 1...4: .comparison(comparison())
        case 5: .and(conditions(depth - 1))
        case 6: .or(conditions(depth - 1))
        case 7: .not(condition(depth - 1))
        default: .related(pick(Quantifier.allCases), path(), condition(depth - 1))
        }
    }

    private mutating func conditions(_ depth: Int) -> [Condition] {
        (0..<Int.random(in: 2...4, using: &random)).map { _ in condition(depth) }
    }

    mutating func comparison() -> Comparison {
        let quantifier: Quantifier? = random.isTrue(1, outOf: 4) ? pick(Quantifier.allCases) : nil
        let left = quantifier == nil ? operand() : Operand(.path(path()))
        let relation = pick(Comparison.Relation.allCases)
        let right: Operand =
            switch relation {
            case .isIn: list(Int.random(in: 0...3, using: &random))
            case .isBetween: list(2)
            default: operand()
            }
        return Comparison(
            left, relation, right, quantifier: quantifier, folding: Folding(rawValue: UInt8.random(in: 0...3, using: &random)))
    }

    private mutating func list(_ count: Int) -> Operand {
        if random.isTrue(1, outOf: 4) { return Operand(.parameter(pick(Self.names))) }
        return Operand(.list((0..<count).map { _ in operand() }))
    }

    mutating func path() -> QueryPath { QueryPath((0..<Int.random(in: 0...3, using: &random)).map { _ in pick(Self.names) }) }

    mutating func operand() -> Operand {
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: return Operand(.path(path()))
        case 2: return Operand(.parameter(pick(Self.names)))
        case 3:
            let function = pick(AggregateFunction.allCases)
            let owner = QueryPath([pick(Self.names)] + path().names)
            return Operand(.aggregate(RelatedAggregate(function, owner, of: function == .count ? nil : path())))
        default: return Operand(.literal(literal()))
        }
    }

    private mutating func literal() -> QueryLiteral {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .null
        case 1: .bool(random.isTrue(1, outOf: 2))
        case 2: .number(pick(Self.numbers))
        case 3: .string(pick(Self.texts) + pick(Self.texts))
        case 4: .object(entity: pick(Self.names), serial: UInt64.random(in: 0...ObjectID.serialMax, using: &random))
        default: .id(ObjectID(root: EntityNumber(rawValue: UInt16.random(in: 1 ... .max, using: &random)), serial: 7))
        }
    }

    mutating func sortKey() -> SortKey {
        var operand = operand()
        while !Self.isSortable(operand) { operand = self.operand() }
        return SortKey(
            operand, random.isTrue(1, outOf: 2) ? .ascending : .descending, nulls: random.isTrue(1, outOf: 2) ? .first : .last,
            folding: Folding(rawValue: UInt8.random(in: 0...3, using: &random)))
    }

    private static func isSortable(_ operand: Operand) -> Bool {
        switch operand.form {
        case .path, .aggregate: true
        default: false
        }
    }
}
