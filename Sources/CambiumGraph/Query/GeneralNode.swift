import CambiumModel

/// Compares the values of two operands row by row.
final class GeneralNode: ConditionNode {
    private let left: ValueReader
    private let right: ValueReader
    private let test: ValueTest
    /// How many values of the left side must satisfy the relation; `nil` if the left side has exactly one value.
    private let quantifier: Quantifier?

    init(_ left: ValueReader, _ relation: Comparison.Relation, _ right: ValueReader, _ folding: Folding, _ quantifier: Quantifier?) {
        self.left = left
        self.right = right
        test = ValueTest(relation, folding)
        self.quantifier = quantifier
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { rows.filter { holds(group.row($0)) } }

    private func holds(_ row: UInt32) -> Bool {
        let wanted = [right.value(row)]
        switch quantifier {
        case .any, nil: return !left.visit(row) { !test.holds($0, wanted) }
        case .all: return left.visit(row) { test.holds($0, wanted) }
        case .some(.none): return left.visit(row) { !test.holds($0, wanted) }
        }
    }
}
