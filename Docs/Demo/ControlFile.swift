/// Reads Debian control files (Debian policy, chapter 5): paragraphs of fields, separated by empty lines.
struct ControlFile {
    /// The fields of one paragraph. A field of several lines keeps its line feeds.
    typealias Paragraph = [Substring: String]

    private let lines: [Substring]
    private var next = 0

    init(_ bytes: [UInt8]) {
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the next paragraph, or `nil` at the end.
    mutating func paragraph() -> Paragraph? {
        while next < lines.count, lines[next].isEmpty { next += 1 }
        guard next < lines.count else { return nil }
        var fields: Paragraph = [:]
        var name = Substring()
        while next < lines.count, !lines[next].isEmpty {
            let line = lines[next]
            next += 1
            if line.first == " " || line.first == "\t" {
                fields[name]?.append("\n" + line.drop { $0 == " " || $0 == "\t" })
            } else if let colon = line.firstIndex(of: ":") {
                name = line[..<colon]
                fields[name] = String(line[line.index(after: colon)...].drop { $0 == " " })
            }
        }
        return fields
    }

    /// Returns the names in a list of dependencies, including alternatives, without versions and repetitions.
    static func names(_ dependencies: String?) -> [String] {
        var seen = Set<String>()
        return (dependencies ?? "").split { $0 == "," || $0 == "|" }.compactMap { part in
            let name = part.drop { $0 == " " || $0 == "\n" }.prefix { $0 != " " && $0 != "(" && $0 != ":" && $0 != "\n" }
            return !name.isEmpty && seen.insert(String(name)).inserted ? String(name) : nil
        }
    }
}
