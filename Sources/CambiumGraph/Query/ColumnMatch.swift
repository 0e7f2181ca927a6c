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
    }

    let attribute: PropertyNumber
    let values: Values
    /// Whether texts are compared without regard to case.
    let isFolded: Bool
}
