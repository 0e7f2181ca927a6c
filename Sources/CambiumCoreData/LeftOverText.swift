internal import CambiumModel

/// The text of a default that Xcode left in a model after the type of the attribute changed: "NO" for an integer, or "0.0" for a Boolean.
/// Core Data reads such a text as the methods `boolValue`, `integerValue` and `doubleValue` of `NSString` do: it reads the number or
/// truth at the start of the text, and ignores the rest.
///
///     LeftOverText("1.5").value(of: .int32)      // "1"
struct LeftOverText {
    private let text: Substring.UTF8View

    init(_ text: String) { self.text = text.drop { $0.isWhitespace }.utf8 }

    /// Returns the text of a number that Core Data reads for a numeric type. The number may be too large for the type. Returns `nil` if
    /// the type is not numeric.
    func number(_ type: AttributeType) -> String? {
        switch type {
        case .int16, .int32, .int64: number { _ in nil }
        case .float, .double, .decimal: number(rest: Self.fraction)
        case .bool, .string, .date, .data, .uuid, .uri, .json: nil
        }
    }

    /// Whether Core Data reads the text as true. The text "1.5" is true, and "0.5" is false, because its first digit other than 0 is beyond
    /// the point.
    var isTrue: Bool {
        let digits = text.dropFirst(Self.signCount(text)).drop { $0 == UInt8(ascii: "0") }
        return digits.first.map { "YyTt123456789".utf8.contains($0) } ?? false
    }

    /// Returns the sign and the digits at the start of the text, with the part of the remaining text that `rest` returns. A text that does
    /// not start with a number is a truth.
    private func number(rest: (Substring.UTF8View) -> Substring.UTF8View?) -> String {
        let signCount = Self.signCount(text)
        let digits = Self.digits(text.dropFirst(signCount))
        let other = rest(text.dropFirst(signCount + digits.count))
        guard !digits.isEmpty || other.map({ $0.first == UInt8(ascii: ".") }) ?? false else { return isTrue ? "1" : "0" }
        let sign = text.first == UInt8(ascii: "-") ? "-" : ""
        return sign + (digits.isEmpty ? "0" : String(Substring(digits))) + (other.map { String(Substring($0)) } ?? "")
    }

    /// Returns the point with its digits and the exponent at the start of the text, or `nil` if the text starts with neither.
    private static func fraction(_ text: Substring.UTF8View) -> Substring.UTF8View? {
        var count = 0
        if text.first == UInt8(ascii: ".") {
            let digits = digits(text.dropFirst())
            if digits.isEmpty { return nil }
            count = 1 + digits.count
        }
        let exponent = text.dropFirst(count)
        if exponent.first.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            let signCount = signCount(exponent.dropFirst())
            let digits = digits(exponent.dropFirst(1 + signCount))
            if !digits.isEmpty { count += 1 + signCount + digits.count }
        }
        return count == 0 ? nil : text.prefix(count)
    }

    private static func digits(_ text: Substring.UTF8View) -> Substring.UTF8View {
        text.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    private static func signCount(_ text: Substring.UTF8View) -> Int {
        text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") ? 1 : 0
    }
}
