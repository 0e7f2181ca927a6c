/// The public declarations of the modules that programs import. Docs/API.txt contains the listing, so that each change of it is reviewed.
struct PublicListing {
    static let path = "Docs/API.txt"

    /// Places that `import Cambium` does not show. They are public because the compiler inlines only public functions of other modules.
    private static let hidden = [
        "Sources/CambiumBytes/", "Sources/CambiumJSON/JSONParser", "Sources/CambiumJSON/JSONTokens", "Sources/CambiumJSON/JSONWriter",
    ]

    let text: String

    /// - Parameter files: the sources, sorted by their paths.
    init(of files: [TextFile]) {
        let files = files.filter { file in !Self.hidden.contains { file.path.hasPrefix($0) } }
        let count = files.reduce(0) { $0 + PublicDeclarations($1).count }
        text = (["\(count) public declarations. script/api writes this file."] + Self.grouped(files)).joined(separator: "\n") + "\n"
    }

    private static func grouped(_ files: [TextFile]) -> [String] {
        Dictionary(grouping: files) { $0.target ?? "" }.sorted { $0.key < $1.key }.flatMap { target, files in
            let lines = files.flatMap { PublicDeclarations($0).lines }
            return lines.isEmpty ? [] : ["", "# \(target)", ""] + lines.sorted()
        }
    }

    /// Returns the lines that differ from a listing: `+` for a new declaration, `-` for one that is gone.
    func differences(from old: String) -> [String] {
        let change = text.split(separator: "\n").difference(from: old.split(separator: "\n"))
        return change.map { step in
            switch step {
            case .insert(_, let line, _): "+ \(line)"
            case .remove(_, let line, _): "- \(line)"
            }
        }
    }
}
