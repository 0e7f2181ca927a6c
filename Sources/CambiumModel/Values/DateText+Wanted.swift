extension DateText {
    /// Returns a description of a valid date, for the message about a text that is not a valid date. If the calendar lacks the date, as
    /// with `2026-02-30`, the description states the range of the year, month or day that is wrong.
    package static func wanted(insteadOf text: String) -> String {
        wrongPart(text).map { "a date with \($0)" } ?? AttributeType.date.wanted
    }

    /// Returns the range of the part of a date that is wrong. Returns `nil` if another part of the text is malformed, too.
    private static func wrongPart(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        let dayByteCount = "2026-01-31".utf8.count
        guard bytes.count >= dayByteCount, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        let time = bytes.count == dayByteCount ? "T00:00:00Z" : String(decoding: bytes[dayByteCount...], as: UTF8.self)
        guard (try? Value(text: "2026-01-31" + time, type: .date)) != nil else { return nil }
        guard let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]) else { return nil }
        if year < 1 { return "a year from 0001 to 9999" }
        guard (1...12).contains(month) else { return "a month from 01 to 12" }
        let dayMax = daysIn(month, year)
        return (1...dayMax).contains(day) ? nil : "a day from 01 to \(dayMax)"
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        // `Int` would also accept a sign.
        digits.allSatisfy { (0x30...0x39).contains($0) } ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }
}
