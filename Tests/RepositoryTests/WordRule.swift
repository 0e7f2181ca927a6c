/// Keeps words out of the repository that announce unfinished work, or that trap in place of an error.
///
/// The words are joined from two halves, so that the rule does not find itself.
struct WordRule {
    static let places = ["Sources", "Tests", "Benchmarks", "Docs", "script", "README.md"]

    static let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "for " + "now"]
    static let traps = ["try" + "!", "fatal" + "Error(", " as" + "! "]
    static let waits = [".sle" + "ep("]

    func violations(in file: TextFile) -> [Violation] {
        var words = Self.unfinished
        if file.path.hasPrefix("Sources/") { words += Self.traps }
        if file.path.hasPrefix("Tests/") { words += Self.waits }
        return file.violations(ofWords: words)
    }
}
