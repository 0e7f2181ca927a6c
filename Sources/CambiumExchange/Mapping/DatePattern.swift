internal import CambiumModel

/// A date pattern such as `dd MMM yy`. A pattern can contain some of the letters of Unicode TR 35. Names are English, and there is no
/// locale.
struct DatePattern {
    struct Mistake: Error {
        let message: String
    }

    enum Field {
        case literal([UInt8])
        case year
        case yearOfFourDigits
        case yearOfTwoDigits
        case number(Component)
        /// An hour from 1 to 12.
        case hourOfHalf
        case monthName
        case weekday
        case half
        case fraction
        case zone
    }

    enum Component { case month, day, hour, minute, second }

    /// The components of a date that were read so far.
    private struct Reading {
        var time = CivilTime(year: 0)
        var fraction: [UInt8] = []
        var offset: Int
        var isAfternoon: Bool?

        mutating func set(_ component: Component, _ value: Int) {
            switch component {
            case .month: time.month = value
            case .day: time.day = value
            case .hour: time.hour = value
            case .minute: time.minute = value
            case .second: time.second = value
            }
        }
    }

    /// The fields, each with its number of letters. If two fields of digits have no separator between them, `digitCount` of the first one
    /// is the exact number of digits to read.
    private(set) var fields: [(field: Field, letterCount: Int, digitCount: Int?)] = []
    /// The offset for texts that state no zone, in seconds east of UTC.
    let offset: Int
    private let pivot: Int

    /// - Parameters:
    ///   - offset: the offset for texts that state no zone, in seconds east of UTC.
    ///   - pivot: the first of the hundred years that a year of two digits can mean.
    init(_ pattern: String, offset: Int, pivot: Int) throws(Mistake) {
        self.offset = offset
        self.pivot = pivot
        var rest = Array(pattern.utf8)[...]
        while let letter = rest.first {
            if letter == UInt8(ascii: "'") {
                append(.literal(try Self.quoted(&rest, pattern)), 0)
            } else if Self.isLetter(letter) {
                let run = rest.prefix { $0 == letter }
                rest = rest.dropFirst(run.count)
                append(try Self.field(letter, run.count, pattern), run.count)
            } else {
                let run = rest.prefix { $0 != UInt8(ascii: "'") && !Self.isLetter($0) }
                rest = rest.dropFirst(run.count)
                append(.literal(Array(run)), 0)
            }
        }
        for index in fields.indices.dropLast() where isNumber(index) && isNumber(index + 1) {
            fields[index].digitCount = fields[index].letterCount
        }
        let hasYear = fields.contains {
            switch $0.field {
            case .year, .yearOfFourDigits, .yearOfTwoDigits: true
            default: false
            }
        }
        if !hasYear {
            let names = "iso8601 secondsSince1970 millisecondsSince1970 secondsSince2001"
            throw Mistake(message: "the date format '\(pattern)' has no year; write yyyy in it, or use one of the names: \(names)")
        }
    }

    private mutating func append(_ field: Field, _ letterCount: Int) { fields.append((field, letterCount, nil)) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }

    /// Skips the quoted text at the beginning of `rest`, and returns it. Two quotes mean one quote.
    private static func quoted(_ rest: inout ArraySlice<UInt8>, _ pattern: String) throws(Mistake) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        var text: [UInt8] = []
        rest = rest.dropFirst()
        if rest.first == quote {
            rest = rest.dropFirst()
            return [quote]
        }
        while let byte = rest.first {
            rest = rest.dropFirst()
            if byte != quote {
                text.append(byte)
            } else if rest.first == quote {
                text.append(quote)
                rest = rest.dropFirst()
            } else {
                return text
            }
        }
        throw Mistake(message: "the date format '\(pattern)' has quoted text that does not end; write ' after the text")
    }

    private static func field(_ letter: UInt8, _ count: Int, _ pattern: String) throws(Mistake) -> Field {
        switch (Character(UnicodeScalar(letter)), count) {
        case ("y", 1): return .year
        case ("y", 2): return .yearOfTwoDigits
        case ("y", 4): return .yearOfFourDigits
        case ("M", 1...2): return .number(.month)
        case ("M", 3...4): return .monthName
        case ("d", 1...2): return .number(.day)
        case ("H", 1...2): return .number(.hour)
        case ("h", 1...2): return .hourOfHalf
        case ("m", 1...2): return .number(.minute)
        case ("s", 1...2): return .number(.second)
        case ("S", 1...9): return .fraction
        case ("a", 1): return .half
        case ("E", 1...4): return .weekday
        case ("Z", 1...5), ("z", 1...4): return .zone
        default:
            let letters = String(repeating: Character(UnicodeScalar(letter)), count: count)
            throw Mistake(
                message: "the date format '\(pattern)' has '\(letters)', which has no meaning; the letters are: "
                    + "yyyy yy y MMMM MMM MM M dd d HH H hh h mm m ss s S a E Z z; other text must be in quotes")
        }
    }

    private func isNumber(_ index: Int) -> Bool {
        switch fields[index].field {
        case .year, .yearOfFourDigits, .yearOfTwoDigits, .number, .hourOfHalf, .fraction: true
        case .literal, .monthName, .weekday, .half, .zone: false
        }
    }

    // MARK: Reading

    /// Returns the seconds since 2001; `nil` if the text does not match the pattern or is not a valid date.
    func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        var reading = Reading(offset: offset)
        var rest = text[...]
        for (field, _, digitCount) in fields {
            guard read(field, digitCount, &rest, &reading) else { return nil }
        }
        guard rest.isEmpty else { return nil }
        if let isAfternoon = reading.isAfternoon {
            guard (0...12).contains(reading.time.hour) else { return nil }
            reading.time.hour = reading.time.hour % 12 + (isAfternoon ? 12 : 0)
        }
        return DateText.seconds(reading.time, fraction: reading.fraction, offset: reading.offset)
    }

    private func read(
        _ field: Field, _ digitCount: Int?, _ rest: inout Slice<UnsafeRawBufferPointer>, _ reading: inout Reading
    ) -> Bool {
        switch field {
        case .literal(let bytes):
            guard rest.starts(with: bytes) else { return false }
            rest = rest.dropFirst(bytes.count)
        case .year:
            guard let year = Self.number(&rest, digitCount ?? 1, digitCount ?? 4) else { return false }
            reading.time.year = year
        case .yearOfFourDigits:
            guard let year = Self.number(&rest, 4, 4) else { return false }
            reading.time.year = year
        case .yearOfTwoDigits:
            guard let year = Self.number(&rest, 2, 2) else { return false }
            reading.time.year = pivot + (year - pivot % 100 + 100) % 100
        case .number(let component):
            guard let value = Self.number(&rest, digitCount ?? 1, digitCount ?? 2) else { return false }
            reading.set(component, value)
        case .hourOfHalf:
            guard let hour = Self.number(&rest, digitCount ?? 1, digitCount ?? 2), (1...12).contains(hour) else { return false }
            reading.time.hour = hour
        case .monthName:
            guard let month = DateNames.index(of: &rest, in: DateNames.months) else { return false }
            reading.time.month = month + 1
        case .weekday: return DateNames.index(of: &rest, in: DateNames.weekdays) != nil
        case .half:
            guard let half = DateNames.index(of: &rest, in: [["am"], ["pm"]]) else { return false }
            reading.isAfternoon = half == 1
        case .fraction:
            let digits = rest.prefix(digitCount ?? 18).prefix { $0 >= 0x30 && $0 <= 0x39 }
            if digits.isEmpty || digits.count < digitCount ?? 1 { return false }
            reading.fraction = Array(digits)
            rest = rest.dropFirst(digits.count)
        case .zone:
            guard let offset = DateNames.offset(&rest) else { return false }
            reading.offset = offset
        }
        return true
    }

    private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>, _ min: Int, _ max: Int) -> Int? {
        let digits = rest.prefix(max).prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard digits.count >= min else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Returns the offset of a zone in seconds east of UTC; `nil` if the text is not a zone.
    static func offset(_ zone: String) -> Int? {
        Array(zone.utf8).withUnsafeBytes { bytes in
            var rest = bytes[...]
            guard let offset = DateNames.offset(&rest), rest.isEmpty else { return nil }
            return offset
        }
    }
}

extension DatePattern {
    /// Writes a date in the form of the pattern, with as many digits of the fraction as the date needs. Returns `nil` if the year is not
    /// between 1 and 9999. The pattern may lose parts of the date, so the caller must read the text back and compare the dates.
    func text(_ seconds: Double) -> String? {
        let (whole, fraction) = DateText.split(seconds)
        let (time, weekday) = DateText.civilTime(whole + offset)
        guard (1...9999).contains(time.year) else { return nil }
        var text = ""
        for (field, letterCount, _) in fields {
            switch field {
            case .literal(let bytes): text += String(decoding: bytes, as: UTF8.self)
            case .year: text += String(time.year)
            case .yearOfFourDigits: text += DateText.pad(time.year, 4)
            case .yearOfTwoDigits: text += DateText.pad(time.year % 100, 2)
            case .number(let component): text += DateText.pad(Self.value(of: component, time), letterCount)
            case .hourOfHalf: text += DateText.pad((time.hour + 11) % 12 + 1, letterCount)
            case .monthName: text += Self.name(DateNames.months[time.month - 1], isShort: letterCount < 4)
            case .weekday: text += Self.name(DateNames.weekdays[weekday], isShort: letterCount < 4)
            case .half: text += time.hour < 12 ? "AM" : "PM"
            case .fraction: text += fraction + String(repeating: "0", count: max(0, letterCount - fraction.utf8.count))
            case .zone: text += zone
            }
        }
        return text
    }

    /// The offset in the form `+0100`.
    private var zone: String {
        let minutes = offset.magnitude / 60
        return (offset < 0 ? "-" : "+") + DateText.pad(Int(minutes / 60), 2) + DateText.pad(Int(minutes % 60), 2)
    }

    private static func value(of component: Component, _ time: CivilTime) -> Int {
        switch component {
        case .month: time.month
        case .day: time.day
        case .hour: time.hour
        case .minute: time.minute
        case .second: time.second
        }
    }

    /// Returns the shortest or the longest of a name's spellings. The longest spelling comes first.
    private static func name(_ spellings: [String], isShort: Bool) -> String {
        let name = (isShort ? spellings.last : spellings.first) ?? ""
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
