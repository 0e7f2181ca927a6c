internal import CambiumJSON

extension String {
    /// The text in the form for a message: cut if it is long, and with control characters as escapes. An unknown name that a caller passes
    /// may have millions of characters.
    package var excerpt: String { Excerpt.plain(self) }
}
