public import FoundationEssentials

/// An attribute type of Swift or Foundation.
protocol ConvertedValue: AttributeValue {
    /// The type of the attribute in a schema.
    static var storedType: AttributeType { get }

    /// The value to store.
    var stored: Value { get }

    /// Converts a stored value back. Returns `nil` if the stored value has another type.
    static func restored(_ value: Value) throws -> Self?
}

extension ConvertedValue {
    public static var attributeType: AttributeType { storedType }

    public var attributeValue: Value { stored }

    public init(attributeValue: Value) throws {
        guard let value = try Self.restored(attributeValue) else { throw ValueMismatch(of: Self.self) }
        self = value
    }
}

extension Float: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .float }
    var stored: Value { .float(self) }
    static func restored(_ value: Value) -> Float? { if case .float(let number) = value { number } else { nil } }
}

extension Date: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .date }
    var stored: Value { .date(self) }
    static func restored(_ value: Value) -> Date? { if case .date(let date) = value { date } else { nil } }
}

extension UUID: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .uuid }
    var stored: Value { .uuid(self) }
    static func restored(_ value: Value) -> UUID? { if case .uuid(let uuid) = value { uuid } else { nil } }
}

extension DecimalNumber: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .decimal }
    var stored: Value { .decimal(self) }
    static func restored(_ value: Value) -> DecimalNumber? { if case .decimal(let number) = value { number } else { nil } }
}

/// Foundation's `Decimal` is stored as a `DecimalNumber` of the same range. A `Decimal` with 39 digits is rounded to 38 digits.
extension Decimal: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .decimal }
    /// The decimal as a value. NaN becomes a text, which the attribute then refuses with an error.
    var stored: Value { DecimalNumber(self).map { .decimal($0) } ?? .string("\(self)") }
    static func restored(_ value: Value) -> Decimal? { DecimalNumber.restored(value).map { Decimal($0) } }
}

extension Data: AttributeValue, ConvertedValue {
    static var storedType: AttributeType { .data }
    var stored: Value { .data(Array(self)) }
    static func restored(_ value: Value) -> Data? { if case .data(let bytes) = value { Data(bytes) } else { nil } }
}

// MARK: Values with several stored texts

/// A type for which several stored texts mean the same value. A save keeps the stored text if it already means the value of the record.
protocol SpelledValue: ConvertedValue {}

extension SpelledValue {
    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws {
        if row.wantsAttributes { try row.put(property, stored) { try Self(attributeValue: $0).stored } }
    }
}

/// A save keeps a stored URI that differs from the URL of the record only in characters that `URL` has escaped.
extension URL: AttributeValue, SpelledValue {
    static var storedType: AttributeType { .uri }
    var stored: Value { .uri(absoluteString) }
    static func restored(_ value: Value) -> URL? { if case .uri(let text) = value { URL(string: text) } else { nil } }
}

/// A save keeps a stored text whose compact form equals the text of the value.
extension JSONValue: AttributeValue, SpelledValue {
    static var storedType: AttributeType { .json }
    /// The compact text, or `.null` for null in JSON, because no attribute may contain the text `null`.
    var stored: Value { self == .null ? .null : .json(text) }
    static func restored(_ value: Value) throws -> JSONValue? {
        if case .json(let text) = value { try JSONValue(parsing: text.utf8) } else { nil }
    }
}
