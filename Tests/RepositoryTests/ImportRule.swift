/// A target imports only what the module table and the list of system modules allow it to.
struct ImportRule {
    let table: ModuleTable

    /// Modules of the toolchain that any target may import without a row that says so. Crypto and ArgumentParser are not among
    /// them: the one is for the log, the other for the command line, and the table says so.
    static let systemModules: Set<String> = [
        "Foundation", "FoundationEssentials", "FoundationXML", "FoundationInternationalization", "Glibc", "Synchronization",
        "Dispatch", "Testing",
    ]

    /// Modules that one target alone may import, whatever the table says.
    static let owners = ["Crypto": "CambiumLog", "ArgumentParser": "CambiumCommand"]

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

    /// The module's name, if the line is an import declaration; prose that begins with the word has more words after it.
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
