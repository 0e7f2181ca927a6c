internal import FoundationEssentials

/// Converts dates between RFC 3339 text and seconds since 2001-01-01T00:00:00Z.
package enum DateText {
    /// The times in the years 1 to 9999, in seconds since 2001-01-01T00:00:00Z.
    package static let range = -63_113_904_000.0..<252_423_993_600.0

    // MARK: Writing

    /// Returns the text of a time in UTC, with a `Z`. The fraction has just enough digits to read back the same value, and no digits for
    /// whole seconds. A time outside `range` is written as the nearest time in the range. No attribute of type `date` has a time outside
    /// `range`.
    package static func text(_ seconds: Double) -> String {
        let (whole, fraction) = split(seconds.isNaN ? range.lowerBound : min(max(seconds, range.lowerBound), range.upperBound.nextDown))
        return text(whole: whole, fraction: fraction)
    }

    /// Returns a text that reads back as exactly this time, or `nil` if the time is outside `range`.
    package static func exactText(_ seconds: Double) -> String? { range.contains(seconds) ? text(seconds) : nil }

    /// Returns the text of a time in UTC. `fraction` has the digits after the decimal point; it is empty for whole seconds.
    ///
    /// - Parameter whole: The seconds since 2001, rounded down.
    static func text(whole: Int, fraction: String) -> String {
        let civil = civilTime(whole).time
        let date = "\(pad(civil.year, 4))-\(pad(civil.month, 2))-\(pad(civil.day, 2))"
        let time = "\(pad(civil.hour, 2)):\(pad(civil.minute, 2)):\(pad(civil.second, 2))"
        return fraction.isEmpty ? "\(date)T\(time)Z" : "\(date)T\(time).\(fraction)Z"
    }

    /// Returns the date and the time of day `seconds` after 2001-01-01T00:00:00, and the number of days since the last Monday.
    package static func civilTime(_ seconds: Int) -> (time: CivilTime, weekday: Int) {
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let second = seconds - day * 86_400
        let (year, month, dayOfMonth) = civil(day + daysTo2001)
        let time = CivilTime(
            year: year, month: month, day: dayOfMonth, hour: second / 3600, minute: second / 60 % 60, second: second % 60)
        // The remainder is the weekday, because 2001-01-01 was a Monday.
        return (time, (day % 7 + 7) % 7)
    }

    package static func pad(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Splits a time into whole seconds, rounded down, and the digits of the fraction.
    package static func split(_ seconds: Double) -> (whole: Int, fraction: String) {
        let whole = seconds.rounded(.down)
        if whole == seconds { return (Int(whole), "") }
        // `description` has the shortest decimal that reads back as the same `Double`.
        let digits = fractionDigits(seconds.magnitude)
        if seconds > 0 { return (Int(whole), digits) }
        return (Int(whole), complement(digits))
    }

    private static func fractionDigits(_ magnitude: Double) -> String {
        let text = magnitude.description
        let parts = text.split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var fraction = String(mantissa.count > 1 ? mantissa[1] : "")
        if parts.count > 1, let exponent = Int(parts[1]), exponent < 0 {
            fraction = String(repeating: "0", count: -exponent - 1) + mantissa[0] + fraction
        }
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return fraction
    }

    /// Returns the digits of the fraction 1 - 0.`digits`.
    private static func complement(_ digits: String) -> String {
        var borrowed = true
        var result: [UInt8] = []
        for digit in digits.utf8.reversed() {
            let value = Int(digit) - 0x30
            result.append(UInt8((borrowed ? 10 : 9) - value + 0x30))
            borrowed = false
        }
        return String(decoding: result.reversed(), as: UTF8.self)
    }

    // MARK: Reading

    /// Returns the seconds since 2001 as the nearest `Double`, or `nil` if the text is not an RFC 3339 date and time.
    package static func seconds(_ text: UnsafeRawBufferPointer) -> Double? { parts(text).flatMap { combine($0.whole, $0.fraction) } }

    /// Returns the seconds since 2001, rounded down, and the digits after the decimal point, in ASCII. Returns `nil` if the text is not an
    /// RFC 3339 date and time.
    static func parts(_ text: UnsafeRawBufferPointer) -> (whole: Int, fraction: [UInt8])? {
        guard text.count >= 20, text[4] == 0x2D, text[7] == 0x2D, text[13] == 0x3A, text[16] == 0x3A,
            text[10] | 0x20 == UInt8(ascii: "t") || text[10] == 0x20,
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            let hour = number(text, 11, 2), let minute = number(text, 14, 2), let second = number(text, 17, 2)
        else { return nil }
        var index = 19
        var fraction = 0..<0
        if text[19] == 0x2E {
            index = 20
            while index < text.count, text[index] >= 0x30, text[index] <= 0x39 { index += 1 }
            fraction = 20..<index
            if fraction.isEmpty { return nil }
        }
        let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard let offset = offset(text, index), let whole = whole(time, offset) else { return nil }
        return (whole, fraction.map { text[$0] })
    }

    /// Returns the seconds since 2001 as the nearest `Double`, or `nil` if the calendar or the clock has no such time. `fraction` has the
    /// digits after the decimal point, in ASCII. `offset` is in seconds east of UTC.
    package static func seconds(_ time: CivilTime, fraction: [UInt8], offset: Int) -> Double? {
        whole(time, offset).flatMap { combine($0, fraction) }
    }

    private static func whole(_ time: CivilTime, _ offset: Int) -> Int? {
        guard time.year >= 1, (1...12).contains(time.month), time.day >= 1, time.day <= daysIn(time.month, time.year),
            (0..<24).contains(time.hour), (0..<60).contains(time.minute), (0...60).contains(time.second)
        else { return nil }
        let days = self.days(time.year, time.month, time.day) - daysTo2001
        return days * 86_400 + time.hour * 3600 + time.minute * 60 + time.second - offset
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int? {
        var value = 0
        for index in start..<start + count {
            guard text[index] >= 0x30, text[index] <= 0x39 else { return nil }
            value = value * 10 + Int(text[index] - 0x30)
        }
        return value
    }

    /// Returns the offset at the end of the text, in seconds east of UTC.
    private static func offset(_ text: UnsafeRawBufferPointer, _ index: Int) -> Int? {
        if text.count == index + 1 { return text[index] | 0x20 == UInt8(ascii: "z") ? 0 : nil }
        guard text.count == index + 6, text[index + 3] == 0x3A, text[index] == 0x2B || text[index] == 0x2D,
            let hours = number(text, index + 1, 2), let minutes = number(text, index + 4, 2), hours < 24, minutes < 60
        else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return text[index] == 0x2D ? -seconds : seconds
    }

    /// Returns the Double nearest to `whole` + 0.`digits`. If rounding reaches the end of `range`, returns the last Double in the range.
    /// Without this rule, the last microseconds of the year 9999, which many programs use for "no end", would be refused.
    private static func combine(_ whole: Int, _ digits: [UInt8]) -> Double? {
        guard let seconds = nearest(whole, digits) else { return nil }
        return seconds == range.upperBound && Double(whole) < seconds ? seconds.nextDown : seconds
    }

    private static func nearest(_ whole: Int, _ digits: [UInt8]) -> Double? {
        var digits = digits
        while digits.last == 0x30 { digits.removeLast() }
        if digits.isEmpty { return Double(whole) }
        if digits.count <= 9 {
            let scale = digits.reduce(1) { product, _ in product * 10 }
            let fraction = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            let (product, overflow) = whole.multipliedReportingOverflow(by: scale)
            // Both operands are exact, so only the quotient is rounded.
            if !overflow, product.magnitude < 1 << 52 { return Double(product + fraction) / Double(scale) }
        }
        if whole >= 0 { return Double("\(whole).\(String(decoding: digits, as: UTF8.self))") }
        // Adding 0 turns -0.0 into 0.0. Both have the same text, so reading this text must always result in 0.0.
        return Double("-\((whole + 1).magnitude).\(complement(String(decoding: digits, as: UTF8.self)))").map { $0 + 0 }
    }

    // MARK: Calendar

    /// The number of days from 0000-03-01 of the proleptic Gregorian calendar to 2001-01-01.
    private static let daysTo2001 = days(2001, 1, 1)

    /// Returns the number of days from 0000-03-01 of the proleptic Gregorian calendar to a date. Source: H. Hinnant, "chrono-compatible
    /// low-level date algorithms".
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    static func daysIn(_ month: Int, _ year: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}

/// A date and a time of day.
package struct CivilTime {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    package init(year: Int, month: Int = 1, day: Int = 1, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }
}

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
