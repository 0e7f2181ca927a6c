import ArgumentParser
import Cambium

/// A moment as it is written on the command line: `17`, `2026-11-21T14:30`, `2026-11-21`, `yesterday`, or `label:NAME`.
struct Moment: ExpressibleByArgument {
    /// The part of the day that is meant if only the day is named.
    enum DayPart {
        case start
        /// The last microsecond of the day.
        case end
    }

    private enum Form {
        case transaction(TransactionNumber)
        /// A time, rounded down to a microsecond. `isRounded` is `true` if the text states a slightly later time, less than a microsecond
        /// after this one.
        case time(Timestamp, isRounded: Bool)
        /// The day that begins at a time.
        case day(start: Timestamp)
        /// The day that is this number of days before the current day.
        case recentDay(age: Int)
        case now
        case label(String)
    }

    /// The text of the argument.
    let text: String
    private let form: Form

    /// The forms of a moment, for help texts.
    static let forms = "a transaction number, a time, a day, or label:NAME"

    /// The rules for times and days, for help texts.
    static let rules = """
        A time such as 2026-11-21T14:30 is in UTC, unless it ends with an offset such as +01:00. A day such as 2026-11-21, 'today' or \
        'yesterday' means its end in UTC. The current time is 'now'.
        """

    init?(argument: String) {
        text = argument
        switch argument {
        case "now": form = .now
        case "today": form = .recentDay(age: 0)
        case "yesterday": form = .recentDay(age: 1)
        default:
            if let number = Self.number(argument) {
                form = .transaction(number)
            } else if let name = argument.suffix(after: "label:") {
                form = .label(name)
            } else if let time = Self.time(argument) {
                form = time
            } else if argument.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil, let start = Timestamp(argument + "T00:00:00Z") {
                form = .day(start: start)
            } else {
                return nil
            }
        }
    }

    /// Returns the number of a transaction. A number of more than 64 bits becomes the greatest one, which no transaction has.
    private static func number(_ text: String) -> TransactionNumber? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return TransactionNumber(rawValue: UInt64(text) ?? .max)
    }

    /// Returns the time of an RFC 3339 text. The seconds are 0 if the text has none, and the time is in UTC if the text has no offset.
    private static func time(_ text: String) -> Form? {
        let form = /(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.[0-9]+)?)?([Zz]|[+-]\d\d:\d\d)?/
        guard let parts = text.wholeMatch(of: form)?.output else { return nil }
        // Transactions have times in microseconds. If the time of the text were rounded up, it could equal the time of a later transaction.
        let seconds = parts.3 ?? ":00"
        let microsecondEnd = ":00.000000".count
        let kept = "\(parts.1)T\(parts.2)\(seconds.prefix(microsecondEnd))\(parts.4 ?? "Z")"
        guard let time = Timestamp(kept) else { return nil }
        return .time(time, isRounded: seconds.dropFirst(microsecondEnd).contains { $0 != "0" })
    }

    /// Returns the point in the store's history that the moment means.
    ///
    /// - Parameters:
    ///   - part: The part of the day that is meant if the text names only the day. It also determines the rounding of a time that is more
    ///     precise than a microsecond: `.start` rounds up, and `.end` rounds down.
    ///   - now: The current time.
    func point(_ part: DayPart = .end, now: Timestamp = StoreEnvironment.system.now()) -> Point {
        switch form {
        case .transaction(let number): .transaction(number)
        case .time(let time, let isRounded): .time(isRounded && part == .start ? time + .microseconds(1) : time)
        case .day(let start): .time(Self.time(part, ofDayFrom: start))
        case .recentDay(let age): .time(Self.time(part, ofDayFrom: Self.startOfDay(now) - Self.dayLength * age))
        case .now: .time(now)
        case .label(let name): .label(name)
        }
    }

    private static let dayLength = Duration.seconds(86_400)

    private static func time(_ part: DayPart, ofDayFrom start: Timestamp) -> Timestamp {
        switch part {
        case .start: start
        case .end: start + dayLength - .microseconds(1)
        }
    }

    /// Returns the beginning of the day that contains a time, in UTC.
    private static func startOfDay(_ time: Timestamp) -> Timestamp {
        let length = Int64(dayLength / .microseconds(1))
        let rest = time.microsecondsSince1970 % length
        return time - .microseconds(rest < 0 ? rest + length : rest)
    }
}

extension String {
    /// Returns the text after a prefix; `nil` if the text has another beginning, or ends with the prefix. Compares code points, because a
    /// combining mark after the prefix forms one `Character` with its last code point.
    func suffix(after prefix: String) -> String? {
        let (scalars, prefix) = (unicodeScalars, prefix.unicodeScalars)
        return scalars.starts(with: prefix) && scalars.count > prefix.count ? String(scalars.dropFirst(prefix.count)) : nil
    }
}
