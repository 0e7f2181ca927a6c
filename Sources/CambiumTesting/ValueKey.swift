package import CambiumModel
import FoundationEssentials

/// A form of a value that can be compared exactly. Two values of one type have equal keys if and only if their bytes are equal. So
/// equivalent strings in different Unicode forms have different keys.
package enum ValueKey: Hashable, Sendable {
    case null
    case bits(UInt64)
    case bytes([UInt8])
    case decimal(DecimalNumber)

    package init(_ value: Value) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bits(value ? 1 : 0)
            case .int(let value): .bits(UInt64(bitPattern: value))
            case .float(let value): .bits(UInt64(value.bitPattern))
            case .double(let value): .bits(value.bitPattern)
            case .date(let value): .bits(value.timeIntervalSinceReferenceDate.bitPattern)
            case .decimal(let value): .decimal(value)
            case .string(let text), .uri(let text), .json(let text): .bytes(Array(text.utf8))
            case .data(let bytes): .bytes(bytes)
            case .uuid(let value): .bytes(withUnsafeBytes(of: value.uuid) { Array($0) })
            }
    }

    /// Creates the key of a value in a unique set, in which 0.0 and -0.0 are the same value.
    package init(unique value: Value) {
        switch value {
        case .float(let number) where number == 0: self.init(.float(0))
        case .double(let number) where number == 0: self.init(.double(0))
        default: self.init(value)
        }
    }

    /// Whether an attribute of a type can hold a value.
    package static func fits(_ value: Value, _ type: AttributeType) -> Bool {
        switch (value, type) {
        case (.null, _), (.bool, .bool), (.int, .int64), (.float, .float), (.double, .double), (.decimal, .decimal),
            (.string, .string), (.data, .data), (.date, .date), (.uuid, .uuid), (.uri, .uri), (.json, .json):
            true
        case (.int(let value), .int16): Int16(exactly: value) != nil
        case (.int(let value), .int32): Int32(exactly: value) != nil
        default: false
        }
    }
}

extension ValueKey: CustomStringConvertible {
    private static let digits = (0...255).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }

    /// A text that differs for different keys, with the bytes in hexadecimal. Without this property, Swift would create the text by
    /// reflection on the key and on each byte, which is slow.
    package var description: String {
        switch self {
        case .null: "null"
        case .bits(let bits): "bits \(bits)"
        case .bytes(let bytes): bytes.reduce(into: "bytes ") { $0 += Self.digits[Int($1)] }
        case .decimal(let number): "decimal \(number)"
        }
    }
}
