import Foundation

/// The table of floors in Docs/ARCHITECTURE.md: for each target with folders, its folders from the lowest to the highest.
struct FloorTable {
    static let path = "Docs/ARCHITECTURE.md"
    static let header = ["target", "folders, from the lowest to the highest"]

    let floors: [String: [String]]

    /// Reads the rows below the header. Returns `nil` if the document has no such header or no row below it.
    init?(_ document: TextFile) {
        let rows = document.lines.map(ModuleTable.cells)
        guard let start = rows.firstIndex(of: Self.header) else { return nil }
        let found = rows[(start + 1)...].prefix { $0.count == 2 }.filter { !ModuleTable.names(in: $0[0]).isEmpty }
        if found.isEmpty { return nil }
        floors = Dictionary(uniqueKeysWithValues: found.map { (ModuleTable.names(in: $0[0])[0], ModuleTable.names(in: $0[1])) })
    }
}
