import Foundation

/// The module table of Docs/ARCHITECTURE.md, which lists the modules that each target may import.
struct ModuleTable {
    static let path = "Docs/ARCHITECTURE.md"
    static let header = ["target", "holds", "may import"]

    /// The names of the modules that a target may import, by the target's name.
    let imports: [String: Set<String>]

    /// Reads the rows below the header. Returns `nil` if the document has no such header or no row below it.
    init?(_ document: TextFile) {
        let rows = document.lines.map(Self.cells)
        guard let start = rows.firstIndex(of: Self.header) else { return nil }
        var imports: [String: Set<String>] = [:]
        for row in rows[(start + 1)...].prefix(while: { $0.count == Self.header.count }) {
            for target in Self.names(in: row[0]) {
                imports[target, default: []].formUnion(Self.names(in: row[2]))
            }
        }
        if imports.isEmpty { return nil }
        self.imports = imports
    }

    /// Returns the differences between the rows and the directories in Sources, in both directions.
    func violations(targets: Set<String>) -> [Violation] {
        let listed = Set(imports.keys)
        let unlisted = targets.subtracting(listed).sorted().map {
            Violation(path: "Sources/\($0)", reason: "has no row in the table of \(Self.path)")
        }
        let absent = listed.subtracting(targets).sorted().map {
            Violation(path: Self.path, reason: "has a row for \($0), which is not in Sources")
        }
        return unlisted + absent
    }

    static func cells(_ line: Substring) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        return cells.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns the texts between backquotes.
    static func names(in cell: String) -> [String] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { !$0.isMultiple(of: 2) && $0 < parts.count - 1 }.map { String(parts[$0]) }
    }
}
