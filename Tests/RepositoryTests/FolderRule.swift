/// Requires that the files of a folder name only types of their own folder and of lower folders of the target.
struct FolderRule {
    let table: FloorTable

    func violations(in files: [TextFile]) -> [Violation] {
        Dictionary(grouping: files) { $0.target ?? "" }.sorted { $0.key < $1.key }.flatMap { target, files in
            violations(in: files, target, table.floors[target] ?? [])
        }
    }

    private func violations(in files: [TextFile], _ target: String, _ floors: [String]) -> [Violation] {
        let sources = files.compactMap { file in folder(of: file).map { (file: file, folder: $0, names: TypeNames(file)) } }
        let known = Set(sources.map(\.folder))
        // A target without folders needs no floors.
        if known == [""], floors.isEmpty { return [] }
        var violations = known.subtracting(floors).sorted().map { folder in
            let place = folder.isEmpty ? "Sources/\(target)" : "Sources/\(target)/\(folder)"
            return Violation(path: place, reason: "has files, and the floors of \(target) in \(FloorTable.path) do not have it")
        }
        violations += Set(floors).subtracting(known).sorted().map {
            Violation(path: FloorTable.path, reason: "has a floor \($0) of \(target), which has no file")
        }
        let level = Dictionary(uniqueKeysWithValues: floors.enumerated().map { ($1, $0) })
        var owners: [Substring: String] = [:]
        for source in sources { for name in source.names.declared { owners[name] = source.folder } }
        for source in sources {
            guard let own = level[source.folder] else { continue }
            for (name, line) in source.names.mentioned.sorted(by: { $0.value < $1.value }) where !source.names.nested.contains(name) {
                guard let owner = owners[name], let other = level[owner], other > own else { continue }
                let reason = "\(source.folder) names \(name) of \(owner), which is a higher folder"
                violations.append(Violation(path: source.file.path, line: line, reason: reason))
            }
        }
        return violations
    }

    /// Returns the folder of a source file inside its target; empty if the file is in none. Only files of Swift have floors.
    private func folder(of file: TextFile) -> String? {
        guard file.path.hasSuffix(".swift") else { return nil }
        let parts = file.path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : ""
    }
}
