public import FoundationEssentials

/// A moment with a precision of a microsecond, such as the time of a transaction or the end of a lease.
///
/// ```swift
/// let yesterday = Timestamp(Date.now - 86_400)
/// let graph = try store.graph(at: .time(yesterday))
/// ```
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of microseconds since 1970-01-01T00:00:00Z.
    public let microsecondsSince1970: Int64

    /// Creates the moment that is a number of microseconds after 1970-01-01T00:00:00Z, or before it if the number is negative.
    public init(microsecondsSince1970: Int64) { self.microsecondsSince1970 = microsecondsSince1970 }

    /// Creates the moment of a date, rounded to a microsecond. A date beyond the range becomes the nearest end of the range. A date that is
    /// not a number becomes the latest moment.
    public init(_ date: Date) {
        let count = (date.timeIntervalSinceReferenceDate + Double(Self.secondsTo2001)) * 1e6
        microsecondsSince1970 = Int64(exactly: count.rounded()) ?? (count < 0 ? .min : .max)
    }

    /// Parses an RFC 3339 time such as `2026-01-31T12:00:00Z`, rounded to a microsecond. Returns `nil` if the text is not such a time,
    /// or if the rounded moment is not within the years 1 to 9999 in UTC. Complexity: O(bytes of the text).
    public init?(_ text: String) {
        var text = text
        guard let (whole, digits) = text.withUTF8({ DateText.parts(UnsafeRawBufferPointer($0)) }) else { return nil }
        // A double cannot hold the microseconds of a moment that is far from 2001. So the fraction is read as a whole number of 7 digits.
        let tenths = (0..<7).reduce(Int64(0)) { $0 * 10 + ($1 < digits.count ? Int64(digits[$1] - 0x30) : 0) }
        let microseconds = Int64(whole) * 1_000_000 + (tenths + 5) / 10
        // An offset, a leap second or rounding can move the moment outside the years 1 to 9999.
        guard Self.rangeOfTexts.contains(microseconds) else { return nil }
        microsecondsSince1970 = microseconds + Int64(Self.secondsTo2001) * 1_000_000
    }

    /// The moments of the years 1 to 9999, in microseconds since 2001.
    private static let rangeOfTexts = Int64(DateText.range.lowerBound) * 1_000_000..<Int64(DateText.range.upperBound) * 1_000_000

    /// The earliest moment that a timestamp can represent.
    package static let min = Timestamp(microsecondsSince1970: .min)
    /// The latest moment that a timestamp can represent.
    package static let max = Timestamp(microsecondsSince1970: .max)

    private static let secondsTo2001 = 978_307_200

    /// The date of the moment. A date that is far from 2001 is less precise than a microsecond.
    public var date: Date {
        let (count, isBeyond) = microsecondsSince1970.subtractingReportingOverflow(Int64(Self.secondsTo2001) * 1_000_000)
        // The difference is exact, so the date is the `Double` that is nearest to the microsecond.
        return isBeyond ? dateFrom1970 : Date(timeIntervalSinceReferenceDate: Double(count) / 1e6)
    }

    /// The date of the moment, rounded twice, because the seconds since 1970 need more bits than those since 2001. Clones in older logs use
    /// this date.
    var dateFrom1970: Date {
        Date(timeIntervalSinceReferenceDate: Double(microsecondsSince1970) / 1e6 - Double(Self.secondsTo2001))
    }

    /// The moment as RFC 3339 in UTC. The fraction of a second has as many digits as are needed, at most 6. The text of a moment outside of
    /// the years 1 to 9999 has more digits for the year, or a sign, and cannot be parsed.
    public var description: String {
        let (quotient, remainder) = microsecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000)
        let whole = remainder < 0 ? quotient - 1 : quotient
        var fraction = DateText.pad(Int(remainder < 0 ? remainder + 1_000_000 : remainder), 6)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return DateText.text(whole: Int(whole) - Self.secondsTo2001, fraction: fraction)
    }

    /// Returns the time from this moment to another moment. The time is negative if the other moment is earlier.
    package func distance(to other: Timestamp) -> Duration {
        let (seconds, rest) = microsecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000)
        let (otherSeconds, otherRest) = other.microsecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000)
        return .seconds(otherSeconds - seconds) + .microseconds(otherRest - rest)
    }

    /// Whether a moment is earlier than another moment.
    public static func < (left: Self, right: Self) -> Bool { left.microsecondsSince1970 < right.microsecondsSince1970 }

    /// Returns the moment that is later by a duration. A moment beyond the range becomes the nearest end of the range.
    package static func + (time: Self, duration: Duration) -> Timestamp {
        let (sum, isBeyond) = time.microsecondsSince1970.addingReportingOverflow(duration.microseconds)
        return Timestamp(microsecondsSince1970: isBeyond ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the moment that is earlier by a duration. A moment beyond the range becomes the nearest end of the range.
    package static func - (time: Self, duration: Duration) -> Timestamp {
        let (difference, isBeyond) = time.microsecondsSince1970.subtractingReportingOverflow(duration.microseconds)
        return Timestamp(microsecondsSince1970: isBeyond ? (duration < .zero ? .max : .min) : difference)
    }
}

extension Duration {
    /// The duration in whole microseconds. A duration beyond the range becomes the nearest end of the range.
    package var microseconds: Int64 {
        let (whole, isTooLong) = components.seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isLonger) = whole.addingReportingOverflow(components.attoseconds / 1_000_000_000_000)
        return isTooLong || isLonger ? (components.seconds < 0 ? .min : .max) : sum
    }
}
