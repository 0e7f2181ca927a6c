extension AttributeType {
    /// Whether each value of this type converts exactly to a value of another type, and the conversion keeps the order of the values.
    package func widens(to other: AttributeType) -> Bool {
        switch (self, other) {
        case (.bool, .int16), (.bool, .int32), (.bool, .int64), (.int16, .int32), (.int16, .int64), (.int16, .float), (.int16, .double),
            (.int16, .decimal), (.int32, .int64), (.int32, .double), (.int32, .decimal), (.int64, .decimal), (.float, .double),
            (.uri, .string):
            true
        default: self == other
        }
    }

    /// Whether a migration converts values of this type to another type. If this type does not widen to the other type, some values have no
    /// exact equivalent (`equivalent(of:to:)`).
    package func converts(to other: AttributeType) -> Bool {
        switch (self, other) {
        case (.int16, .bool), (.int32, .bool), (.int64, .bool), (.int32, .float), (.int64, .float), (.int64, .double), (.float, .decimal),
            (.double, .decimal), (.decimal, .double):
            true
        default: widens(to: other)
        }
    }

    /// Converts a value of this type to the nearest value of another type. An integer other than 0 becomes true. Returns `nil` if the types
    /// do not convert, or if the value is beyond the range of the other type.
    ///
    /// The decimal number for a float is the shortest one that the type of the float reads as the same number, which is how it is printed.
    package func converted(_ value: Value, to other: AttributeType) -> Value? {
        guard converts(to: other) else { return nil }
        switch (value, other) {
        case (.bool(let flag), .int16), (.bool(let flag), .int32), (.bool(let flag), .int64): return .int(flag ? 1 : 0)
        case (.int(let number), .bool): return .bool(number != 0)
        case (.int(let number), .float): return .float(Float(number))
        case (.int(let number), .double): return .double(Double(number))
        case (.int(let number), .decimal): return .decimal(DecimalNumber(number))
        case (.float(let number), .double): return .double(Double(number))
        case (.float(let number), .decimal): return DecimalNumber(number.description).map { .decimal($0) }
        case (.double(let number), .decimal): return DecimalNumber(number.description).map { .decimal($0) }
        case (.decimal(let number), .double): return Double(number.description).map { .double($0) }
        case (.uri(let text), .string): return .string(text)
        default: return value
        }
    }

    /// Converts a value of this type to another type if nothing is lost. Otherwise, returns `nil`.
    package func equivalent(of value: Value, to other: AttributeType) -> Value? {
        guard let converted = converted(value, to: other) else { return nil }
        let isExact =
            switch (value, converted) {
            case (.int(let number), .bool): number == 0 || number == 1
            case (.int(let number), .float(let other)): Int64(exactly: other) == number
            case (.int(let number), .double(let other)): Int64(exactly: other) == number
            case (.decimal(let number), .double(let other)): DecimalNumber(other.description) == number
            default: true
            }
        return isExact ? converted : nil
    }
}
