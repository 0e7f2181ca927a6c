import CambiumModel

/// A condition on the groups of a query, with resolved names and parameters. So the test of a group needs no lookup.
indirect enum GroupCondition {
    case constant(Bool)
    case not(GroupCondition)
    case and([GroupCondition])
    case or([GroupCondition])
    case comparison(GroupComparison)
}

/// One side of a comparison of groups, or an element of a list.
struct GroupOperand {
    let operand: Operand
    /// The place of the value in a group, an index in `GroupOrder.kinds`; `nil` for a literal.
    let place: Int?
}

/// A comparison of groups, with values in place of its parameters.
struct GroupComparison {
    let comparison: Comparison
    let left: GroupOperand
    /// The elements of the right side if it is a list, otherwise the right side itself.
    let elements: [GroupOperand]
    /// The places of the elements that are not literals.
    let elementPlaces: [Int]
    /// The elements after `in` that are literals.
    let constants: [GroupOperand]
    /// The elements after `in` that are not literals.
    let paths: [GroupOperand]
    /// The constants after `in`; `nil` for any other relation.
    let list: ConstantList?

    init(_ comparison: Comparison, _ left: GroupOperand, _ elements: [GroupOperand]) {
        (self.comparison, self.left, self.elements) = (comparison, left, elements)
        elementPlaces = elements.compactMap(\.place)
        list = comparison.relation == .isIn ? ConstantList() : nil
        let isListed = list != nil
        constants = isListed ? elements.filter { $0.place == nil } : []
        paths = isListed ? elements.filter { $0.place != nil } : []
    }
}

extension QueryValue {
    /// The kind of the value; `nil` for null and for a list.
    var kind: ValueKind? {
        switch self {
        case .value(let value): value.attributeType.map { ValueKind($0) }
        case .object(let id): .object(id.root)
        case .list: nil
        }
    }
}

extension Comparison {
    /// The elements of the right side if it is a list, otherwise the right side itself.
    var rightElements: [Operand] { if case .list(let elements) = right.form { elements } else { [right] } }
}
