internal import FoundationEssentials

/// The bytes that represent a value when it is stored, hashed or logged: either up to 16 bytes in two words, or any number of bytes.
///
/// A whole number is stored as its two's complement bits in the width of its type, extended with zeros. A date is stored as the bits of its
/// seconds since 2001. A UUID is stored as its 16 bytes in the order of RFC 9562, with the first byte in the lowest byte of `low`.
package enum StoredForm: Hashable, Sendable {
    case fixed(_ low: UInt64, _ high: UInt64)
    case bytes([UInt8])

    /// Creates the stored form of a value. Returns `nil` for null, and for a value of another type.
    package init?(_ value: Value, type: AttributeType) {
        switch (value, type) {
        case (.bool(let value), .bool): self = .fixed(value ? 1 : 0, 0)
        case (.int(let value), .int16):
            guard let value = Int16(exactly: value) else { return nil }
            self = .fixed(UInt64(UInt16(bitPattern: value)), 0)
        case (.int(let value), .int32):
            guard let value = Int32(exactly: value) else { return nil }
            self = .fixed(UInt64(UInt32(bitPattern: value)), 0)
        case (.int(let value), .int64): self = .fixed(UInt64(bitPattern: value), 0)
        case (.float(let value), .float): self = .fixed(UInt64(value.bitPattern), 0)
        case (.double(let value), .double): self = .fixed(value.bitPattern, 0)
        // Adding 0 turns -0.0 into 0.0. Dates have no negative zero, because the text of a date cannot distinguish -0.0 from 0.0.
        case (.date(let value), .date): self = .fixed((value.timeIntervalSinceReferenceDate + 0).bitPattern, 0)
        case (.uuid(let value), .uuid):
            let words = withUnsafeBytes(of: value.uuid) { bytes in
                // SAFETY: a UUID is 16 bytes.
                (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            self = .fixed(UInt64(littleEndian: words.0), UInt64(littleEndian: words.1))
        case (.decimal(let value), .decimal): self = .bytes(value.storedBytes)
        case (.data(let value), .data): self = .bytes(value)
        case (.string(let text), .string), (.uri(let text), .uri), (.json(let text), .json): self = .bytes(Array(text.utf8))
        default: return nil
        }
    }
}

extension StoredForm {
    /// Whether the bits represent a date in the years 1 to 9999. Only such a date can be written as text.
    package static func isDate(_ bits: UInt64) -> Bool { DateText.range.contains(Double(bitPattern: bits)) }
}

extension AttributeType {
    /// The stored bits of -0.0, which equals 0.0 as a number. The bits are zero for types that are not stored as floating-point numbers.
    package var negativeZero: UInt64 {
        switch self {
        case .float: 1 << 31
        case .double, .date: 1 << 63
        default: 0
        }
    }
}

extension Value {
    /// Creates a value from its stored form. Returns `nil` if the form is not a value of the type. In a JSON text, only the encoding is
    /// checked.
    package init?(stored: StoredForm, type: AttributeType) {
        if case .fixed(let low, let high) = stored, StoredValueCheck(type).flaw(fixed: low, high) != nil { return nil }
        switch (stored, type) {
        case (.fixed(let low, _), .bool): self = .bool(low == 1)
        case (.fixed(let low, _), .int16): self = .int(Int64(Int16(truncatingIfNeeded: low)))
        case (.fixed(let low, _), .int32): self = .int(Int64(Int32(truncatingIfNeeded: low)))
        case (.fixed(let low, _), .int64): self = .int(Int64(bitPattern: low))
        case (.fixed(let low, _), .float): self = .float(Float(bitPattern: UInt32(truncatingIfNeeded: low)))
        case (.fixed(let low, _), .double): self = .double(Double(bitPattern: low))
        case (.fixed(let low, _), .date): self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: low)))
        case (.fixed(let low, let high), .uuid): self = .uuid(UUID(low: low, high: high))
        case (.bytes(let bytes), .decimal):
            guard let number = DecimalNumber(storedBytes: bytes) else { return nil }
            self = .decimal(number)
        case (.bytes(let bytes), .data): self = .data(bytes)
        case (.bytes(let bytes), .string), (.bytes(let bytes), .uri), (.bytes(let bytes), .json):
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self = type == .string ? .string(text) : type == .uri ? .uri(text) : .json(text)
        default: return nil
        }
    }
}

extension UUID {
    /// Creates a UUID from two words, with the first byte in the lowest byte of `low`.
    init(low: UInt64, high: UInt64) {
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (8 * index)) }
        self.init(
            uuid: (
                byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7),
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7)
            ))
    }
}
