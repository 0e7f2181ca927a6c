/// Requires a sentence shortly above each unchecked conformance that states why threads may share the type.
struct SendableRule {
    static let claim = "@unchecked" + " Sendable"
    static let reason = "SENDABLE:"
    static let distanceMax = 12

    func violations(in file: TextFile) -> [Violation] {
        file.violations(ofWords: [Self.claim]).filter { violation in
            guard let line = violation.line else { return true }
            let above = file.lines[max(0, line - 1 - Self.distanceMax)..<(line - 1)]
            return !above.contains { $0.contains(Self.reason) }
        }
    }
}
