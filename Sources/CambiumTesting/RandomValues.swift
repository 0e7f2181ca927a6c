package import CambiumModel
import FoundationEssentials

/// Random values of every type: new values, values of a small set that repeat, and values at the limits of the type.
package struct RandomValues: Sendable {
    private var freshCount: Int64 = 0

    /// Returns a value that was not returned yet, and that is never null. A type with few values, such as bool, repeats its values.
    mutating func fresh(_ type: AttributeType) -> Value {
        freshCount += 1
        return Self.value(freshCount, type)
    }

    /// Returns null, a value at a limit of the type, or one of five fixed values, so that equal values occur often.
    func common(_ attribute: Attribute, _ random: inout SplitMix64) -> Value {
        if random.isTrue(attribute.isOptional ? 3 : 1, outOf: 12) { return .null }
        if random.isTrue(1, outOf: 4) { return edge(attribute.type, &random) }
        return Self.value(-Int64.random(in: 0..<5, using: &random), attribute.type)
    }

    /// Returns a value that an attribute of the type cannot hold.
    func wrong(_ type: AttributeType) -> Value { type == .int16 ? .int(40_000) : type == .bool ? .string("no") : .bool(true) }

    /// Returns a value that the number determines.
    package static func value(_ number: Int64, _ type: AttributeType) -> Value {
        switch type {
        case .bool: .bool(number % 2 == 0)
        case .int16: .int(number % 32_768)
        case .int32, .int64: .int(number)
        case .float: .float(Float(number) / 2)
        case .double: .double(Double(number) / 4)
        case .decimal: .decimal(DecimalNumber(number))
        case .string: .string("text \(number)")
        case .data: .data(Array("\(number)".utf8))
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) * 60.5))
        case .uuid: .uuid(uuid(UInt64(bitPattern: number)))
        case .uri: .uri("http://example.org/\(number)")
        case .json: .json("[\(number)]")
        }
    }

    private static func uuid(_ number: UInt64) -> UUID {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], 8, 9, 10, 11, 12, 13, 14, 15
            ))
    }

    private func edge(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        let byteCount = random.isTrue(1, outOf: 20) ? 70_000 : random.pick([0, 1, 12, 254, 255, 256, 1000]) ?? 0
        switch type {
        case .bool: return .bool(false)
        case .int16: return .int(random.pick([-32_768, 32_767, 0]) ?? 0)
        case .int32: return .int(random.pick([-2_147_483_648, 2_147_483_647]) ?? 0)
        case .int64: return .int(random.pick([Int64.min, Int64.max]) ?? 0)
        case .float: return .float(random.pick([-0.0, 0, Float.greatestFiniteMagnitude]) ?? 0)
        case .double: return .double(random.pick([-0.0, 0, Double.leastNonzeroMagnitude]) ?? 0)
        case .decimal: return .decimal(DecimalNumber("-0.12345678901234567890123456789012345678") ?? .zero)
        case .string: return .string(String(repeating: "s", count: byteCount))
        case .data: return .data([UInt8](repeating: 7, count: byteCount))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: -63_113_904_000))
        case .uuid: return .uuid(Self.uuid(.max))
        case .uri: return .uri(String(repeating: "u", count: max(1, byteCount)))
        case .json: return .json("\"" + String(repeating: "j", count: byteCount) + "\"")
        }
    }
}
