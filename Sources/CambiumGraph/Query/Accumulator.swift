import CambiumModel

/// Computes an aggregate function. Values are added one by one, and null is ignored.
struct Accumulator {
    private let function: AggregateFunction
    private var count: Int128 = 0
    /// The value of `count` as a double. `count` stops at the greatest `Int128`, but `weight` does not. So an average divides by `weight`.
    private var weight = 0.0
    private var whole: Int128 = 0
    private var decimal = DecimalNumber.zero
    private var real = 0.0
    /// The sum of the rounding errors of `real` (Neumaier's variant of Kahan's summation).
    private var correction = 0.0
    /// The widest type of the numbers that were added so far.
    private var width = Width.whole
    private var best = Value.null
    private var distinct: Set<QueryValue> = []

    private enum Width: Int { case whole, decimal, real }

    /// - Parameter type: The type of the attribute whose values are added; `nil` if the values do not come from an attribute. A sum of
    ///   floating-point numbers is a double, even if there are no values.
    init(_ function: AggregateFunction, of type: AttributeType?) {
        self.function = function
        if type == .float || type == .double { width = .real }
        if type == .decimal { width = .decimal }
    }

    /// Adds a value that occurs a number of times.
    mutating func add(_ value: QueryValue, times: Int128 = 1) {
        if value.isNull { return }
        count = count.saturatingSum(times)
        weight += Double(times)
        switch function {
        case .count: return
        case .countDistinct: distinct.insert(value.canonical)
        case .min, .max: if case .value(let value) = value { take(value) }
        case .sum, .avg: if case .value(let value) = value { sum(value, times) }
        }
    }

    private mutating func take(_ value: Value) {
        guard !best.isNull, let order = value.order(best) else {
            if best.isNull { best = value }
            return
        }
        if function == .min ? order < 0 : order > 0 { best = value }
    }

    private mutating func sum(_ value: Value, _ times: Int128) {
        switch value {
        case .int(let number):
            let (product, isTooLarge) = times.multipliedReportingOverflow(by: Int128(number))
            let (sum, isOverflowing) = whole.addingReportingOverflow(product)
            if isTooLarge || isOverflowing { return addReal(Double(number) * Double(times)) }
            whole = sum
        case .decimal(let number):
            if width == .whole { width = .decimal }
            guard let product = Self.product(number, times), let sum = decimal.adding(product) else {
                // The sum has more digits than a decimal number can have, so it continues as a double.
                addReal(Double(decimal.description) ?? 0)
                addReal((Double(number.description) ?? 0) * Double(times))
                decimal = .zero
                return
            }
            decimal = sum
        default: if let number = value.real { addReal(number * Double(times)) }
        }
    }

    /// Returns the exact product, or `nil` if it has more digits than a decimal number can have. The number is doubled for each bit of
    /// `times`.
    private static func product(_ number: DecimalNumber, _ times: Int128) -> DecimalNumber? {
        if times == 1 { return number }
        var (product, power, rest) = (DecimalNumber.zero, number, times)
        while true {
            if rest & 1 == 1 {
                guard let sum = product.adding(power) else { return nil }
                product = sum
            }
            rest >>= 1
            if rest == 0 { return product }
            guard let doubled = power.adding(power) else { return nil }
            power = doubled
        }
    }

    private mutating func addReal(_ number: Double) {
        width = .real
        let sum = real + number
        correction += real.magnitude >= number.magnitude ? (real - sum) + number : (number - sum) + real
        real = sum
    }

    var result: Value {
        switch function {
        case .count: .int(Int64(clamping: count))
        case .countDistinct: .int(Int64(distinct.count))
        case .min, .max: best
        case .sum: total
        case .avg: count == 0 ? .null : .double((total.real ?? 0) / weight)
        }
    }

    private var total: Value {
        if width == .whole {
            if let sum = Int64(exactly: whole) { return .int(sum) }
            return DecimalNumber(String(whole)).map { .decimal($0) } ?? .double(Double(whole))
        }
        if width == .decimal, let wholePart = DecimalNumber(String(whole)), let sum = decimal.adding(wholePart) { return .decimal(sum) }
        // If the sum is infinite, the rounding error is NaN. Adding it would make the result NaN, too.
        return .double(real.isFinite ? real + correction + (Double(decimal.description) ?? 0) + Double(whole) : real)
    }
}

extension Int128 {
    /// Returns the sum, or the greatest number if the sum is greater. Neither number may be negative.
    @inline(__always) func saturatingSum(_ other: Int128) -> Int128 {
        let (sum, isOverflowing) = addingReportingOverflow(other)
        return isOverflowing ? .max : sum
    }
}

extension QueryValue {
    /// The value in a form that is the same for all equal values. Equal values may have different types, or may be 0.0 and -0.0.
    var canonical: QueryValue {
        if case .list(let values) = self { return .list(values.map(\.canonical)) }
        guard case .value(let value) = self else { return self }
        switch value {
        case .int(let number): return .value(.decimal(DecimalNumber(number)))
        case .float(let number):
            return .value(DecimalNumber(Double(number).description).map { .decimal($0) } ?? .double(Double(number) + 0))
        case .double(let number): return .value(DecimalNumber(number.description).map { .decimal($0) } ?? .double(number + 0))
        case .uri(let text), .json(let text): return .value(.string(text))
        default: return self
        }
    }
}
