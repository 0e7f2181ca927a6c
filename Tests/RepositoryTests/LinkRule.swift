import Foundation

/// Requires that a relative link in a document leads to a file of the repository.
struct LinkRule {
    static let places = ["README.md", "CHANGELOG.md", "Docs"]

    /// Returns whether a path, relative to the repository's root, exists.
    let exists: (String) -> Bool

    func violations(in file: TextFile) -> [Violation] {
        let directory = (file.path as NSString).deletingLastPathComponent
        return Self.destinations(in: file).compactMap { line, destination in
            let path = destination.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            if path.isEmpty || destination.contains(":") { return nil }
            let decoded = String(path).removingPercentEncoding ?? String(path)
            let resolved = Self.resolve(decoded, from: directory)
            if let resolved, exists(resolved) { return nil }
            return Violation(path: file.path, line: line, reason: "links to \(destination), which does not exist")
        }
    }

    /// Returns the destinations of inline links and of link definitions, with their lines. Skips code.
    private static func destinations(in file: TextFile) -> [(line: Int, destination: String)] {
        var destinations: [(line: Int, destination: String)] = []
        var isCode = false
        for (index, line) in file.lines.enumerated() {
            if line.drop(while: \.isWhitespace).hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                let prose = line.replacing(#/`[^`]*`/#, with: "")
                let found =
                    prose.matches(of: #/\]\(\s*<?([^)\s>]+)/#).map { String($0.1) }
                    + prose.matches(of: #/^\s*\[[^\]]+\]:\s*<?([^\s>]+)/#).map { String($0.1) }
                destinations += found.map { (index + 1, $0) }
            }
        }
        return destinations
    }

    /// Returns the path from the root. Returns `nil` if it leaves the repository or is absolute, and thus different on each machine.
    private static func resolve(_ path: String, from directory: String) -> String? {
        if path.hasPrefix("/") { return nil }
        var parts = directory.split(separator: "/")
        for part in path.split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.joined(separator: "/")
    }
}
