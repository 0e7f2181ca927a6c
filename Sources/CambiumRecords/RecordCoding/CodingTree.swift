internal import CambiumJSON
import FoundationEssentials

/// A JSON tree that can be read from any decoder and written to any encoder.
///
/// The initializer asks a decoder for null, Bool, whole numbers, other numbers, texts, objects and arrays, in this order. Texts come after
/// numbers, because a decoder without types would read any value as a text. Dates and data come last, because only some formats have types
/// for them.
struct CodingTree {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    /// The maximum nesting depth of values.
    static let depthMax = JSONParser.depthMax
}

/// The key of any member of an object, or the index of any element of an array.
struct CodingTreeKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("Index \(intValue)", intValue) }
}

extension CodingTree: Decodable {
    /// Reads the value of a decoder. The limit on the length of the coding path bounds the recursion.
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.depthMax else {
            throw Self.error(decoder, "The values nest more than \(Self.depthMax) levels deep. Nest them less deeply.")
        }
        // If the decoder refuses a type, the next type is tried, and the error of the refusal is ignored. If the decoder refuses all types,
        // the last branch throws an error that lists the supported types.
        if let scalar = (try? decoder.singleValueContainer()).flatMap(Self.scalar) {
            value = scalar
        } else if let container = try? decoder.container(keyedBy: CodingTreeKey.self) {
            value = .object(try Self.members(container))
        } else if let container = try? decoder.unkeyedContainer() {
            value = .array(try Self.elements(container))
        } else if let other = (try? decoder.singleValueContainer()).flatMap(Self.dateOrData) {
            value = other
        } else {
            throw Self.error(
                decoder,
                "The value is not null, a Bool, a finite number, a text, an object, an array, a date in the years 1 to 9999, or data.")
        }
    }

    private static func error(_ decoder: any Decoder, _ message: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: message))
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) -> JSONValue? {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .number(String(value)) }
        if let value = try? container.decode(Double.self), value.isFinite { return .number(number(value, container)) }
        if let value = try? container.decode(String.self) { return .string(value) }
        return nil
    }

    /// Returns the text of a number that is not an `Int64`, with up to 38 digits if the decoder supports decimals.
    private static func number(_ value: Double, _ container: any SingleValueDecodingContainer) -> String {
        if let whole = try? container.decode(UInt64.self) { return String(whole) }
        if let decimal = (try? container.decode(Decimal.self)).flatMap({ DecimalNumber($0) }) {
            let text = decimal.description
            // A decoder may round a number that is out of the range of decimals. In that case, `text` and `value` differ, and the text of
            // the `Double` is returned below.
            if Double(text) == value { return text }
        }
        return "\(value)"
    }

    /// Returns the members in ascending order of their keys, because most decoders do not keep the order of their input.
    private static func members(_ container: KeyedDecodingContainer<CodingTreeKey>) throws -> [JSONValue.Member] {
        try container.allKeys.sorted { $0.stringValue < $1.stringValue }.map { key in
            let isNull = try container.decodeNil(forKey: key)
            return .init(key.stringValue, isNull ? .null : try container.decode(CodingTree.self, forKey: key).value)
        }
    }

    private static func elements(_ container: any UnkeyedDecodingContainer) throws -> [JSONValue] {
        var container = container
        var elements: [JSONValue] = []
        while !container.isAtEnd {
            let isNull = try container.decodeNil()
            elements.append(isNull ? .null : try container.decode(CodingTree.self).value)
        }
        return elements
    }

    private static func dateOrData(_ container: any SingleValueDecodingContainer) -> JSONValue? {
        if let date = try? container.decode(Date.self) {
            return DateText.exactText(date.timeIntervalSinceReferenceDate).map(JSONValue.string)
        }
        if let data = try? container.decode(Data.self) { return .string(Value.data(Array(data)).text) }
        return nil
    }
}

extension CodingTree: Encodable {
    /// Writes the value to an encoder. The nesting limit of exports bounds the recursion.
    func encode(to encoder: any Encoder) throws {
        switch value {
        case .object(let members):
            var container = encoder.container(keyedBy: CodingTreeKey.self)
            for member in members {
                let key = CodingTreeKey(stringValue: member.key)
                if member.value == .null {
                    try container.encodeNil(forKey: key)
                } else {
                    try container.encode(CodingTree(member.value), forKey: key)
                }
            }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements {
                if element == .null { try container.encodeNil() } else { try container.encode(CodingTree(element)) }
            }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(to: &container)
        }
    }

    private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
        switch value {
        case .bool(let value): try container.encode(value)
        case .string(let text): try container.encode(text)
        case .number(let text): try encodeNumber(text, to: &container)
        case .null, .object, .array: try container.encodeNil()
        }
    }

    /// Encodes a number as the first of these types that has exactly this value: `Int64`, `UInt64`, `Double`, `Decimal`. A number out of
    /// the range of decimals becomes the nearest `Double`.
    private func encodeNumber(_ text: String, to container: inout any SingleValueEncodingContainer) throws {
        if let whole = Int64(text) { return try container.encode(whole) }
        if let whole = UInt64(text) { return try container.encode(whole) }
        let decimal = DecimalNumber(text)
        if let double = Double(text), double.isFinite, decimal == nil || decimal == DecimalNumber(double.description) {
            return try container.encode(double)
        }
        guard let decimal else {
            let message = "The number \(text.prefix(100)) is out of the range of every number type."
            throw EncodingError.invalidValue(text, .init(codingPath: container.codingPath, debugDescription: message))
        }
        try container.encode(Decimal(decimal))
    }
}
