/// The English names in dates, and the names of zones.
enum DateNames {
    static let months = [
        ["january", "jan"], ["february", "feb"], ["march", "mar"], ["april", "apr"], ["may"], ["june", "jun"], ["july", "jul"],
        ["august", "aug"], ["september", "sept", "sep"], ["october", "oct"], ["november", "nov"], ["december", "dec"],
    ]
    static let weekdays = [
        ["monday", "mon"], ["tuesday", "tue"], ["wednesday", "wed"], ["thursday", "thu"], ["friday", "fri"], ["saturday", "sat"],
        ["sunday", "sun"],
    ]
    /// The offsets of named zones, in hours east of UTC. The American names are those of RFC 2822, section 4.3. Other names of zones are
    /// ambiguous, so a date with such a name is refused.
    private static let zones: [(name: String, hours: Int)] = [
        ("utc", 0), ("gmt", 0), ("z", 0), ("est", -5), ("edt", -4), ("cst", -6), ("cdt", -5), ("mst", -7), ("mdt", -6), ("pst", -8),
        ("pdt", -7),
    ]

    /// Skips a name, written in upper or lower case, and returns its index in `names`. Tries longer spellings first.
    static func index(of rest: inout Slice<UnsafeRawBufferPointer>, in names: [[String]]) -> Int? {
        for (index, spellings) in names.enumerated() {
            for spelling in spellings where skip(spelling, &rest) { return index }
        }
        return nil
    }

    private static func skip(_ name: String, _ rest: inout Slice<UnsafeRawBufferPointer>) -> Bool {
        let count = name.utf8.count
        guard rest.prefix(count).lazy.map({ $0 | 0x20 }).elementsEqual(name.utf8) else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    /// Skips a zone, such as `+0100`, `+01:00`, `Z`, `GMT+1` or `EST`. Returns its offset in seconds east of UTC.
    static func offset(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int? {
        for zone in zones where skip(zone.name, &rest) {
            if zone.hours == 0, zone.name != "z", let sign = rest.first, sign == 0x2B || sign == 0x2D { return signed(&rest) }
            return zone.hours * 3600
        }
        return signed(&rest)
    }

    private static func signed(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let sign = rest.first, sign == 0x2B || sign == 0x2D else { return nil }
        var tail = rest.dropFirst()
        guard let hours = digits(&tail, 1), hours < 24 else { return nil }
        var minutes = 0
        if tail.first == UInt8(ascii: ":") {
            tail = tail.dropFirst()
            guard let value = digits(&tail, 2) else { return nil }
            minutes = value
        } else if let value = digits(&tail, 2) {
            minutes = value
        }
        guard minutes < 60 else { return nil }
        rest = tail
        let seconds = hours * 3600 + minutes * 60
        return sign == 0x2D ? -seconds : seconds
    }

    /// Skips up to two digits, and returns their value. Returns `nil` if there are fewer than `min` digits.
    private static func digits(_ rest: inout Slice<UnsafeRawBufferPointer>, _ min: Int) -> Int? {
        let digits = rest.prefix(2).prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard digits.count >= min else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
