/// A mistake in a query, and the position of the operand that contains the mistake.
package struct QueryMistake: Error {
    package private(set) var message: String
    package let offset: TextOffset
    /// The number of names in the operand's path that were resolved before the mistake was found.
    package let resolvedCount: Int
    /// Whether the mistake is a name that the schema does not have.
    private let isUnknownName: Bool

    package init(_ message: String, at offset: TextOffset, after resolvedCount: Int = 0) {
        self.message = message
        self.offset = offset
        self.resolvedCount = resolvedCount
        isUnknownName = false
    }

    /// Creates the mistake of a name that the schema does not have.
    package init(unknownName message: String, at offset: TextOffset, after resolvedCount: Int) {
        self.message = message
        self.offset = offset
        self.resolvedCount = resolvedCount
        isUnknownName = true
    }

    /// Returns the mistake with the advice to quote a text, if the mistake is an unknown name on the right side of `comparison`. Otherwise
    /// returns the mistake unchanged.
    package func advisingQuotes(in comparison: Comparison) -> Self {
        guard isUnknownName, let offset = offset.value else { return self }
        let operands = if case .list(let elements) = comparison.right.form { elements } else { [comparison.right] }
        for operand in operands where operand.offset.value == offset {
            guard case .path(let path) = operand.form, path.names.count == 1 else { continue }
            var mistake = self
            mistake.message += " If '\(path.description.excerpt)' is a text, write it in quotation marks."
            return mistake
        }
        return self
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
