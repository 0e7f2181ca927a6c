/// Keeps words out of the repository that announce unfinished work, or that trap in place of an error.
///
/// The words are joined from two halves, so that the rule does not find itself.
struct WordRule {
    static let places = ["Sources", "Tests", "Benchmarks", "Docs", "script", "README.md"]

    static let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "for " + "now"]
    static let traps = ["try" + "!", "fatal" + "Error(", " as" + "! "]
    static let waits = [".sle" + "ep("]
    /// Folders whose names say nothing about their contents.
    static let folders = ["Support", "Basics", "Helpers", "Utilities", "Common", "Misc"]

    func violations(in file: TextFile) -> [Violation] {
        var words = Self.unfinished
        if file.path.hasPrefix("Sources/") { words += Self.traps }
        if file.path.hasPrefix("Tests/") { words += Self.waits }
        return file.violations(ofWords: words) + namesWithoutMeaning(in: file)
    }

    /// Functions whose verb is `note`, which says neither that they track, report nor count; names of what is corrupt with another word;
    /// and folders that can contain anything.
    private func namesWithoutMeaning(in file: TextFile) -> [Violation] {
        guard file.path.hasPrefix("Sources/") else { return [] }
        let folders = file.path.split(separator: "/").filter { Self.folders.contains(String($0)) }
        let named = folders.map { Violation(path: file.path, line: 1, reason: "the folder's name \($0) has no meaning") }
        guard file.text.contains("func note") || file.text.contains("damaged") else { return named }
        let declaration = #/\b(?:func\s+(note(?:[A-Z]\w*)?)\s*[(<]|(?:func|var|let|case)\s+(damaged\w*))/#
        return named
            + file.lines.enumerated().flatMap { index, line in
                line.matches(of: declaration).map { match in
                    Violation(path: file.path, line: index + 1, reason: "'\(match.1 ?? match.2 ?? "")' has a clearer name")
                }
            }
    }
}
