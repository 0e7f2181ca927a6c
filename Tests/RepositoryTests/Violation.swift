import Testing

/// A place in the repository that breaks one of its rules.
struct Violation: CustomStringConvertible {
    let path: String
    /// Counted from 1; nil where the file as a whole is meant.
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

/// Records one issue per violation, so that a failing run lists every place to go to.
func expectNone(_ violations: [Violation]) {
    for violation in violations {
        Issue.record("\(violation.description)")
    }
}
