public import FoundationEssentials

/// The value of an attribute.
///
/// ```swift
/// let values: KeyValuePairs<String, Value> = ["title": "Paris", "rating": 4.5, "due": .date(Date.now)]
/// let note = try store.write { try $0.insert("Note", values) }.result
/// if case .string(let title) = try store.graph[note, "title"] { print(title) }
/// ```
///
/// Two values are equal if their stored bytes are equal: strings are compared by their UTF-8 bytes, doubles by their bits.
public enum Value: Sendable {
    /// No value.
    case null
    /// True or false.
    case bool(Bool)
    /// A value of type `int16`, `int32` or `int64`.
    case int(Int64)
    /// A single-precision number. An attribute refuses NaN and infinities.
    case float(Float)
    /// A double-precision number. An attribute refuses NaN and infinities.
    case double(Double)
    /// A decimal number of up to 38 digits.
    case decimal(DecimalNumber)
    /// A text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A moment in the years 1 to 9999.
    case date(Date)
    /// A UUID.
    case uuid(UUID)
    /// A text that is not empty, and has neither spaces nor ASCII control characters.
    case uri(String)
    /// Compact JSON text whose numbers keep their original digits. The text `null` is not allowed, because `.null` represents a missing
    /// value.
    case json(String)

    @inlinable package var isNull: Bool { if case .null = self { true } else { false } }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension Value: Hashable {
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.decimal(let left), .decimal(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.uuid(let left), .uuid(let right)): left == right
        case (.string(let left), .string(let right)), (.uri(let left), .uri(let right)), (.json(let left), .json(let right)):
            left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.bitPattern)
        case .double(let value): hasher.combine(value.bitPattern)
        case .decimal(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value): hasher.combine(value)
        case .string(let text), .uri(let text), .json(let text):
            for byte in text.utf8 { hasher.combine(byte) }
            hasher.combine(UInt8(255))
        }
    }
}

/// The types that an attribute can have.
///
/// ```swift
/// AttributeDefinition("price", .decimal, min: 0)
/// AttributeDefinition("due", .date, .optional)
/// ```
public enum AttributeType: String, Hashable, Sendable, CaseIterable {
    case bool, int16, int32, int64, float, double, decimal, string, data, date, uuid, uri, json

    /// The number of bytes of a stored value, or `nil` for the types whose values differ in length.
    package var byteCount: Int? {
        switch self {
        case .bool: 1
        case .int16: 2
        case .int32, .float: 4
        case .int64, .double, .date: 8
        case .uuid: 16
        case .decimal, .string, .data, .uri, .json: nil
        }
    }
}
