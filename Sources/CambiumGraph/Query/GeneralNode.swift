import CambiumModel

/// Compares the values of two operands row by row.
final class GeneralNode: ConditionNode {
    private let left: ValueReader
    private let right: ValueReader
    private let test: ValueTest
    /// How many values of the left side must satisfy the relation; `nil` if the left side has exactly one value.
    private let quantifier: Quantifier?
    private let hubs: HubCache?

    init(
        _ left: ValueReader, _ relation: Comparison.Relation, _ right: ValueReader, _ folding: Folding, _ quantifier: Quantifier?,
        _ context: QueryContext
    ) {
        self.left = left
        self.right = right
        test = ValueTest(relation, folding)
        self.quantifier = quantifier
        hubs = HubCache(left, relation, right, folding, context)
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { rows.filter { holds(group.row($0)) } }

    private func holds(_ row: UInt32) -> Bool {
        let wanted = right.value(row)
        if let hubs, let hub = hubs.hub(of: row) { return holds(row, hub, hubs, wanted) }
        return compareEach(row, wanted).holds
    }

    private func holds(_ row: UInt32, _ hub: UInt32, _ hubs: HubCache, _ wanted: QueryValue) -> Bool {
        guard let values = hubs.values(of: hub, from: row) else {
            let compared = compareEach(row, wanted)
            hubs.addReads(compared.readCount, of: hub)
            return compared.holds
        }
        return switch quantifier {
        case .any, nil: values.anyHolds(wanted)
        case .all: values.allHold(wanted)
        case .some(.none): !values.anyHolds(wanted)
        }
    }

    /// Compares the values one by one. Returns the result, and the number of values that were read.
    private func compareEach(_ row: UInt32, _ wanted: QueryValue) -> (holds: Bool, readCount: Int) {
        let (constants, isAll) = ([wanted], quantifier == .all)
        var count = 0
        let isSame = left.visit(row) { value in
            count += 1
            return test.holds(value, constants) == isAll
        }
        return (quantifier == .any || quantifier == nil ? !isSame : isSame, count)
    }
}
