internal import CambiumJSON
import FoundationEssentials

/// Stores Codable values as the text of an attribute of type `json`.
enum JSONText {
    static func decode<V: Decodable>(_ type: V.Type, _ value: Value) throws -> V {
        let text: String
        switch value {
        case .null: text = "null"
        case .json(let json): text = json
        default: throw ValueMismatch(of: type)
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard case .date(let date) = try Value(text: text, type: .date) else { throw ValueMismatch(of: Date.self) }
            return date
        }
        return try decoder.decode(type, from: Data(text.utf8))
    }

    /// Returns the JSON text to store, or `.null` if the text is `null`, because no attribute may contain this text.
    static func encode(_ value: some Encodable) throws -> Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .exactText("An attribute can contain only dates in the years 1 to 9999.")
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return text == "null" ? .null : .json(text)
    }

    /// Decodes a stored text, and returns the text that the Swift type would store for the decoded value. If that value equals `value`,
    /// returns `text`, the text of `value`, because equal sets can have different texts.
    static func form<V: Codable>(of stored: Value, like value: V, _ text: Value) throws -> Value {
        let known = try decode(V.self, stored)
        let form = try encode(known)
        return form == text || (hasSameElements(form, text) && isEqual(known, value)) ? text : form
    }

    /// Whether two values are equal. Returns `false` if their type is not Equatable.
    private static func isEqual<V>(_ left: V, _ right: V) -> Bool { (left as? any Equatable)?.isEqual(to: right) ?? false }

    /// Whether two texts differ only in the order of the elements of arrays. Equal values can have such texts, because two equal sets of
    /// Swift have their elements in different orders. The same applies to dictionaries whose keys are neither texts nor numbers.
    private static func hasSameElements(_ left: Value, _ right: Value) -> Bool {
        guard case .json(let one) = left, case .json(let other) = right, one.utf8.count == other.utf8.count,
            let tree = try? JSONValue(parsing: one.utf8), let otherTree = try? JSONValue(parsing: other.utf8)
        else { return false }
        return tree.withSortedArrays == otherTree.withSortedArrays
    }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}

extension JSONValue {
    /// The value with the elements of each array in the order of their texts. The recursion is bounded, because the parser limits the
    /// depth.
    fileprivate var withSortedArrays: JSONValue {
        switch self {
        case .array(let elements):
            let sorted = elements.map(\.withSortedArrays).map { (text: $0.text, value: $0) }.sorted { $0.text < $1.text }
            return .array(sorted.map(\.value))
        case .object(let members): return .object(members.map { Member($0.key, $0.value.withSortedArrays) })
        case .null, .bool, .number, .string: return self
        }
    }
}
