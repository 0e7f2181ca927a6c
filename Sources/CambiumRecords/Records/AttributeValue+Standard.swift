// `Bool`, `String`, `Double` and whole numbers are read directly from their columns. All other types are converted from a `Value`.

extension Bool: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .bool }
    var stored: Value { .bool(self) }
    static func restored(_ value: Value) -> Bool? { if case .bool(let value) = value { value } else { nil } }
    public init(_property property: Int, of row: inout RecordReader) throws { self = try row.bool(property) }
    @inlinable
    public static func _value(of column: Column, at place: ObjectPlace) -> Bool? { column.bool(at: place) }
}

extension String: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .string }
    var stored: Value { .string(self) }
    static func restored(_ value: Value) -> String? { if case .string(let value) = value { value } else { nil } }
    public init(_property property: Int, of row: inout RecordReader) throws { self = try row.string(property) }
    @inlinable
    public static func _value(of column: Column, at place: ObjectPlace) -> String? { column.string(at: place) }
}

extension Double: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .double }
    var stored: Value { .double(self) }
    static func restored(_ value: Value) -> Double? { if case .double(let value) = value { value } else { nil } }
    public init(_property property: Int, of row: inout RecordReader) throws { self = try row.double(property) }
    @inlinable
    public static func _value(of column: Column, at place: ObjectPlace) -> Double? { column.double(at: place) }
}

/// The whole-number types of Swift. The stored attribute may have another whole-number type. Reading a stored number that the Swift type
/// cannot hold is an error.
extension AttributeValue where Self: FixedWidthInteger {
    /// The smallest type that can hold every value of the Swift type, or `int64` if there is no such type.
    public static var attributeType: AttributeType {
        switch isSigned ? bitWidth : bitWidth + 1 {
        case ...16: .int16
        case ...32: .int32
        default: .int64
        }
    }
    /// The number as a value. A number that `Int64` cannot hold becomes a string, which the attribute refuses with an error.
    public var attributeValue: Value { Int64(exactly: self).map { .int($0) } ?? .string(String(self)) }
    public init(attributeValue: Value) throws {
        guard case .int(let value) = attributeValue else { throw ValueMismatch(of: Self.self) }
        guard let exact = Self(exactly: value) else { throw ValueMismatch(description: "\(Self.self) cannot hold \(value)") }
        self = exact
    }
    public init(_property property: Int, of row: inout RecordReader) throws {
        let value = try row.int(property)
        guard let exact = Self(exactly: value) else {
            throw row.mismatch(property, .int(value), ValueMismatch(description: "\(Self.self) cannot hold this number"))
        }
        self = exact
    }
}

extension Int: AttributeValue {
    @inlinable
    public static func _value(of column: Column, at place: ObjectPlace) -> Int? { column.int(at: place).map(Int.init) }
}
extension Int64: AttributeValue {
    @inlinable
    public static func _value(of column: Column, at place: ObjectPlace) -> Int64? { column.int(at: place) }
}
extension Int32: AttributeValue {}
extension Int16: AttributeValue {}

extension ValueMismatch {
    init(of type: Any.Type) { self.init(description: "\(type) cannot hold a value of this type") }
}
