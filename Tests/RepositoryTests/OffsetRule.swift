import Foundation

/// Keeps the offsets of pages in the folder of the views of pages. All other code of the graph reads and writes named fields.
struct OffsetRule {
    static let target = "Sources/CambiumGraph/"
    static let folder = "Sources/CambiumGraph/Pages/Kinds/"
    /// The labels with which Swift's own functions take offsets.
    private static let labels = ["fromByteOffset", "toByteOffset"]

    func violations(in file: TextFile) -> [Violation] {
        guard file.path.hasPrefix(Self.target), !file.path.hasPrefix(Self.folder) else { return [] }
        let name = #/\b[a-z]\w*Offset\b/#.wordBoundaryKind(.simple)
        return file.lines.enumerated().flatMap { index, line in
            line.contains("Offset") ? line.matches(of: name).map { (index + 1, String($0.output)) } : []
        }
        .filter { !Self.labels.contains($0.1) }
        .map { Violation(path: file.path, line: $0.0, reason: "names \($0.1), which belongs to \(Self.folder)") }
    }
}
