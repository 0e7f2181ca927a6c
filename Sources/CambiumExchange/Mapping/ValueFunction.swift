public import CambiumJSON
import CambiumModel

/// A function that is applied to a value before the value is read as an attribute or a relationship.
///
/// ```swift
/// let words: [String: JSONValue] = ["A": .string("active"), "C": .string("closed")]
/// let state = PropertyMapping(.path("status"), functions: [.trim, .upper, .lookup(words)])
/// options.mapping = ImportMapping(attributes: ["state": state])
/// ```
///
/// Null stays null. Each function except `join` applies to every element of an array.
public enum ValueFunction: Sendable, Hashable {
    /// Removes spaces at both ends: `" a b "` becomes `"a b"`.
    case trim
    /// Writes letters in upper case, without the rules of any language: `"straße"` becomes `"STRASSE"`.
    case upper
    /// Writes letters in lower case: `"A"` becomes `"a"`.
    case lower
    /// Reads a whole number: `"30096"` and 30096.0 become 30096.
    case integer
    /// Writes a scalar as a text: 30096 becomes `"30096"`, and true becomes `"true"`.
    case text
    /// Divides a text at a separator. With `","`, `"a,b"` becomes `["a","b"]`; an empty text becomes `[]`.
    case split(String)
    /// Joins the elements of an array with a separator, without nulls. With `"-"`, `["a",1,null]` becomes `"a-1"`.
    case join(String)
    /// Looks up a text in a table: `"A"` becomes `"active"` if the table has `"A": "active"`. A value that is not in the table becomes
    /// `otherwise`. If there is no `otherwise`, the value is a mismatch.
    case lookup([String: JSONValue], otherwise: JSONValue? = nil)

    var isSplit: Bool { if case .split = self { true } else { false } }
    var isJoin: Bool { if case .join = self { true } else { false } }

    /// The reason why a function has no result for a value.
    struct Mismatch: Error {
        let message: String
    }

    func apply(_ value: JSONValue) throws(Mismatch) -> JSONValue {
        if value == .null { return .null }
        if case .array(let elements) = value {
            if case .join(let separator) = self { return .string(try Self.joined(elements, separator)) }
            var results: [JSONValue] = []
            for element in elements { results.append(try apply(element)) }
            return .array(results)
        }
        switch self {
        case .trim: return .string(Self.trimmed(try text(value)))
        case .upper: return .string(try text(value).uppercased())
        case .lower: return .string(try text(value).lowercased())
        case .integer: return try integer(value)
        case .text: return .string(try Self.spelling(value))
        case .split(let separator): return .array(Self.parts(try text(value), separator).map(JSONValue.string))
        case .join: return .string(try Self.spelling(value))
        case .lookup(let table, let otherwise):
            let spelling = try Self.spelling(value)
            guard let found = table[CanonicalText.ordered(spelling)] ?? otherwise else {
                throw Mismatch(message: "the lookup table has no entry for \(Excerpt.quoted(spelling))")
            }
            return found
        }
    }

    /// Joins the texts of the values that are not null.
    static func joined(_ values: [JSONValue], _ separator: String) throws(Mismatch) -> String {
        var texts: [String] = []
        for value in values where value != .null { texts.append(try spelling(value)) }
        return texts.joined(separator: separator)
    }

    /// Returns the text of a scalar.
    private static func spelling(_ value: JSONValue) throws(Mismatch) -> String {
        switch value {
        case .string(let text), .number(let text): return text
        case .bool(let flag): return flag ? "true" : "false"
        default: throw Mismatch(message: "expected a string, a number or a Boolean, but found \(Excerpt.described(value))")
        }
    }

    private func text(_ value: JSONValue) throws(Mismatch) -> String {
        if case .string(let text) = value { return text }
        throw Mismatch(message: "expected a string, but found \(Excerpt.described(value))")
    }

    private func integer(_ value: JSONValue) throws(Mismatch) -> JSONValue {
        let spelling = try Self.spelling(value)
        guard let number = DecimalNumber(spelling), number.exponent >= 0, number.exponent <= DecimalNumber.digitCountMax else {
            throw Mismatch(message: "expected a whole number, but found \(Excerpt.quoted(spelling))")
        }
        return .number(number.description)
    }

    private static func trimmed(_ text: String) -> String {
        let rest = text.drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }

    private static func parts(_ text: String, _ separator: String) -> [String] {
        if text.isEmpty { return [] }
        let bytes = Array(text.utf8)
        return ByteText.split(bytes, Array(separator.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension ValueFunction {
    /// The functions without an argument, by their names in mappings.
    static let plain: [String: ValueFunction] = ["trim": .trim, "upper": .upper, "lower": .lower, "integer": .integer, "text": .text]

    static let names = #""trim" "upper" "lower" "integer" "text" {"split": text} {"join": text} {"lookup": object, "otherwise": value}"#

    /// The function in the form that it has in the JSON of a mapping.
    var json: JSONValue {
        switch self {
        case .trim: .string("trim")
        case .upper: .string("upper")
        case .lower: .string("lower")
        case .integer: .string("integer")
        case .text: .string("text")
        case .split(let separator): .object([.init("split", .string(separator))])
        case .join(let separator): .object([.init("join", .string(separator))])
        case .lookup(let table, let otherwise):
            .object(
                [.init("lookup", .object(table.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }))]
                    + (otherwise.map { [.init("otherwise", $0)] } ?? []))
        }
    }
}
