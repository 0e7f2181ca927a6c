import CambiumModel

/// The floating-point numbers to which the paths from one object lead.
///
/// The numbers are added in ascending order. The rounding of a sum depends on the order of the numbers, and equal graphs may store the
/// members of a relationship in different orders.
struct RealTerms {
    private var terms: [(number: Double, count: Int128)] = []

    /// Returns whether the result of a function depends on the order of the values.
    ///
    /// - Parameter type: The type of the attribute whose values are added.
    static func areNeeded(for function: AggregateFunction, of type: AttributeType?) -> Bool {
        (function == .sum || function == .avg) && (type == .float || type == .double)
    }

    /// Appends a number that occurs `count` times. Ignores null.
    mutating func append(_ value: QueryValue, times count: Int128) {
        if case .value(let value) = value, let number = value.real { terms.append((number, count)) }
    }

    /// Adds the numbers to a sum, and removes them. Complexity: O(numbers * log(numbers)).
    mutating func move(to sum: inout Accumulator) {
        if terms.count > 1 { terms.sort { ($0.number, $0.count) < ($1.number, $1.count) } }
        for term in terms { sum.add(.value(.double(term.number)), times: term.count) }
        terms.removeAll(keepingCapacity: true)
    }
}
