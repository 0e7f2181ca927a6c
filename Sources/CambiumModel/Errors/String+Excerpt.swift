internal import CambiumJSON

extension String {
    /// The text as a message shows it: shortened if it is long, and with escapes for control characters. A message may quote a name that a
    /// caller passed, and such a name may have millions of characters.
    package var excerpt: String { Excerpt.plain(self) }
}
