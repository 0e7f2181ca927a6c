import Testing

/// A place in the repository that violates a rule.
struct Violation: CustomStringConvertible {
    let path: String
    /// The number of the line, counted from 1. `nil` if the violation concerns the whole file.
    let line: Int?
    let reason: String

    init(path: String, line: Int? = nil, reason: String) {
        self.path = path
        self.line = line
        self.reason = reason
    }

    var description: String {
        "\(path)\(line.map { ":\($0)" } ?? ""): \(reason)"
    }
}

/// Records one issue for each violation, so that a failing run lists every place to correct.
func expectNone(_ violations: [Violation]) {
    for violation in violations {
        Issue.record("\(violation.description)")
    }
}
