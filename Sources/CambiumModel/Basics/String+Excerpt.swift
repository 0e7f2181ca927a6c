internal import CambiumJSON

extension String {
    /// The text as a message states it: cut if it is long, and with control characters as escapes. A name that the schema does not have may
    /// have millions of characters.
    package var excerpt: String { Excerpt.plain(self) }
}
