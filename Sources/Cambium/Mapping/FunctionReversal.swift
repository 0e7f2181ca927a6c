internal import CambiumBytes
import CambiumJSON
import CambiumModel

/// Finds what functions were given, from what they made of it.
///
/// What they do not tell (`trim`, `upper`, `lower`, what is in no table) stays as it is; whether that is right is seen by applying them.
struct FunctionReversal {
    private enum Step {
        case same
        /// Numbers become texts, as `integer` is for texts.
        case text
        /// Texts that spell a number, true or false become that, as `text` is for those.
        case scalar
        case join(String)
        case split(String)
        case lookup([JSONValue: String])
    }

    private let steps: [Step]

    init(_ functions: [ValueFunction]) { steps = functions.reversed().map(Self.step) }

    private static func step(_ function: ValueFunction) -> Step {
        switch function {
        case .trim, .upper, .lower: return .same
        case .integer: return .text
        case .text: return .scalar
        case .split(let separator): return .join(separator)
        case .join(let separator): return .split(separator)
        case .lookup(let table, _):
            var texts: [JSONValue: String] = [:]
            let rows = table.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            // Of several texts the first reads back as well as the others.
            for row in rows where texts[canonical(row.value)] == nil { texts[canonical(row.value)] = row.key }
            return .lookup(texts)
        }
    }

    /// What the functions make `value` of, as far as they tell.
    func reversed(_ value: JSONValue) -> JSONValue { steps.reduce(value) { Self.reversed($0, $1) } }

    private static func reversed(_ value: JSONValue, _ step: Step) -> JSONValue {
        if value == .null { return .null }
        if case .lookup(let texts) = step, let text = texts[canonical(value)] { return .string(text) }
        if case .array(let elements) = value {
            guard case .join(let separator) = step else { return .array(elements.map { reversed($0, step) }) }
            // What has no text is told by what reads it.
            return (try? ValueFunction.joined(elements, separator)).map(JSONValue.string) ?? value
        }
        switch (step, value) {
        case (.text, .number(let text)): return .string(text)
        case (.scalar, .string(let text)): return scalar(text)
        case (.split(let separator), .string(let text)):
            let parts = ByteText.split(Array(text.utf8), Array(separator.utf8))
            return .array(parts.map { .string(String(decoding: $0, as: UTF8.self)) })
        default: return value
        }
    }

    private static func scalar(_ text: String) -> JSONValue {
        if text == "true" || text == "false" { return .bool(text == "true") }
        // What does not parse is a text.
        if let value = try? JSONValue(parsing: text.utf8), case .number(let number) = value, ByteText.equals(number, text) { return value }
        return .string(text)
    }

    /// The same for numbers that are equal, however they are written.
    static func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .number(let text): .number(DecimalNumber(text)?.description ?? text)
        case .array(let elements): .array(elements.map(canonical))
        default: value
        }
    }
}
