import CambiumModel

/// Every rule that a transaction breaks.
public struct RuleViolations: Error, Hashable, Sendable {
    /// Denied deletions come first.
    public let violations: [Violation]
    /// The number of violations at the end of `violations` that only a denied deletion brings about: they go away with it.
    public let consequenceCount: Int

    init(violations: [Violation], consequenceCount: Int = 0) {
        self.violations = violations
        self.consequenceCount = consequenceCount
    }

    var isEmpty: Bool { violations.isEmpty }

    /// A message has the text of so many violations, and counts the others.
    static let shownCountMax = 20

    /// One line for each violation that is shown, and one for what is only counted.
    fileprivate var lines: [String] {
        let causes = violations.dropLast(consequenceCount)
        var lines = causes.prefix(Self.shownCountMax).map(\.description)
        if causes.count > lines.count { lines.append("and \(causes.count - lines.count) more") }
        if consequenceCount > 0 {
            let rules = consequenceCount == 1 ? "1 other rule" : "\(consequenceCount) other rules"
            lines.append("The deletion would also break \(rules), at the objects that would lose a member.")
        }
        return lines
    }
}

extension CambiumError {
    init(_ violations: RuleViolations) {
        let lines = violations.lines
        self.init(.ruleViolated, lines.first ?? "", details: Array(lines.dropFirst()), underlying: violations)
    }
}
