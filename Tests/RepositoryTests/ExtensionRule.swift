/// Requires that a type is extended in at most two folders of its target. A type that many folders extend has many subjects, and each of
/// these extensions may use everything that the target knows of the type.
///
/// Other targets see only what a type offers to them, so their extensions do not count. Extensions whose members are all private to their
/// file do not count either.
struct ExtensionRule {
    static let folderCountMax = 2
    /// The types that more folders extend today, each with their number. No number may rise, and a type leaves the list as soon as it keeps
    /// the rule.
    static let known = ["Graph": 11, "Reader": 4, "Store": 6]

    func violations(in files: [TextFile]) -> [Violation] {
        var declared: Set<Name> = []
        var folders: [Name: Set<Substring>] = [:]
        for file in files {
            guard let target = file.target else { continue }
            declared.formUnion(TypeNames(file).declared.map { Name(target: target, type: $0) })
            let folder = file.path.dropLast(file.path.split(separator: "/").last?.count ?? 0)
            for type in Self.extended(in: file) { folders[Name(target: target, type: type), default: []].insert(folder) }
        }
        return folders.filter { declared.contains($0.key) }.sorted { $0.key.type < $1.key.type }.compactMap { name, folders in
            let allowed = Self.known[String(name.type)] ?? Self.folderCountMax
            if folders.count == allowed || (folders.count < allowed && allowed == Self.folderCountMax) { return nil }
            return Violation(path: "Sources", reason: "\(folders.count) folders extend \(name.type), not \(allowed): \(folders.sorted())")
        }
    }

    private struct Name: Hashable {
        let target: String
        let type: Substring
    }

    private static let modifiers: Set<Substring> = ["public", "package"]
    private static let members: Set<Substring> = ["func", "var", "let", "init", "subscript"]

    /// Returns the types of the extensions in a file that have a member for other files, or that add a conformance.
    private static func extended(in file: TextFile) -> Set<Substring> {
        var found: Set<Substring> = []
        var current: Substring?
        for line in file.lines where line.first != "/" {
            if line.first == "}" { current = nil }
            let isMember = current != nil && line.hasPrefix("    ") && !line.hasPrefix("     ") && !line.hasPrefix("    //")
            // An extension of an array of a type does not extend the type.
            guard isMember || line.contains("extension ") && !line.contains("extension [") else { continue }
            let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            if let type = current, isMember, words.contains(where: members.contains), !words.contains(where: { $0.hasSuffix("private") }) {
                found.insert(type)
            } else if let start = words.firstIndex(where: { !modifiers.contains($0) }), words[start] == "extension", start + 1 < words.count
            {
                current = words[start + 1]
                if line.contains(":") { found.insert(words[start + 1]) }
            }
        }
        return found
    }
}
