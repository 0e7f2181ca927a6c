package import CambiumJSON
internal import FoundationEssentials

extension Value {
    /// Parses the text of a value: "42" for a whole number, RFC 3339 for a date, base64 for data, JSON text for JSON.
    package init(text: String, type: AttributeType) throws(ConversionError) {
        var text = text
        var scratch: [UInt8] = []
        self = try text.withUTF8 { utf8 -> Result<Value, ConversionError> in
            let bytes = UnsafeRawBufferPointer(utf8)
            return Result { () throws(ConversionError) in
                Value(try type.scalarForm(text: bytes, scratch: &scratch), bytes, scratch, type)
            }
        }.get()
    }

    /// Parses the text that a person writes for a value, as `init(text:type:)` does. For a date, the text may also be a day such as
    /// `2026-01-31`, which means the beginning of the day in UTC.
    package init(written text: String, type: AttributeType) throws(ConversionError) {
        // If the text is not a date even with a time, the error must quote the text as the person wrote it.
        if type == .date, text.utf8.count == 10, let start = try? Value(text: text + "T00:00:00Z", type: type) {
            self = start
        } else {
            self = try Value(text: text, type: type)
        }
    }

    /// Converts a JSON value to a value of a type.
    package init(json: JSONValue, type: AttributeType) throws(ConversionError) {
        let parser = JSONParser()
        let bytes = Array(json.text.utf8)
        self = try bytes.withUnsafeBytes { bytes -> Result<Value, ConversionError> in
            guard let tokens = try? parser.parse(bytes) else {  // `JSONValue` writes valid JSON, so only its depth can be refused.
                return .failure(.malformed(type, json.text))
            }
            return Result { () throws(ConversionError) in try Value(tokens, 0, type: type) }
        }.get()
    }

    /// Parses a JSON text, and converts it to a value of a type.
    package init(jsonText text: String, type: AttributeType) throws(ConversionError) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: text.utf8)
        } catch {
            throw ConversionError.notJSON(text, error)
        }
        try self.init(json: json, type: type)
    }

    /// Converts the JSON value at a token to a value of a type.
    package init(_ tokens: JSONTokens, _ token: Int, type: AttributeType) throws(ConversionError) {
        var scratch: [UInt8] = []
        let form = try type.scalarForm(tokens, token, scratch: &scratch)
        self.init(form, tokens.bytes(token), scratch, type)
    }

    /// Creates the value of a scalar that was just read.
    package init(_ form: ScalarForm, _ text: UnsafeRawBufferPointer, _ scratch: [UInt8], _ type: AttributeType) {
        switch form {
        case .null: self = .null
        case .fixed(let low, let high): self = Value(stored: .fixed(low, high), type: type) ?? .null
        case .text: self = Value(stored: .bytes([UInt8](text)), type: type) ?? .null
        case .scratch: self = Value(stored: .bytes(scratch), type: type) ?? .null
        }
    }

    /// Writes the value as JSON that reads back to the same value.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .int(let value): writer.number(value)
        case .float(let value): writer.raw(Self.number(value.description))
        case .double(let value): writer.raw(Self.number(value.description))
        case .decimal(let value): writer.raw(value.description)
        case .string(let value), .uri(let value): writer.string(value)
        case .data(let value): writer.string(Base64.text(value))
        case .date(let value): writer.string(DateText.text(value.timeIntervalSinceReferenceDate))
        case .uuid(let value): writer.string(value.uuidString)
        case .json(let value): writer.json(value)
        }
    }

    /// Removes the ".0" that Swift writes after whole numbers, because JSON does not need it. -0.0 keeps its ".0", because "-0" would lose
    /// the sign.
    private static func number(_ text: String) -> String {
        text.hasSuffix(".0") && text != "-0.0" ? String(text.dropLast(2)) : text
    }

    /// The value as text for a person: strings and URIs unchanged, and all other values as in JSON, but without quotation marks.
    public var text: String {
        if case .string(let text) = self { return text }
        if case .uri(let text) = self { return text }
        var writer = JSONWriter()
        write(to: &writer)
        let json = writer.text
        return json.hasPrefix("\"") && json.hasSuffix("\"") ? String(json.dropFirst().dropLast()) : json
    }
}

extension JSONWriter {
    /// Writes a member with the JSON of a value.
    package mutating func member(_ name: String, _ value: Value) {
        key(name)
        value.write(to: &self)
    }
}

extension Value: CustomStringConvertible {
    /// The same as `text`, so that `print` shows `Paris` and not `string("Paris")`.
    public var description: String { text }
}
