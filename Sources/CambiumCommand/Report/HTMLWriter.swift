import CambiumJSON

/// Writes HTML. All texts from data are escaped, so that they can neither add markup nor hide or reorder characters.
struct HTMLWriter {
    private(set) var text = ""

    var byteCount: Int { text.utf8.count }

    /// Appends markup as it is.
    mutating func raw(_ markup: String) { text += markup }

    /// Appends a text from data.
    mutating func data(_ value: String) { text += Self.escaped(value) }

    mutating func append(_ other: HTMLWriter) { text += other.text }

    static func escaped(_ value: String) -> String {
        var result = ""
        for character in ControlText.escaped(value).unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
