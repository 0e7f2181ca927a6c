import CambiumModel

/// A condition on groups whose names and parameters are resolved, so that a test of a group looks up neither.
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
    /// The place of the value in a group; `nil` for a literal.
    let place: Int?
}

/// A comparison of groups, with values in place of its parameters.
struct GroupComparison {
    let comparison: Comparison
    let left: GroupOperand
    /// The elements of the list on the right side, or the right side itself.
    let elements: [GroupOperand]
    /// The operands that are not literals.
    let stored: [GroupOperand]
    /// The list after `in`, if all its elements are literals; otherwise `nil`.
    let list: GroupList?

    init(_ comparison: Comparison, _ left: GroupOperand, _ elements: [GroupOperand]) {
        (self.comparison, self.left, self.elements) = (comparison, left, elements)
        stored = ([left] + elements).filter { $0.place != nil }
        list = comparison.relation == .isIn && elements.allSatisfy { $0.place == nil } ? GroupList() : nil
    }
}

/// The constants of a list in a condition on groups. They are converted once for each type of the values on the left side. So a test of a
/// group usually takes O(1), however long the list is.
final class GroupList {
    var constants: [ListedType: Constants] = [:]

    /// The part of a value that determines how constants are converted for a comparison with the value. All texts have one type.
    struct ListedType: Hashable {
        private let type: AttributeType?
        private let root: EntityNumber?

        init(_ value: QueryValue) {
            switch value {
            case .value(let value): (type, root) = (value.comparedText == nil ? value.attributeType : .string, nil)
            case .object(let id): (type, root) = (nil, id.root)
            case .list: (type, root) = (nil, nil)
            }
        }
    }

    /// The constants that are not null, converted for values of one type.
    struct Constants {
        private var values: Set<QueryValue> = []
        /// The constants of another type, such as a decimal number that is compared with whole numbers. No hash finds them.
        private var others: [QueryValue] = []

        mutating func insert(_ constant: QueryValue, _ type: ListedType, _ folding: Folding) {
            if constant.isNull { return }
            let folded = constant.folded(folding)
            if ListedType(folded) == type, let value = folded.hashed { values.insert(value) } else { others.append(folded) }
        }

        func contain(_ value: QueryValue, _ folding: Folding) -> Bool {
            if let hashed = value.folded(folding).hashed, values.contains(hashed) { return true }
            return ValueTest(.isIn, folding).holds(value, others)
        }
    }
}

extension QueryValue {
    /// A form of the value. Two values of one type have equal forms if and only if they are equal in conditions. `nil` for a number that is
    /// not equal to itself.
    fileprivate var hashed: QueryValue? {
        guard case .value(let value) = self else { return self }
        switch value {
        case .float(let number) where number.isNaN: return nil
        case .double(let number) where number.isNaN: return nil
        case .string(let text), .uri(let text), .json(let text): return .value(.string(text))
        default: return .value(value.withoutNegativeZero)
        }
    }

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
    /// The elements of the list on the right side, or the right side itself.
    var rightElements: [Operand] { if case .list(let elements) = right.form { elements } else { [right] } }
}
