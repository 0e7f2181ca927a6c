import CambiumModel

/// A mistake in a query, and the operand in which it was found.
struct QueryMistake: Error {
    let message: String
    let offset: TextOffset

    init(_ message: String, at offset: TextOffset) {
        self.message = message
        self.offset = offset
    }

    /// - Parameter text: The text of the condition, if the condition was parsed from a text.
    func error(in text: String?) -> CambiumError {
        let place = text.flatMap { text in offset.value.map { CambiumError.Place(offset: $0, in: text) } }
        return CambiumError(.invalidInput, message, place: place)
    }
}
