extension AttributeType {
    /// Whether each value of this type converts exactly to a value of another type, and the conversion keeps the order of the values.
    package func widens(to other: AttributeType) -> Bool {
        switch (self, other) {
        case (.int16, .int32), (.int16, .int64), (.int16, .float), (.int16, .double), (.int16, .decimal), (.int32, .int64),
            (.int32, .double), (.int32, .decimal), (.int64, .decimal), (.float, .double), (.uri, .string):
            true
        default: self == other
        }
    }

    /// Converts a value of this type to another type. Returns `nil` if `widens(to:)` is `false` for the other type.
    package func widened(_ value: Value, to other: AttributeType) -> Value? {
        guard widens(to: other) else { return nil }
        switch (value, other) {
        case (.int(let number), .float): return .float(Float(number))
        case (.int(let number), .double): return .double(Double(number))
        case (.int(let number), .decimal): return .decimal(DecimalNumber(number))
        case (.float(let number), .double): return .double(Double(number))
        case (.uri(let text), .string): return .string(text)
        default: return value
        }
    }
}
