import Foundation

/// Rejects type names with endings that do not describe the type.
struct TypeNameRule {
    static let endings = ["Manager", "Helper", "Utils", "Common", "Core", "Misc", "Handler", "Impl", "Base", "Info"]

    func violations(in file: TextFile) -> [Violation] {
        let present = Self.endings.filter { file.text.range(of: $0, options: .literal) != nil }
        if present.isEmpty { return [] }
        let declaration = #/\b(?:struct|class|enum|actor|protocol)\s+(\w+)/#
        return file.lines.enumerated().flatMap { index, line in
            line.matches(of: declaration).map { String($0.1) }.filter { name in present.contains { name.hasSuffix($0) } }
                .map { Violation(path: file.path, line: index + 1, reason: "the type's name \($0) ends in a word without meaning") }
        }
    }
}
