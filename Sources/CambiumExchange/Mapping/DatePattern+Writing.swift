internal import CambiumModel

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
