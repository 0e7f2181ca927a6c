/// Numbers in a form for human readers.
enum Readable {
    /// Returns a number with a comma after every three digits.
    static func count(_ value: Int) -> String {
        let digits = String(value.magnitude)
        var groups: [Substring] = []
        var rest = digits[...]
        while rest.count > 3 {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return (value < 0 ? "-" : "") + ([rest] + groups).joined(separator: ",")
    }

    static func bytes(_ value: Int) -> String {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        var size = Double(value)
        var unit = 0
        while size >= 1024, unit < units.count - 1 {
            size /= 1024
            unit += 1
        }
        return unit == 0 ? "\(value) bytes" : "\(tenths(size)) \(units[unit])"
    }

    static func seconds(_ duration: Duration) -> String {
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        if microseconds < 1000 { return "\(microseconds) µs" }
        if microseconds < 1_000_000 { return "\(tenths(Double(microseconds) / 1000)) ms" }
        return "\(tenths(Double(microseconds) / 1_000_000)) s"
    }

    private static func tenths(_ value: Double) -> String {
        let scaled = Int((value * 10).rounded())
        return scaled >= 1000 ? "\(count(scaled / 10))" : "\(scaled / 10).\(scaled % 10)"
    }

    /// Returns a count with its noun: "1 object", "2 objects".
    static func of(_ value: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(count(value)) \(value == 1 ? noun : plural ?? noun + "s")"
    }
}
