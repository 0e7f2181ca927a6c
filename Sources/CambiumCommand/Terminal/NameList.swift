/// Reads comma-separated names or ids in arguments. Spaces around a name or an id are omitted, as in lists of paths and of sort keys.
enum NameList {
    /// Returns the names in all texts. Empty names are omitted.
    static func names(in texts: [String]) -> [String] {
        texts.flatMap { $0.split(separator: ",") }.map(trimmed).filter { !$0.isEmpty }
    }

    static func trimmed(_ text: Substring) -> String {
        guard let end = text.lastIndex(where: { $0 != " " }) else { return "" }
        return String(text[...end].drop { $0 == " " })
    }
}
