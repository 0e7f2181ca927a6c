/// The form of a value in a message: cut after `characterCountMax` code points, with control characters as escapes.
package enum Excerpt {
    package static let characterCountMax = 60

    /// Returns the text without quotation marks. Complexity: O(`characterCountMax`).
    package static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: characterCountMax, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return ControlText.escaped(text) }
        return ControlText.escaped(String(scalars[..<end])) + "..."
    }

    /// Returns the text in quotation marks.
    package static func quoted(_ text: String) -> String { "\"" + plain(text) + "\"" }

    /// Returns a JSON value with its kind, such as `the string "Paris"`.
    package static func described(_ value: JSONValue) -> String {
        switch value {
        case .null, .bool: value.text
        case .number(let digits): "the number \(plain(digits))"
        case .string(let text): "the string \(quoted(text))"
        case .array: "the array \(plain(value.text))"
        case .object: "the object \(plain(value.text))"
        }
    }
}
