import CambiumModel

/// Computes an aggregate function. Values are added one by one, and null is ignored.
struct Accumulator {
    private let function: AggregateFunction
    private var count: Int128 = 0
    /// The number of added values as a double. `count` stops at the greatest `Int128`, so an average divides by `weight` instead.
    private var weight = 0.0
    /// The sum of the whole numbers, except those that `exact` contains.
    private var whole: Int128 = 0
    /// The sum of the decimal numbers, and of the whole numbers with which `whole` would overflow.
    private var exact = DecimalSum()
    private var isExactUsed = false
    private var real = RealSum()
    /// The widest type of the numbers that were added so far.
    private var width = Width.whole
    private var best = Value.null
    private var distinct: Set<QueryValue> = []

    private enum Width: Int { case whole, decimal, real }

    /// - Parameter type: The type of the attribute whose values are added; `nil` if the values do not come from an attribute. If there are
    ///   no values, the type decides whether a sum is a whole number, a decimal number or a double.
    init(_ function: AggregateFunction, of type: AttributeType?) {
        self.function = function
        if type == .float || type == .double { width = .real }
        if type == .decimal { width = .decimal }
    }

    /// Adds a value that occurs `times` times.
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
            if isTooLarge || isOverflowing { return addExact(DecimalNumber(number), times) }
            whole = sum
        case .decimal(let number):
            if width == .whole { width = .decimal }
            addExact(number, times)
        default:
            guard let number = value.real else { return }
            width = .real
            real.add(number, times: Double(times))
        }
    }

    private mutating func addExact(_ number: DecimalNumber, _ times: Int128) {
        isExactUsed = true
        exact.add(number, times: times)
    }

    var result: Value {
        switch function {
        case .count: .int(Int64(clamping: count))
        case .countDistinct: .int(Int64(distinct.count))
        // 0.0 and -0.0 are equal. Without this conversion, the order of the values would decide which of the two is the result.
        case .min, .max: best.withoutNegativeZero
        case .sum: total
        case .avg: count == 0 ? .null : .double(mean)
        }
    }

    /// The sum of all numbers, divided by their count.
    private var mean: Double {
        // A sum of decimal numbers is not rounded before the division. Otherwise, the mean of 0.1, 0.2 and 0.3 would not be 0.2.
        if width == .decimal, let count = UInt64(exactly: count) { return exactSum.mean(of: count) }
        return realSum.mean(of: weight)
    }

    /// The sum of all numbers as a double.
    private var realSum: RealSum {
        var sum = real
        sum.add(isExactUsed ? exactSum.real : Double(whole))
        return sum
    }

    /// The sum of all numbers that are not floating-point numbers.
    private var exactSum: DecimalSum {
        var sum = exact
        sum.add(whole: whole)
        return sum
    }

    private var total: Value {
        if width == .real { return .double(realSum.total) }
        if width == .whole, !isExactUsed, let sum = Int64(exactly: whole) { return .int(sum) }
        let exact = exactSum
        guard let sum = exact.number else { return .double(exact.real) }
        if width == .whole, let sum = Int64(sum.description) { return .int(sum) }
        return .decimal(sum)
    }
}

extension Int128 {
    /// Returns the sum, or the greatest `Int128` if the sum is greater. Both addends must be 0 or greater.
    @inline(__always) func saturatingSum(_ other: Int128) -> Int128 {
        let (sum, isOverflowing) = addingReportingOverflow(other)
        return isOverflowing ? .max : sum
    }
}

extension QueryValue {
    /// The value, with 0.0 instead of -0.0.
    var withoutNegativeZero: QueryValue { if case .value(let value) = self { .value(value.withoutNegativeZero) } else { self } }

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
