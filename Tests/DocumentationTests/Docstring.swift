import Foundation

/// The comment before a declaration.
struct Docstring {
    /// The path of the file in the repository.
    let path: String
    /// The first line of the declaration, with its indentation.
    let declaration: String
    /// The lines of the comment, without the slashes and the space after them.
    let lines: [String]

    /// Returns the docstrings of a source.
    static func all(in text: String, path: String) -> [Docstring] {
        var docstrings: [Docstring] = []
        var comment: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let code = line.drop { $0 == " " }
            if code.hasPrefix("///") {
                comment.append(String(code.dropFirst(code.hasPrefix("/// ") ? 4 : 3)))
            } else if !comment.isEmpty, !isAttribute(code) {
                docstrings.append(Docstring(path: path, declaration: String(line), lines: comment))
                comment = []
            }
        }
        return docstrings
    }

    /// Returns the docstrings of modules.
    static func all(of modules: [String]) throws -> [Docstring] {
        try modules.flatMap { module in
            let folder = "Sources/\(module)"
            let paths = try FileManager.default.subpathsOfDirectory(atPath: Document.root.appending(path: folder).path)
            return try paths.filter { $0.hasSuffix(".swift") }.sorted().flatMap { path in
                let file = Document.root.appending(path: "\(folder)/\(path)")
                return all(in: try String(contentsOf: file, encoding: .utf8), path: "\(folder)/\(path)")
            }
        }
    }

    /// Whether a line contains an attribute and nothing else, such as `@dynamicMemberLookup`.
    private static func isAttribute(_ code: Substring) -> Bool { code.hasPrefix("@") && !code.contains(" ") }

    /// The name of the type that the comment describes; `nil` if the declaration is not a public type, or is inside of another type.
    var publicType: String? {
        guard !declaration.hasPrefix(" ") else { return nil }
        let words = declaration.split(separator: " ").filter { !["final", "indirect"].contains($0) && !$0.hasPrefix("@") }
        guard words.count > 2, words[0] == "public", ["class", "struct", "enum", "protocol"].contains(words[1]) else { return nil }
        return String(words[2].prefix { $0.isLetter || $0.isNumber })
    }

    /// Whether programs see the comment in the documentation.
    var isPublic: Bool { declaration.split(separator: " ").contains { $0 == "public" || $0 == "extension" } }

    /// The pieces of Swift code, without space at the ends of lines.
    var snippets: [String] {
        var snippets: [String] = []
        var block: (kind: String, code: [String])?
        for line in lines {
            if !line.hasPrefix("```") {
                block?.code.append(line)
            } else if let ended = block {
                if ended.kind == "swift" { snippets.append(Document.trimmed(ended.code.joined(separator: "\n"))) }
                block = nil
            } else {
                block = (String(line.dropFirst(3)), [])
            }
        }
        return snippets
    }

    /// Whether the comment has code without a fence: an indented line after an empty line.
    var hasUnfencedCode: Bool {
        var (isInCode, isAfterEmpty) = (false, false)
        for line in lines {
            if line.hasPrefix("```") { isInCode.toggle() }
            if !isInCode, isAfterEmpty, line.hasPrefix("    ") { return true }
            isAfterEmpty = line.isEmpty
        }
        return false
    }
}
