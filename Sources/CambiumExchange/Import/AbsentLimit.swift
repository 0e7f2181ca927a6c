import CambiumModel

/// The maximum number of objects that an import may delete because they are absent from its input.
///
/// ```swift
/// var options = ImportOptions()
/// options.absent = .delete
/// options.absentMax = .percent(10)
/// try store.importRows(Note.self, from: .file("notes.json"), options: options)
/// ```
///
/// `.percent(10)` is a tenth of the objects that existed before the import; `.count(100)` is a hundred objects.
public enum AbsentLimit: Sendable, Hashable {
    /// A number of objects, at least 0.
    case count(Int)
    /// A percentage from 0 to 100.
    case percent(Double)

    /// Half of the objects. If more objects are absent, the input is probably incomplete.
    package static let standard = AbsentLimit.percent(50)

    /// Parses a count such as `100`, or a percentage such as `10%`. Returns `nil` for any other text.
    package init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()) else { return nil }
            self = .percent(percent)
        } else {
            guard let count = Int(text) else { return nil }
            self = .count(count)
        }
        if !isValid { return nil }
    }

    /// Whether the limit is a number of at least 0, or a percentage from 0 to 100.
    package var isValid: Bool {
        switch self {
        case .count(let count): count >= 0
        case .percent(let percent): (0...100).contains(percent)
        }
    }

    func isExceeded(by count: Int, of all: Int) -> Bool {
        switch self {
        case .count(let limit): count > limit
        case .percent(let percent): Self.part(percent, of: all).map { $0 < DecimalNumber(Int64(count)) } ?? (count > 0)
        }
    }

    /// Returns `percent` percent of a number of objects, without rounding. The percentage is the decimal number that the caller wrote, and
    /// not the binary number nearest to it. Returns `nil` if a positive percentage is too small for a `DecimalNumber`.
    private static func part(_ percent: Double, of all: Int) -> DecimalNumber? {
        // The percentage has at most 17 digits, and the count 19. So the product has at most 36 digits, and a `DecimalNumber` holds 38.
        guard let digits = DecimalNumber("\(percent)") else { return nil }
        return DecimalNumber(negative: false, coefficient: digits.coefficient * UInt128(all), exponent: digits.exponent - 2)
    }

    /// The limit as a text, which `init(_:)` parses if the limit is valid.
    package var text: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): Int(exactly: percent).map { "\($0)%" } ?? "\(percent)%"
        }
    }
}
