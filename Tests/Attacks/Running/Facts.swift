import CambiumJSON

/// The values of a JSON object that a command printed, as text.
struct Facts {
    private let object: JSONValue?

    /// Creates an empty set of values if the text is not a JSON object.
    init(_ text: String) {
        do { object = try JSONValue(parsing: Array(text.utf8)) } catch { object = nil }
    }

    subscript(_ key: String) -> String? { object?[key]?.text }
}
