import CambiumJSON

#if canImport(Glibc)
    import Glibc
#endif

/// The terminal at standard input and output, in a mode in which it passes each key to the program. This type makes all system calls of the
/// line editor.
struct RawTerminal {
    private let saved: termios

    /// Whether standard input and output are a terminal that interprets escape sequences.
    static var isUsable: Bool {
        let name = getenv("TERM").map { String(cString: $0) }
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && name != nil && name != "dumb"
    }

    /// The number of columns of standard output, or `nil` if it is not a terminal.
    static var width: Int? { width(of: STDOUT_FILENO) }

    /// Returns the number of columns of a terminal, or `nil` if the descriptor is not a terminal.
    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Switches the terminal to a mode in which it passes each key to the program immediately, and does not show the key. Returns `nil` if
    /// the terminal does not support this mode.
    static func begin() -> RawTerminal? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let terminal = RawTerminal(saved: settings)
        cfmakeraw(&settings)
        // The commands end each line of their output with LF alone, so the terminal must add the CR.
        settings.c_oflag |= tcflag_t(OPOST)
        return tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 ? terminal : nil
    }

    /// Restores the settings that the terminal had before `begin`.
    func end() {
        var settings = saved
        _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// Returns the next bytes; no bytes at the end of the input. Waits for at least one byte.
    static func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 256)
        while true {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 { return Array(bytes[..<count]) }
            if errno != EINTR { return [] }
        }
    }

    /// Replaces the current line with another line.
    static func show(_ line: String, cursorAt column: Int) {
        let move = column > 0 ? "\u{1B}[\(column)C" : ""
        Terminal.write(Array("\r\(line)\u{1B}[K\r\(move)".utf8))
    }

    static func clear() { Terminal.write(Array("\u{1B}[H\u{1B}[2J".utf8)) }
}
