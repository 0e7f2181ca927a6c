internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

/// Reverses the functions of a mapping (`ValueFunction`): finds an input that the functions turn into a given output.
///
/// For `trim`, `upper` and `lower`, several inputs lead to the same output, so the output itself is returned as the input. A value that is
/// not in the table of a `lookup` is returned unchanged, too. Such an input can be wrong, so the caller must apply the functions to it, and
/// compare the result with the given output.
struct FunctionReversal {
    private enum Step {
        case same
        /// Reverses the function `integer`, which reads texts: numbers become texts.
        case text
        /// Reverses the function `text`: a text that spells a number, true or false becomes the number or the Boolean.
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
            // If several texts have the same value in the table, any of them can be written. The first one is used.
            for row in rows where texts[canonical(row.value)] == nil { texts[canonical(row.value)] = row.key }
            return .lookup(texts)
        }
    }

    /// Returns an input for which the functions return `value`. If the functions cannot be reversed, the input may be wrong. So the caller
    /// must apply the functions to the input, and compare the output with `value`.
    func reversed(_ value: JSONValue) -> JSONValue { steps.reduce(value) { Self.reversed($0, $1) } }

    private static func reversed(_ value: JSONValue, _ step: Step) -> JSONValue {
        if value == .null { return .null }
        if case .lookup(let texts) = step, let text = texts[canonical(value)] { return .string(text) }
        if case .array(let elements) = value {
            guard case .join(let separator) = step else { return .array(elements.map { reversed($0, step) }) }
            // If an element cannot be written as a text, the array stays unchanged. The export then reads the value back, and reports that
            // the array does not match.
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
        // A text that does not parse remains a text.
        if let value = try? JSONValue(parsing: text.utf8), case .number(let number) = value, number.hasSameBytes(as: text) { return value }
        return .string(text)
    }

    /// Returns a value in which each number has its standard spelling. So numbers that are equal, such as 1.0 and 1, compare as equal.
    static func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .number(let text): .number(DecimalNumber(text)?.description ?? text)
        case .array(let elements): .array(elements.map(canonical))
        default: value
        }
    }
}
