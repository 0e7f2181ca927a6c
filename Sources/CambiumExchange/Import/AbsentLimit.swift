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
        case .percent(let percent): Double(count) * 100 > percent * Double(all)
        }
    }

    /// The limit as a text, which `init(_:)` parses if the limit is valid.
    package var text: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): Int(exactly: percent).map { "\($0)%" } ?? "\(percent)%"
        }
    }
}
