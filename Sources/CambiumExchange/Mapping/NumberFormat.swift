/// The format of numbers in texts.
///
/// ```swift
/// let price = PropertyMapping(.path("Preis"), numbers: NumberFormat(decimal: ",", grouping: "."))
/// options.mapping = ImportMapping(entity: "Product", attributes: ["price": price])
/// ```
///
/// `NumberFormat(decimal: ",", grouping: ".")` reads `"-1.234,50"` as -1234.5.
public struct NumberFormat: Sendable, Hashable {
    /// The decimal mark: the text between the whole part and the fraction.
    package var decimal: String
    /// The text that may separate groups of digits of the whole part; `nil` if digits are not separated.
    package var grouping: String?

    @usableFromInline package static let standardDecimal = "."
    /// The minimum number of digits after a grouping mark. The groups of Indian numbers, such as 12,34,567, have two digits.
    private static let groupDigitCountMin = 2
    /// The minimum number of digits after the last grouping mark. A mark before fewer digits is probably a decimal mark of another format.
    private static let lastGroupDigitCountMin = 3

    /// Creates a format. The import refuses marks that are equal, and a mark that begins with a digit.
    public init(decimal: String = Self.standardDecimal, grouping: String? = nil) {
        self.decimal = decimal
        self.grouping = grouping
    }

    /// A fault in the format: the name of a mark, and a message. `nil` if both marks can be used.
    var flaw: (mark: String, message: String)? {
        for (text, mark) in [(decimal, "decimal"), (grouping ?? " ", "grouping")] {
            let isMark = text.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
            if !isMark { return (mark, "expected a mark that does not begin with a digit, such as ','") }
        }
        return decimal == grouping ? ("grouping", "'decimal' and 'grouping' must differ") : nil
    }

    /// The names and texts of the marks, for messages.
    var marks: String { "decimal '\(decimal)'" + (grouping.map { ", grouping '\($0)'" } ?? "") }

    /// Returns the number in the form of JSON, but possibly with leading zeros. Returns `nil` if the text is not a number in this format.
    func plain(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var rest = text[...]
        var plain: [UInt8] = []
        if rest.first == UInt8(ascii: "-") { plain.append(UInt8(ascii: "-")) }
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        let decimal = Array(decimal.utf8)
        let grouping = Array((grouping ?? "").utf8)
        var hasPoint = false
        // The number of digits after the last grouping mark of the whole part; `nil` if there is no mark.
        var groupDigitCount: Int?
        while let byte = rest.first {
            let isAfterDigit = plain.last.map(Self.isDigit) ?? false
            if Self.isDigit(byte) {
                plain.append(byte)
                rest = rest.dropFirst()
                if !hasPoint, let count = groupDigitCount { groupDigitCount = count + 1 }
            } else if isAfterDigit, !hasPoint, let digits = Self.digits(in: rest, after: decimal) {
                plain.append(UInt8(ascii: "."))
                hasPoint = true
                rest = digits
            } else if isAfterDigit, !hasPoint, let digits = Self.digits(in: rest, after: grouping) {
                if let count = groupDigitCount, count < Self.groupDigitCountMin { return nil }
                groupDigitCount = 0
                rest = digits
            } else {
                return nil
            }
        }
        if let count = groupDigitCount, count < Self.lastGroupDigitCountMin { return nil }
        return plain.last.map(Self.isDigit) == true ? plain : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    /// Returns the rest of a text after a mark. Returns `nil` if the text does not begin with the mark, or if no digit follows the mark.
    private static func digits(in rest: Slice<UnsafeRawBufferPointer>, after mark: [UInt8]) -> Slice<UnsafeRawBufferPointer>? {
        guard !mark.isEmpty, rest.starts(with: mark), let next = rest.dropFirst(mark.count).first, isDigit(next) else { return nil }
        return rest.dropFirst(mark.count)
    }

    // MARK: Writing

    /// Writes a number, given in the JSON form, in this format.
    func text(_ number: String) -> String {
        var (digits, point) = Self.digits(number)
        let sign = number.hasPrefix("-") ? "-" : ""
        if point <= 0 {
            digits = String(repeating: "0", count: 1 - point) + digits
            point = 1
        } else if point > digits.utf8.count {
            digits += String(repeating: "0", count: point - digits.utf8.count)
        }
        let fraction = String(digits.dropFirst(point))
        let whole = grouped(String(digits.prefix(point)))
        return fraction.isEmpty ? sign + whole : sign + whole + decimal + fraction
    }

    /// Returns the digits of a number in the JSON form. `point` is the count of digits before the decimal point. If `point` is negative,
    /// its magnitude is the count of zeros between the decimal point and the first digit.
    private static func digits(_ number: String) -> (digits: String, point: Int) {
        let parts = number.drop { $0 == "-" }.split { $0 == "e" || $0 == "E" }
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let mantissa = (parts.first ?? "0").split(separator: ".")
        return (mantissa.joined(), (mantissa.first ?? "").utf8.count + exponent)
    }

    private func grouped(_ whole: String) -> String {
        guard let grouping else { return whole }
        let groups = stride(from: whole.utf8.count, to: 0, by: -3).map { end in
            whole.prefix(end).suffix(min(3, end))
        }
        return groups.reversed().joined(separator: grouping)
    }
}
