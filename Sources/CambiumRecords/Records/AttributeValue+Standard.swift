// `Bool`, `String`, `Double` and whole numbers are read directly from their columns. All other types conform to `ConvertedValue`: they are
// converted from a `Value`.

extension Bool: AttributeValue {
    public static var attributeType: AttributeType { .bool }
    public var attributeValue: Value { .bool(self) }
    public init(attributeValue: Value) throws {
        guard case .bool(let value) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = value
    }
    public init(property: Int, of row: inout RecordReader) throws { self = try row.bool(property) }
    @inlinable
    public static func value(of column: Column, at place: ObjectPlace) -> Bool? { column.bool(at: place) }
}

extension String: AttributeValue {
    public static var attributeType: AttributeType { .string }
    public var attributeValue: Value { .string(self) }
    public init(attributeValue: Value) throws {
        guard case .string(let value) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = value
    }
    public init(property: Int, of row: inout RecordReader) throws { self = try row.string(property) }
    @inlinable
    public static func value(of column: Column, at place: ObjectPlace) -> String? { column.string(at: place) }
}

extension Double: AttributeValue {
    public static var attributeType: AttributeType { .double }
    public var attributeValue: Value { .double(self) }
    public init(attributeValue: Value) throws {
        guard case .double(let value) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = value
    }
    public init(property: Int, of row: inout RecordReader) throws { self = try row.double(property) }
    @inlinable
    public static func value(of column: Column, at place: ObjectPlace) -> Double? { column.double(at: place) }
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
    public init(property: Int, of row: inout RecordReader) throws {
        let value = try row.int(property)
        guard let exact = Self(exactly: value) else {
            throw row.mismatch(property, .int(value), ValueMismatch(description: "\(Self.self) cannot hold this number"))
        }
        self = exact
    }
}

extension Int: AttributeValue {
    @inlinable
    public static func value(of column: Column, at place: ObjectPlace) -> Int? { column.int(at: place).map(Int.init) }
}
extension Int64: AttributeValue {
    @inlinable
    public static func value(of column: Column, at place: ObjectPlace) -> Int64? { column.int(at: place) }
}
extension Int32: AttributeValue {}
extension Int16: AttributeValue {}

extension ValueMismatch {
    init(of type: Any.Type) { self.init(description: "\(type) cannot hold a value of this type") }
}
