extension AttributeType {
    /// Whether each value of this type converts exactly to a value of another type, and the conversion keeps the order of the values.
    package func widens(to other: AttributeType) -> Bool {
        switch (self, other) {
        case (.bool, _) where other.isNumeric: true
        case (.int16, .int32), (.int16, .int64), (.int16, .float), (.int16, .double), (.int16, .decimal), (.int32, .int64),
            (.int32, .double), (.int32, .decimal), (.int64, .decimal), (.float, .double), (.uri, .string):
            true
        default: self == other
        }
    }

    /// Whether a migration converts values of this type to another type. If this type does not widen to the other type, some values have no
    /// exact equivalent (`equivalent(of:to:)`).
    package func converts(to other: AttributeType) -> Bool { (isNumeric && other.isNumeric) || widens(to: other) }

    private var isNumeric: Bool {
        switch self {
        case .bool, .int16, .int32, .int64, .float, .double, .decimal: true
        default: false
        }
    }

    /// Converts a value of this type to the nearest value of another type. A number other than 0 becomes true. A fraction becomes the
    /// nearest integer, and a half is rounded away from zero. Returns `nil` if the types do not convert, or if the value is beyond the
    /// range of the other type.
    ///
    /// The decimal number for a float is the shortest one that the type of the float reads as the same number, which is how it is printed.
    package func converted(_ value: Value, to other: AttributeType) -> Value? {
        guard converts(to: other) else { return nil }
        if self == other || value.isNull { return value }
        switch other {
        case .bool: return value.isZero.map { .bool(!$0) }
        case .int16: return value.nearestInteger.flatMap { Int16(exactly: $0) }.map { .int(Int64($0)) }
        case .int32: return value.nearestInteger.flatMap { Int32(exactly: $0) }.map { .int(Int64($0)) }
        case .int64: return value.nearestInteger.map { .int($0) }
        case .float: return value.nearestFloat.map { .float($0) }
        case .double: return value.nearestDouble.map { .double($0) }
        case .decimal: return value.nearestDecimal.map { .decimal($0) }
        case .string:
            guard case .uri(let text) = value else { return nil }
            return .string(text)
        default: return nil
        }
    }

    /// Converts a value of this type to another type if nothing is lost, so that converting it back gives the same number. Otherwise,
    /// returns `nil`.
    package func equivalent(of value: Value, to other: AttributeType) -> Value? {
        guard let converted = converted(value, to: other) else { return nil }
        if widens(to: other) { return converted }
        let isExact =
            switch (value, other.converted(converted, to: self)) {
            // As numbers, 0.0 equals -0.0.
            case (.double(let number), .double(let back)): number == back
            case (.float(let number), .float(let back)): number == back
            case (_, let back): back == value
            }
        return isExact ? converted : nil
    }
}

extension Value {
    fileprivate var isZero: Bool? {
        switch self {
        case .bool(let flag): !flag
        case .int(let number): number == 0
        case .float(let number): number == 0
        case .double(let number): number == 0
        case .decimal(let number): number == .zero
        default: nil
        }
    }

    fileprivate var nearestInteger: Int64? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): number
        case .float(let number): Int64(exactly: number.rounded())
        case .double(let number): Int64(exactly: number.rounded())
        case .decimal(let number): number.nearestInteger
        default: nil
        }
    }

    fileprivate var nearestFloat: Float? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Float(number)
        case .float(let number): number
        case .double(let number): Float(number).isFinite ? Float(number) : nil
        case .decimal(let number): Float(number.description).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }

    fileprivate var nearestDouble: Double? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Double(number)
        case .float(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double(number.description)
        default: nil
        }
    }

    fileprivate var nearestDecimal: DecimalNumber? {
        switch self {
        case .bool(let flag): DecimalNumber(flag ? 1 : 0)
        case .int(let number): DecimalNumber(number)
        case .float(let number): DecimalNumber(number.description)
        case .double(let number): DecimalNumber(number.description)
        case .decimal(let number): number
        default: nil
        }
    }
}

extension DecimalNumber {
    /// The nearest integer; a half is rounded away from zero. `nil` if it is beyond the range of `Int64`.
    fileprivate var nearestInteger: Int64? {
        var magnitude = coefficient
        if exponent < 0 {
            if -exponent > Self.digitCountMax { return 0 }
            let divisor = (0..<(-exponent)).reduce(UInt128(1)) { product, _ in product * 10 }
            let (quotient, rest) = magnitude.quotientAndRemainder(dividingBy: divisor)
            magnitude = quotient + (rest >= divisor - rest ? 1 : 0)
        }
        for _ in 0..<max(0, exponent) where magnitude != 0 {
            if magnitude > UInt128(UInt64.max) { return nil }
            magnitude *= 10
        }
        guard let number = Int128(exactly: magnitude) else { return nil }
        return Int64(exactly: isNegative ? -number : number)
    }
}
