internal import CambiumJSON

extension QueryLiteral {
    /// The text of the literal as a message shows it: shortened if it is long, because a parameter's value may have millions of characters.
    package var excerpt: String { Excerpt.plain(description) }

    /// The digits of a number; `nil` if the literal is not a number. `Double` also reads texts such as `0x10`, which are not numbers here.
    package var numberText: String? {
        switch self {
        case .number(let text): text
        case .text(let text): NumberText.isNumber(text) ? text : nil
        case .value(.int(let value)): String(value)
        case .value(.float(let value)): value.isFinite ? value.description : nil
        case .value(.double(let value)): value.isFinite ? value.description : nil
        case .value(.decimal(let value)): value.description
        default: nil
        }
    }

    /// The text of a string; `nil` if the literal is not a text.
    package var stringText: String? {
        switch self {
        case .string(let text), .text(let text), .value(.string(let text)), .value(.uri(let text)), .value(.json(let text)): text
        default: nil
        }
    }

    package var boolValue: Bool? {
        switch self {
        case .bool(let value), .value(.bool(let value)): value
        case .text(let text): if case .bool(let value)? = QueryWord(text)?.literal { value } else { nil }
        default: nil
        }
    }

    /// Whether the literal means a value of a kind. For objects, `isObject` decides, because ids depend on the schema.
    package func isValue(of kind: ValueKind, isObject: (QueryLiteral) -> Bool) -> Bool {
        if self == .null || self == .value(.null) { return true }
        return switch kind {
        case .number: numberText != nil
        case .text: stringText != nil
        case .bool: boolValue != nil
        case .date: value(of: .date) != nil
        case .uuid: value(of: .uuid) != nil
        case .data: value(of: .data) != nil
        case .object: isObject(self)
        }
    }

    /// Returns the value of a date, a UUID or data. Returns `nil` if the literal has another type or is malformed.
    package func value(of type: AttributeType) -> Value? {
        if case .value(let value) = self, StoredForm(value, type: type) != nil { return value }
        // If the text is malformed, the caller reports the literal as a mistake.
        return stringText.flatMap { try? Value(written: $0, type: type) }
    }
}
