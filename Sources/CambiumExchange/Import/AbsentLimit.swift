/// The number of objects that an import may delete as absent.
///
/// `AbsentLimit("10%")` is a tenth of the objects that were there before; `AbsentLimit("100")` is a hundred.
public enum AbsentLimit: Sendable, Hashable, CustomStringConvertible {
    case count(Int)
    /// A percentage from 0 to 100.
    case percent(Double)

    /// Half of the objects. If more rows are missing, the feed is probably incomplete, and the objects probably still exist.
    package static let standard = AbsentLimit.percent(50)

    /// Returns `nil` if the text is neither a count nor a percentage.
    package init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .percent(percent)
        } else {
            guard let count = Int(text), count >= 0 else { return nil }
            self = .count(count)
        }
    }

    func isExceeded(by count: Int, of all: Int) -> Bool {
        switch self {
        case .count(let limit): count > limit
        case .percent(let percent): Double(count) * 100 > percent * Double(all)
        }
    }

    public var description: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
        }
    }
}
