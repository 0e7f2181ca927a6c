public import FoundationEssentials

/// The value of an attribute.
///
/// Two values are equal when their stored bytes are equal: strings are compared by their UTF-8 bytes, doubles by their bits.
public enum Value: Hashable, Sendable {
    case null
    case bool(Bool)
    /// Of the types `int16`, `int32` and `int64`.
    case int(Int64)
    case float(Float)
    case double(Double)
    case decimal(DecimalNumber)
    case string(String)
    case data([UInt8])
    case date(Date)
    case uuid(UUID)
    case uri(String)
    /// Compact JSON text, numbers with the digits they were written with.
    case json(String)

    public var isNull: Bool { if case .null = self { true } else { false } }
}

/// The types an attribute can have.
public enum AttributeType: String, Hashable, Sendable, CaseIterable {
    case bool, int16, int32, int64, float, double, decimal, string, data, date, uuid, uri, json

    /// The bytes that a stored value takes; nil for the types whose values differ in length.
    public var byteCount: Int? {
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
