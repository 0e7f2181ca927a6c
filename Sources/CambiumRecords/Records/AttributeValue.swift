/// A type whose values an attribute can store.
///
/// An enum with raw values conforms without further code. If the enum is `CaseIterable`, the schema lists the raw values as the allowed
/// values:
///
/// ```swift
/// enum Kind: String, CaseIterable, AttributeValue { case retail, online }
/// ```
///
/// Any other type must convert its values to and from a `Value`:
///
/// ```swift
/// struct Cents: AttributeValue {
///     static let attributeType = AttributeType.int64
///     var count: Int64
///     var attributeValue: Value { .int(count) }
///     init(attributeValue: Value) throws { count = try Int64(attributeValue: attributeValue) }
/// }
/// ```
public protocol AttributeValue: _PropertyValue where ComparedValue == Self {
    /// The type of the attribute in a schema.
    static var attributeType: AttributeType { get }

    /// The only values that the attribute may have. The default, `nil`, allows all values of the type.
    static var allowedValues: [Value]? { get }

    /// Creates the value from a stored value, which is not null. If the initializer throws, the caller gets an error that names the object
    /// and gives the thrown error as the reason.
    init(attributeValue: Value) throws

    /// The value to store. This value may be null only if the attribute is optional.
    var attributeValue: Value { get }

    /// Returns the value that an object has in a column (the values of one attribute). Returns `nil` if the value is null, or if the type
    /// cannot hold the value.
    static func _value(of column: Column, at place: ObjectPlace) -> Self?
}

extension AttributeValue {
    public static var allowedValues: [Value]? { nil }

    public static func _value(of column: Column, at place: ObjectPlace) -> Self? {
        let value = column.value(at: place)
        return value.isNull ? nil : try? Self(attributeValue: value)
    }

    public static var _form: _PropertyForm { .attribute(attributeType, isOptional: false, allowed: allowedValues) }

    public init(_property property: Int, of row: inout RecordReader) throws {
        let value = try row.value(property)
        do { self = try Self(attributeValue: value) } catch { throw row.mismatch(property, value, error) }
    }

    @inlinable
    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws {
        if row.wantsAttributes { try row.put(property, attributeValue) }
    }
}

/// The reason why a stored value is not a value of a Swift type.
struct ValueMismatch: Error, CustomStringConvertible {
    let description: String
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    public static var attributeType: AttributeType { RawValue.attributeType }

    public init(attributeValue: Value) throws {
        guard let value = try Self(rawValue: RawValue(attributeValue: attributeValue)) else {
            throw ValueMismatch(description: "\(Self.self) has no case with this raw value")
        }
        self = value
    }

    public var attributeValue: Value { rawValue.attributeValue }
}

extension AttributeValue where Self: RawRepresentable & CaseIterable, RawValue: AttributeValue {
    public static var allowedValues: [Value]? { allCases.map(\.attributeValue) }
}

/// A Codable type whose values are stored in an attribute of type `json`.
///
/// ```swift
/// struct Address: Codable, JSONAttribute {
///     var street: String
///     var city: String
/// }
/// ```
///
/// The keys of the stored text are in ascending order, so equal values have equal texts. Values that contain sets are an exception. Dates
/// are texts in ISO 8601 with all of their digits. A date outside of the years 1 to 9999 cannot be saved.
public protocol JSONAttribute: _PropertyValue, Codable {}

extension JSONAttribute {
    public static var _form: _PropertyForm { .attribute(.json, isOptional: false, allowed: nil) }

    @inlinable
    public init(_property property: Int, of row: inout RecordReader) throws { self = try row.readJSON(property) }

    @inlinable
    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws { try row.writeJSON(property, self) }
}
