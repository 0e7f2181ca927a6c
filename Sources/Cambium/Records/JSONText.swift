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

    /// Returns the value as a JSON value of the store, or null if the value encodes as `null`.
    static func encode(_ value: some Encodable) throws -> Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .exactText("An attribute can contain only dates in the years 1 to 9999.")
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return text == "null" ? .null : .json(text)
    }
}
