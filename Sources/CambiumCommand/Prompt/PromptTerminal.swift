import CLineEditor
import Cambium
import CambiumJSON
import Glibc

/// Reads lines from a person at the terminal at standard input and output. The system's libedit edits the line, and keeps and searches the
/// history.
final class PromptTerminal {
    private let signals: SignalPipe
    private let file: HistoryFile?
    private var editor: OpaquePointer?
    private var bytes: ArraySlice<UInt8> = []
    private var complete: (String) -> PromptCompletion? = { _ in nil }
    /// Whether ctrl-c or a signal has ended the last call of the editor.
    private var isInterrupted = false
    private var last: String?
    private static let standardWidth = 80

    /// Whether standard input and output are a terminal that interprets escape sequences.
    static var isUsable: Bool {
        let name = getenv("TERM").map { String(cString: $0) }
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && name != nil && name != "dumb"
    }

    init(_ file: HistoryFile?, _ signals: SignalPipe) throws(CambiumError) {
        (self.file, self.signals) = (file, signals)
        let calls = line_editor_calls(
            context: Unmanaged.passUnretained(self).toOpaque(), read: { PromptTerminal.at($0).read(into: $1) },
            complete: { context, text, count in
                let line = UnsafeBufferPointer(start: text, count: Int(count)).map { UInt8(bitPattern: $0) }
                return PromptTerminal.at(context).completeName(String(decoding: line, as: UTF8.self))
            })
        editor = line_editor_create(calls, Int32(HistoryFile.lineCountKept))
        guard let editor else { throw CambiumError(.ioFailure, "The prompt has too little memory. End other programs, and try again.") }
        for line in file?.lines() ?? [] {
            line_editor_remember(editor, line)
            last = line
        }
    }

    deinit {
        if let editor { line_editor_destroy(editor) }
    }

    /// Returns the next line, or `nil` if the person ends the input.
    ///
    /// - Parameter complete: Returns the completion of the line up to the cursor.
    func next(_ prompt: String, complete: @escaping (String) -> PromptCompletion) -> String? {
        self.complete = complete
        while true {
            isInterrupted = false
            guard let line = read(after: ControlText.escaped(prompt)) else {
                Terminal.write(Array((isInterrupted ? "^C\n" : "\n").utf8))
                if isInterrupted { continue }
                return nil
            }
            remember(line)
            return line
        }
    }

    private func read(after prompt: String) -> String? {
        guard let line = prompt.withCString({ prompt in line_editor_read(editor, prompt).map { String(cString: $0) } }) else { return nil }
        // The last line of an input that ends may lack its end.
        return line.hasSuffix("\n") ? String(line.dropLast()) : line
    }

    private func remember(_ line: String) {
        if line == last || line.allSatisfy(\.isWhitespace) { return }
        line_editor_remember(editor, line)
        file?.add(line)
        last = line
    }

    // MARK: Calls of the editor

    private static func at(_ context: UnsafeMutableRawPointer?) -> PromptTerminal {
        // SAFETY: the terminal passed itself as the context, and it destroys the editor before it ends.
        Unmanaged<PromptTerminal>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Waits for a character. If a signal ends or stops the program, the settings of the terminal are restored first.
    private func read(into character: UnsafeMutablePointer<wchar_t>?) -> Int32 {
        while true {
            while let scalar = nextScalar() {
                switch scalar.value {
                case 0x03: return interrupt()
                case 0x1A: pass(SIGTSTP)
                default:
                    character?.pointee = wchar_t(scalar.value)
                    return 1
                }
            }
            let events = signals.wait(forInputOf: STDIN_FILENO)
            for number in events.signals where number != SIGINT { number == SIGCONT ? resume() : pass(number) }
            if events.signals.last == SIGINT { return interrupt() }
            guard events.hasInput, events.signals.isEmpty else { continue }
            let more = Self.input()
            if more.isEmpty { return 0 }
            bytes += more
        }
    }

    private func interrupt() -> Int32 {
        isInterrupted = true
        return -1
    }

    /// Returns the first character of `bytes`, and removes it; `nil` if it is incomplete. Bytes that are not UTF-8 are left out.
    private func nextScalar() -> Unicode.Scalar? {
        while let first = bytes.first {
            let count = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            if bytes.count < count { return nil }
            if let text = String(validating: bytes.prefix(count), as: UTF8.self) {
                bytes.removeFirst(count)
                return text.unicodeScalars.first
            }
            bytes.removeFirst()
        }
        return nil
    }

    /// Returns the next bytes of standard input; no bytes at its end.
    private static func input() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 256)
        while true {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 { return Array(bytes[..<count]) }
            if errno != EINTR { return [] }
        }
    }

    /// Restores the terminal while a signal has its default effect.
    private func pass(_ number: Int32) {
        // In the background, the program does not own the terminal, and a change of the settings would stop the program.
        let group = tcgetpgrp(STDIN_FILENO)
        if group < 0 || group == getpgrp() { line_editor_suspend(editor) }
        signals.deliver(number)
        resume()
    }

    private func resume() {
        line_editor_resume(editor)
        line_editor_refresh(editor)
    }

    /// Completes the word before the cursor up to the first letter in which the candidates differ. If no letter can be added, lists the
    /// candidates. Returns whether they were listed.
    private func completeName(_ text: String) -> Bool {
        guard let completion = complete(text), let first = completion.candidates.first else { return false }
        let common = completion.commonPrefix
        if completion.candidates.count == 1 || common.count > completion.word.count {
            let new = completion.candidates.count == 1 ? first : common
            line_editor_replace(editor, Int32(completion.word.unicodeScalars.count), new)
            return false
        }
        let names = completion.candidates.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
        Terminal.write(Array("\n".utf8))
        Columns.lines(names, width: Terminal.width ?? Self.standardWidth).forEach(Terminal.print)
        return true
    }
}

/// Arranges short texts in columns.
enum Columns {
    static func lines(_ texts: [String], width: Int) -> [String] {
        let column = (texts.map(\.columnCount).max() ?? 0) + 2
        let count = max(1, width / column)
        return stride(from: 0, to: texts.count, by: count).map { start in
            let line = texts[start..<min(start + count, texts.count)]
            return line.dropLast().map { $0.padded(to: column) }.joined() + (line.last ?? "")
        }
    }
}
