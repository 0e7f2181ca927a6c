import CambiumModel

/// The values of one attribute that satisfy a condition. The planner looks them up in an index.
struct ColumnMatch {
    enum Values {
        case equal([Value])
        /// The values between two limits. A limit that is `nil` does not restrict the values.
        case between(Limit?, Limit?)
        case prefix(String)
    }

    struct Limit {
        let value: Value
        let isIncluded: Bool

        init(_ value: Value, isIncluded: Bool) {
            self.value = value
            self.isIncluded = isIncluded
        }

        /// Returns the limit that excludes more values. If `first` is `nil`, returns `second`.
        ///
        /// - Parameter sign: 1 for lower limits, and -1 for upper limits.
        fileprivate static func stricter(_ first: Limit?, _ second: Limit?, sign: Int) -> Limit? {
            guard let first, let second else { return first ?? second }
            guard let order = second.value.order(first.value), order != 0 else { return first.isIncluded ? second : first }
            return order * sign > 0 ? second : first
        }
    }

    let attribute: PropertyNumber
    let values: Values
    /// Whether texts are compared without regard to case.
    let isFolded: Bool

    /// Returns the values, restricted by the limits that other conditions of an `and` set for the same attribute. So one range of an index
    /// answers `age >= 30 and age < 40`.
    ///
    /// Limits of folded texts are compared without folding. The result may then be a wider range, but no value is missing.
    func values(within others: [ColumnMatch]) -> Values {
        guard case .between(var lower, var upper) = values else { return values }
        for other in others where other.attribute == attribute && other.isFolded == isFolded {
            guard case .between(let least, let greatest) = other.values else { continue }
            lower = Limit.stricter(lower, least, sign: 1)
            upper = Limit.stricter(upper, greatest, sign: -1)
        }
        return .between(lower, upper)
    }
}
