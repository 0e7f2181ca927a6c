import CambiumJSON
import Glibc

/// The terminal at standard input and output, in a mode in which it passes each key to the program. This type makes all system calls of the
/// line editor.
struct RawTerminal {
    /// The settings that the terminal had before `begin`.
    private let saved: termios
    /// The settings with which the terminal passes each key to the program.
    private let raw: termios
    private let signals: SignalPipe

    /// An event that the person or a signal caused.
    enum Input {
        case bytes([UInt8])
        /// A signal that has the same effect as ctrl-c.
        case interruption
        /// The program was stopped and continues, so the screen may show other text.
        case continuation
        case end
    }

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
    /// the terminal does not support this mode. Until it calls `end`, the caller must call `input` repeatedly, because signals take effect
    /// only in `input`.
    static func begin(_ signals: SignalPipe) -> RawTerminal? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let saved = settings
        cfmakeraw(&settings)
        // The commands end each line of their output with LF alone, so the terminal must add the CR.
        settings.c_oflag |= tcflag_t(OPOST)
        let terminal = RawTerminal(saved: saved, raw: settings, signals: signals)
        return terminal.apply(settings, TCSADRAIN) ? terminal : nil
    }

    /// Restores the settings that the terminal had before `begin`.
    func end() { _ = apply(saved, TCSADRAIN) }

    private func apply(_ settings: termios, _ action: Int32) -> Bool {
        var settings = settings
        return tcsetattr(STDIN_FILENO, action, &settings) == 0
    }

    /// Waits for keys or a signal. If a signal ends the program, the settings of the terminal are restored first.
    func input() -> Input {
        while true {
            let events = signals.wait(forInputOf: STDIN_FILENO)
            for number in events.signals where number != SIGINT {
                if number == SIGCONT { _ = apply(raw, TCSADRAIN) } else { pass(number) }
            }
            if events.signals.last == SIGINT { return .interruption }
            if !events.signals.isEmpty { return .continuation }
            guard events.hasInput else { continue }
            let bytes = Self.read()
            return bytes.isEmpty ? .end : .bytes(bytes)
        }
    }

    /// Stops the program until the shell continues it.
    func stop() { pass(SIGTSTP) }

    /// Restores the terminal while a signal has its default effect.
    private func pass(_ number: Int32) {
        // In the background, the program does not own the terminal, and a change of the settings would stop the program.
        let group = tcgetpgrp(STDIN_FILENO)
        if group < 0 || group == getpgrp() { _ = apply(saved, TCSANOW) }
        signals.deliver(number)
        _ = apply(raw, TCSADRAIN)
    }

    /// Returns the next bytes; no bytes at the end of the input. Waits for at least one byte.
    private static func read() -> [UInt8] {
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
