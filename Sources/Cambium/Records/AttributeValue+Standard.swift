// `Bool`, `String`, `Double` and whole numbers are read directly from their columns. All other types are converted from a `Value`; they are
// `ConvertedValue`s.

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

/// The whole numbers of Swift. The stored attribute may have any whole-number type. A stored number that the Swift type cannot hold is an
/// error.
extension AttributeValue where Self: FixedWidthInteger {
    /// The smallest type that has every number of the Swift type, or `int64` if there is no such type.
    public static var attributeType: AttributeType {
        switch isSigned ? bitWidth : bitWidth + 1 {
        case ...16: .int16
        case ...32: .int32
        default: .int64
        }
    }
    /// The number. A number that `Int64` cannot hold becomes a string, which the attribute then refuses with an error.
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
    public init(property: Int, of row: inout RecordReader) throws { self = Int(try row.int(property)) }
    @inlinable
    public static func value(of column: Column, at place: ObjectPlace) -> Int? { column.int(at: place).map(Int.init) }
}
extension Int64: AttributeValue {
    public init(property: Int, of row: inout RecordReader) throws { self = try row.int(property) }
    @inlinable
    public static func value(of column: Column, at place: ObjectPlace) -> Int64? { column.int(at: place) }
}
extension Int32: AttributeValue { public static var attributeType: AttributeType { .int32 } }
extension Int16: AttributeValue { public static var attributeType: AttributeType { .int16 } }

extension Date: AttributeValue {
    public static var attributeType: AttributeType { .date }
    public var attributeValue: Value { .date(self) }
    public init(attributeValue: Value) throws {
        guard case .date(let value) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = value
    }
}

extension UUID: AttributeValue {
    public static var attributeType: AttributeType { .uuid }
    public var attributeValue: Value { .uuid(self) }
    public init(attributeValue: Value) throws {
        guard case .uuid(let value) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = value
    }
}

extension DecimalNumber: AttributeValue {
    public static var attributeType: AttributeType { .decimal }
    public var attributeValue: Value { .decimal(self) }
    public init(attributeValue: Value) throws {
        guard case .decimal(let value) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = value
    }
}

/// Foundation's `Decimal` is stored as a `DecimalNumber` of the same range. A `Decimal` with 39 digits is rounded to 38 digits.
extension Decimal: AttributeValue {
    public static var attributeType: AttributeType { .decimal }
    /// The decimal as a value. NaN becomes a text, which the attribute then refuses with an error.
    public var attributeValue: Value { DecimalNumber(self).map { .decimal($0) } ?? .string("\(self)") }
    public init(attributeValue: Value) throws { self.init(try DecimalNumber(attributeValue: attributeValue)) }
}

extension Data: AttributeValue {
    public static var attributeType: AttributeType { .data }
    public var attributeValue: Value { .data(Array(self)) }
    public init(attributeValue: Value) throws {
        guard case .data(let bytes) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = Data(bytes)
    }
}

extension URL: AttributeValue {
    public static var attributeType: AttributeType { .uri }
    public var attributeValue: Value { .uri(absoluteString) }
    public init(attributeValue: Value) throws {
        guard case .uri(let text) = attributeValue, let url = URL(string: text) else { throw ValueMismatch(of: Self.self) }
        self = url
    }
    /// Writes the URL. A stored URI stays unchanged if it differs from this URL only in letters that `URL` has escaped.
    public mutating func write(property: Int, to row: inout RecordWriter) throws {
        if row.wantsAttributes { try row.put(property, attributeValue) { try URL(attributeValue: $0).attributeValue } }
    }
}

extension JSONValue: AttributeValue {
    public static var attributeType: AttributeType { .json }
    /// The compact text, or `.null` for null in JSON, because no attribute may contain the text `null`.
    public var attributeValue: Value { self == .null ? .null : .json(text) }
    public init(attributeValue: Value) throws {
        guard case .json(let text) = attributeValue else { throw ValueMismatch(of: Self.self) }
        self = try JSONValue(parsing: text.utf8)
    }
    /// Writes the value. A stored text stays unchanged if it differs from the text of this value only in spaces.
    public mutating func write(property: Int, to row: inout RecordWriter) throws {
        if row.wantsAttributes { try row.put(property, attributeValue) { try JSONValue(attributeValue: $0).attributeValue } }
    }
}

extension ValueMismatch {
    init(of type: Any.Type) { self.init(description: "\(type) cannot hold a value of this type") }
}
