/// Requires that a target imports only modules that the module table or the list of system modules allows.
struct ImportRule {
    let table: ModuleTable

    /// Modules of the toolchain that any target may import without a row in the table. ArgumentParser (for the command line) is
    /// not among them, because the table lists it.
    static let systemModules: Set<String> = [
        "Foundation", "FoundationEssentials", "FoundationXML", "FoundationInternationalization", "Glibc", "Swift", "Synchronization",
        "Dispatch", "Testing",
    ]

    /// Modules that only one target may import, whatever the table states.
    static let owners = ["CNettle": "CambiumProofs", "ArgumentParser": "CambiumCommand"]

    func violations(in file: TextFile) -> [Violation] {
        guard let target = file.target else { return [] }
        let allowed = Self.systemModules.union(table.imports[target] ?? [])
        return file.lines.enumerated().compactMap { index, line in
            guard let module = Self.module(importedBy: line) else { return nil }
            let isOwned = Self.owners[module].map { $0 == target } ?? true
            if isOwned, allowed.contains(module) { return nil }
            return Violation(path: file.path, line: index + 1, reason: "\(target) may not import \(module)")
        }
    }

    /// Returns the module's name if the line is an import declaration. Prose that begins with `import` has more words after the name.
    static func module(importedBy line: Substring) -> String? {
        guard line.contains("import") else { return nil }
        let declaration =
            #/
            \s* (?: @\w+ (?: \( [^)]* \) )? \s+ )*
            (?: (?: public | package | internal | fileprivate | private ) \s+ )?
            import \s+ (?: (?: struct | class | enum | protocol | typealias | func | let | var | actor ) \s+ )?
            (?<module> \w+ ) (?: \. \S+ )? \s* (?: ; .* | // .* )?
            /#
        return line.wholeMatch(of: declaration).map { String($0.module) }
    }
}
