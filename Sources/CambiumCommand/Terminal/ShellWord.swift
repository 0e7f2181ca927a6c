import Glibc

/// A word of a command line as a user writes it, with the quotes and escapes of the shell. bash and zsh pass such words for completion.
enum ShellWord {
    /// Returns the text that the shell passes to a program for a word: without quotes and escapes, and with the home directory in place of
    /// `~`. Variables and patterns are not replaced.
    static func text(of word: String, home: String? = getenv("HOME").map { String(cString: $0) }) -> String {
        var text = ""
        var quote: Character?
        var characters = word[...]
        if let home, word == "~" || word.hasPrefix("~/") {
            text = home
            characters = characters.dropFirst()
        }
        while let character = characters.popFirst() {
            switch (character, quote) {
            case ("'", nil), ("\"", nil): quote = character
            case (let end, let begin?) where end == begin: quote = nil
            case ("\\", nil): if let escaped = characters.popFirst() { text.append(escaped) }
            case ("\\", "\""?) where characters.first.map { "\\\"$`".contains($0) } == true: text.append(characters.removeFirst())
            default: text.append(character)
            }
        }
        return text
    }

    /// Returns a word that the shell passes to a program as `text`.
    static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { isWordByte($0) || [0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x5F].contains($0) }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte >= 0x80
    }
}
