#if Macros
    /// A section of the golden file: a source, and the reports of the macros as text.
    struct GoldenCase {
        let title: String
        let source: String
        /// The section as the file has it.
        let text: String

        /// The text that the section must have.
        var expected: String {
            let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "    \($0)" }
            let blocks = ["== \(title)", lines.joined(separator: "\n")] + MacroSource(source).reports.map { describe($0) }
            return blocks.joined(separator: "\n\n") + "\n"
        }

        private func describe(_ report: MacroSource.Report) -> String {
            (["\(report.line):\(report.column) \(report.kind)", report.message] + report.fixes.flatMap { describe($0) }).joined(
                separator: "\n")
        }

        /// Returns the title of a fix, and the lines that it changes.
        private func describe(_ fix: MacroSource.Fix) -> [String] {
            let old = source.split(separator: "\n", omittingEmptySubsequences: false)
            let new = fix.source.split(separator: "\n", omittingEmptySubsequences: false)
            let changed = new.enumerated().filter { $0.offset >= old.count || old[$0.offset] != $0.element }.map { "    + \($0.element)" }
            return ["fix: \(fix.title)"] + (changed.isEmpty ? ["    - removes a line"] : changed)
        }

        /// Returns the introduction and the sections of a golden file.
        static func parse(_ text: String) -> (introduction: String, cases: [GoldenCase]) {
            let parts = text.split(separator: "\n== ", omittingEmptySubsequences: false)
            let cases = parts.dropFirst().map { part in
                let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
                let source = lines.dropFirst(2).prefix { $0.isEmpty || $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
                let end = source.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0
                let text = "== " + part + (part.hasSuffix("\n") ? "" : "\n")
                return GoldenCase(title: String(lines[0]), source: source[..<end].joined(separator: "\n"), text: text)
            }
            return (String(parts.first ?? ""), cases)
        }
    }
#endif
