internal import CambiumJSON
internal import CambiumModel

/// Reads dates in one of several formats, tried in order. Writes dates in the first format that reads back as the same date.
struct DateReader {
    private enum Form {
        case iso8601([DatePattern])
        /// A number of units of 10^`exponent` seconds, counted from a moment that is `secondsBefore2001` seconds before 2001.
        case count(exponent: Int, secondsBefore2001: Int64)
        case pattern(DatePattern)
    }

    /// A fault in the description of the formats.
    struct Mistake: Error {
        /// The position of the fault: its key in the mapping, and the index of the format.
        let place: String
        let message: String
    }

    private let forms: [Form]

    private static let secondsFrom1970To2001: Int64 = 978_307_200

    /// Creates a reader. Throws a `Mistake` if a pattern or the zone is invalid.
    init(_ formats: [DateFormat], zone: String, pivot: Int) throws(Mistake) {
        guard let offset = DatePattern.offset(zone) else {
            throw Mistake(place: "/zone", message: "'\(zone)' is not a time zone; write UTC, GMT or an offset such as +01:00")
        }
        var forms: [Form] = []
        for (index, format) in formats.enumerated() {
            do {
                forms.append(try Self.form(format, offset, pivot))
            } catch {
                throw Mistake(place: "/dates/\(index)", message: error.message)
            }
        }
        self.forms = forms
    }

    private static func form(_ format: DateFormat, _ offset: Int, _ pivot: Int) throws(DatePattern.Mistake) -> Form {
        switch format {
        case .iso8601:
            var patterns: [DatePattern] = []
            for pattern in ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.S"] {
                patterns.append(try DatePattern(pattern, offset: offset, pivot: pivot))
                if pattern.contains("T") { patterns.append(try DatePattern(pattern + "Z", offset: offset, pivot: pivot)) }
            }
            return .iso8601(patterns)
        case .secondsSince1970: return .count(exponent: 0, secondsBefore2001: secondsFrom1970To2001)
        case .millisecondsSince1970: return .count(exponent: -3, secondsBefore2001: secondsFrom1970To2001)
        case .secondsSince2001: return .count(exponent: 0, secondsBefore2001: 0)
        case .pattern(let text): return .pattern(try DatePattern(text, offset: offset, pivot: pivot))
        }
    }

    /// Returns the seconds since 2001; `nil` if the text is in none of the formats.
    ///
    /// - Parameter isNumber: whether the text is a JSON number, instead of the content of a JSON string.
    func seconds(_ text: UnsafeRawBufferPointer, isNumber: Bool) -> Double? {
        for form in forms {
            let seconds: Double? =
                switch form {
                case .iso8601(let patterns): isNumber ? nil : Self.iso8601(text, patterns)
                case .count(let exponent, let before): Self.count(text, exponent, before)
                case .pattern(let pattern): isNumber ? nil : pattern.seconds(text)
                }
            if let seconds, DateText.range.contains(seconds) { return seconds }
        }
        return nil
    }

    private static func iso8601(_ text: UnsafeRawBufferPointer, _ patterns: [DatePattern]) -> Double? {
        if let seconds = DateText.seconds(text) { return seconds }
        for pattern in patterns {
            if let seconds = pattern.seconds(text) { return seconds }
        }
        return nil
    }

    /// Returns the date in seconds since 2001. The number is rounded only once, in the last step.
    private static func count(_ text: UnsafeRawBufferPointer, _ exponent: Int, _ secondsBefore2001: Int64) -> Double? {
        guard let number = DecimalNumber(text) else { return nil }
        var power = number.exponent + exponent
        var coefficient = Int128(number.coefficient)
        // A date is a `Double`, and digits after the 18th decimal place do not change it.
        while power < -18 {
            coefficient /= 10
            power += 1
        }
        while power > 0 {
            guard coefficient < 1_000_000_000_000_000 else { return nil }
            coefficient *= 10
            power -= 1
        }
        guard coefficient < Int128(1) << 120 else { return nil }
        var scale: Int128 = 1
        for _ in power..<0 { scale *= 10 }
        let sum = (number.isNegative ? -coefficient : coefficient) - Int128(secondsBefore2001) * scale
        return Double("\(sum)e\(power)")
    }

    // MARK: Writing

    /// Writes a date, given in seconds since 2001, in the first format that reads back as the same date. Returns `nil` if there is no such
    /// format.
    func json(_ seconds: Double) -> JSONValue? {
        for form in forms {
            let (text, isNumber): (String?, Bool) =
                switch form {
                case .iso8601: (DateText.text(seconds), false)
                case .count(let exponent, let before): (Self.count(seconds, exponent, before), true)
                case .pattern(let pattern): (pattern.text(seconds), false)
                }
            guard let text else { continue }
            let read = Array(text.utf8).withUnsafeBytes { self.seconds($0, isNumber: isNumber) }
            if read == seconds { return isNumber ? .number(text) : .string(text) }
        }
        return nil
    }

    private static func count(_ seconds: Double, _ exponent: Int, _ secondsBefore2001: Int64) -> String? {
        let (whole, fraction) = DateText.split(seconds)
        // Reading ignores the digits of a fraction after the 18th, so a longer fraction could not be read back.
        guard fraction.utf8.count <= 18, let digits = Int128(fraction.isEmpty ? "0" : fraction) else { return nil }
        var scale: Int128 = 1
        for _ in fraction.utf8 { scale *= 10 }
        let sum = (Int128(whole) + Int128(secondsBefore2001)) * scale + digits
        let power = -fraction.utf8.count - exponent
        return DecimalNumber(negative: sum < 0, coefficient: sum.magnitude, exponent: power)?.description
    }
}
