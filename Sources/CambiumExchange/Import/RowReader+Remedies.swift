internal import CambiumJSON
import CambiumModel

/// The mappings that error messages about values of the wrong type suggest.
extension RowReader {
    /// Returns the end of the message for a date, or for a text that spells a number: a mapping that reads such values. Returns an empty
    /// text for any other error, and if no mapping can read the value.
    mutating func remedy(
        _ error: ConversionError, _ entity: RowEntity, _ index: Int, _ token: Int, _ tokens: JSONTokens
    ) -> String {
        var (rule, values) = ("", "other forms")
        switch error {
        case .malformed(.date, _), .wrongKind(.date, _):
            guard let format = Self.dateFormat(token, tokens) else { return "" }
            rule = "\"dates\":[\"\(format.text)\"]"
            let exchanged = String(format.text.map { $0 == "M" ? "d" : $0 == "d" ? "M" : $0 })
            let other = Self.writtenReaders.first { $0.format.text == exchanged && $0.format != format }
            if let other, other.reader.seconds(tokens.bytes(token), isNumber: false) != nil {
                values += ", and \"\(exchanged)\" those with the day and the month exchanged"
            }
            // A pattern reads only texts, and `join` makes a text of a number.
            if case .pattern = format, tokens.kind(token) == .number { rule = "\"join\":[\"\(entity.attributes[index].name)\"]," + rule }
        case .wrongKind(let type, _) where type.isNumber && tokens.kind(token) == .string:
            guard let format = numberFormat(type, tokens.bytes(token)) else { return "" }
            let decimal = format.decimal == NumberFormat.standardDecimal ? nil : "\"decimal\":\"\(format.decimal)\""
            let marks = [decimal, format.grouping.map { "\"grouping\":\"\($0)\"" }].compactMap(\.self).joined(separator: ",")
            (rule, values) = ("\"numbers\":{\(marks)}", "numbers in texts")
        default: return ""
        }
        let rules = "{\"attributes\":{\"\(entity.attributes[index].name)\":{\(rule)}}}"
        let mapping = entity.number == target ? rules : "{\"nested\":{\"\(entity.entity.name)\":\(rules)}}"
        return ". A mapping such as \(mapping) reads \(values)"
    }

    /// Number formats with marks other than those of JSON. A message can suggest the format that reads the text.
    private static let numberFormats = [
        NumberFormat(decimal: ","), NumberFormat(grouping: ","), NumberFormat(decimal: ",", grouping: "."),
    ]

    /// Returns a format that reads a text as a number of a type. Returns `nil` if the text is not such a number, or if it has an exponent,
    /// such as "1e3". Also returns `nil` if the text is a different number in two formats, as "1,234" is.
    private mutating func numberFormat(_ type: AttributeType, _ text: UnsafeRawBufferPointer) -> NumberFormat? {
        func number(_ format: NumberFormat) -> [UInt8]? {
            guard let plain = format.plain(text), (try? type.scalarForm(copying: plain, scratch: &scratch)) != nil else { return nil }
            return plain
        }
        if number(NumberFormat()) != nil { return NumberFormat() }
        var found: (format: NumberFormat, plain: [UInt8])?
        for format in Self.numberFormats {
            guard let plain = number(format) else { continue }
            if let found, found.plain != plain { return nil }
            found = found ?? (format, plain)
        }
        return found?.format
    }

    /// Common date formats. A message can suggest the first format that reads the value.
    private static let dateReaders = readers([
        .iso8601, .secondsSince1970, .millisecondsSince1970, .pattern("yyyy-MM-dd HH:mm"), .pattern("yyyy-MM-dd HH:mm:ss"),
        .pattern("yyyy-dd-MM"), .pattern("dd MMM yyyy"),
    ])

    /// The patterns that consist only of digits. They take precedence, because such digits are rarely a number of seconds or milliseconds:
    /// as seconds, 20260131 would be a date in August 1970.
    private static let digitReaders = readers([.pattern("yyyyMMdd"), .pattern("yyyyMMddHHmmss"), .pattern("yyyy")])

    /// The patterns of days written with slashes, dots or hyphens. Slashes leave open whether the month or the day comes first.
    private static let writtenReaders = readers([
        .pattern("M/d/yyyy"), .pattern("d/M/yyyy"), .pattern("d.M.yyyy"), .pattern("d-M-yyyy"), .pattern("M/d/yy"), .pattern("d/M/yy"),
        .pattern("d.M.yy"), .pattern("yyyy/M/d"),
    ])

    private static func readers(_ formats: [DateFormat]) -> [(format: DateFormat, reader: DateReader)] {
        formats.compactMap { format in
            // The formats and the zone are valid, so there is no error.
            guard let reader = try? DateReader([format], zone: "UTC", pivot: PropertyMapping.standardPivot) else { return nil }
            return (format, reader)
        }
    }

    /// Returns a format that reads a value as a date. If no common format reads a text, returns a pattern, because another pattern may read
    /// the text. Returns `nil` if no format can read the value.
    private static func dateFormat(_ token: Int, _ tokens: JSONTokens) -> DateFormat? {
        let isNumber = tokens.kind(token) == .number
        guard isNumber || tokens.kind(token) == .string else { return nil }
        let bytes = tokens.bytes(token)
        // A pattern also reads a text with fewer digits, which may be a number of seconds or milliseconds. So the lengths must be equal.
        let digits = digitReaders.first { $0.format.text.utf8.count == bytes.count && $0.reader.seconds(bytes, isNumber: false) != nil }
        if let digits { return digits.format }
        let format = (dateReaders + writtenReaders).first { $0.reader.seconds(bytes, isNumber: isNumber) != nil }?.format
        if format != nil || isNumber || hasMissingMoment(bytes) { return format }
        // A text without a digit, such as an empty one, does not name a year.
        return bytes.contains { (0x30...0x39).contains($0) } ? .pattern("dd MMM yyyy") : nil
    }

    /// Returns whether a text begins with a day, and perhaps a time, in the standard form, but no such day or time exists, as in
    /// "2026-01-01T25:00". Returns `false` if the text is valid with the month and the day exchanged, because a mapping can read such a
    /// text.
    private static func hasMissingMoment(_ text: UnsafeRawBufferPointer) -> Bool {
        let bytes = Array(text.prefix(19))
        let form = bytes.map { (0x30...0x39).contains($0) ? UInt8(ascii: "0") : $0 }
        guard form.starts(with: "0000-00-00".utf8) else { return false }
        var time = Array("00:00:00".utf8)[...]
        if form.dropFirst(11).starts(with: "00:00".utf8) {
            time = bytes[11..<16] + (form.dropFirst(16).starts(with: ":00".utf8) ? bytes[16...] : time.suffix(3))
        }
        let exchanged = bytes[..<5] + bytes[8..<10] + [UInt8(ascii: "-")] + bytes[5..<7]
        return [bytes[..<10], exchanged].allSatisfy { day in
            // The only possible error is that there is no such day or time.
            (try? Value(text: String(decoding: day + [UInt8(ascii: "T")] + time, as: UTF8.self) + "Z", type: .date)) == nil
        }
    }
}
