import CambiumModel
import Testing

/// Short forms of the parts of conditions, for tables of expected trees.
enum QueryFixture {
    static func path(_ names: String...) -> Operand { Operand(.path(QueryPath(names))) }
    static func number(_ digits: String) -> Operand { Operand(.literal(.number(digits))) }
    static func string(_ text: String) -> Operand { Operand(.literal(.string(text))) }
    static func literal(_ literal: QueryLiteral) -> Operand { Operand(.literal(literal)) }
    static func parameter(_ name: String) -> Operand { Operand(.parameter(name)) }
    static func list(_ elements: Operand...) -> Operand { Operand(.list(elements)) }

    static func aggregate(_ function: AggregateFunction, _ path: [String], of value: [String]? = nil) -> Operand {
        Operand(.aggregate(RelatedAggregate(function, QueryPath(path), of: value.map { QueryPath($0) })))
    }

    static func compare(
        _ left: Operand, _ relation: Comparison.Relation, _ right: Operand, _ quantifier: Quantifier? = nil, folding: Folding = []
    ) -> Condition {
        .comparison(Comparison(left, relation, right, quantifier: quantifier, folding: folding))
    }

    /// The condition that an attribute of this name is 1.
    static func one(_ name: String) -> Condition { compare(path(name), .equal, number("1")) }

    /// Returns the error with which a text is refused, or `nil` after an issue was recorded because the text is accepted.
    static func refusal(_ body: () throws -> Void) -> CambiumError? {
        do {
            try body()
            Issue.record("The text is accepted.")
            return nil
        } catch {
            return error as? CambiumError
        }
    }
}

/// A text and the condition that it denotes.
struct ConditionSample: Sendable, CustomTestStringConvertible {
    let text: String
    let condition: Condition

    init(_ text: String, _ condition: Condition) {
        self.text = text
        self.condition = condition
    }

    var testDescription: String { text }
}
