/// A mistake in a query, and the position of the operand that contains the mistake.
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

    /// Returns the mistake of a sort key that ignores case or diacritics although the value of the key is not a text.
    package static func noCase(_ operand: Operand, _ kind: ValueKind, at offset: TextOffset) -> Self {
        Self("'\(operand)' is \(kind.text), but the option in brackets is only for texts. Remove the option.", at: offset)
    }

    /// Returns the mistake of a comparison with `like` or `matches` whose pattern is not a constant, or whose left side is not a path.
    package static func noPattern(_ comparison: Comparison) -> Self {
        Self(
            "'\(comparison.relation.text)' needs a path and a constant pattern. Write the path on its left side, and a string or a "
                + "parameter on its right side.", at: comparison.right.offset)
    }

    /// Returns whether this mistake is later in the text of the query than another mistake. At the same offset, the mistake after more
    /// resolved names is later.
    package func isFarther(than other: Self) -> Bool {
        (offset.value ?? 0, resolvedCount) > (other.offset.value ?? 0, other.resolvedCount)
    }

    /// - Parameter text: The text of the condition, if the condition was parsed from a text.
    package func error(in text: String?) -> CambiumError {
        let place = text.flatMap { text in offset.value.map { CambiumError.Place(offset: $0, in: text) } }
        return CambiumError(.invalidInput, message, place: place)
    }
}
