extension CambiumError.Place {
    /// Creates the place of a byte in `utf8`, a text. An offset beyond the end is treated as the end. Complexity: O(`offset`).
    package init(offset: Int, in utf8: some Collection<UInt8>) {
        var (line, column) = (1, 1)
        for byte in utf8.prefix(max(0, offset)) {
            column += 1
            if byte == 0x0A { (line, column) = (line + 1, 1) }
        }
        self.init(line: line, column: column)
    }

    /// Creates the place of a byte in `text`. An offset beyond the end is treated as the end. Complexity: O(`offset`).
    package init(offset: Int, in text: String) { self.init(offset: offset, in: text.utf8) }
}

extension TextOffset {
    /// Returns the line and the column of the offset in the text that was parsed, or `nil` for an operand that was not parsed.
    package func place(in text: String) -> CambiumError.Place? { value.map { CambiumError.Place(offset: $0, in: text) } }
}
