/// A mistake in a query, and the position of the operand that has it.
package struct QueryMistake: Error {
    package let message: String
    package let offset: TextOffset
    /// The number of names in the operand's path that were resolved before the mistake was found.
    package let resolvedCount: Int

    package init(_ message: String, at offset: TextOffset, after resolvedCount: Int = 0) {
        self.message = message
        self.offset = offset
        self.resolvedCount = resolvedCount
    }

    /// Whether this mistake is later in the text of the query than another mistake.
    package func isFarther(than other: Self) -> Bool {
        (offset.value ?? 0, resolvedCount) > (other.offset.value ?? 0, other.resolvedCount)
    }

    /// - Parameter text: The text of the condition, if the condition was parsed from a text.
    package func error(in text: String?) -> CambiumError {
        let place = text.flatMap { text in offset.value.map { CambiumError.Place(offset: $0, in: text) } }
        return CambiumError(.invalidInput, message, place: place)
    }
}
