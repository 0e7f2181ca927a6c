import Cambium

/// Reads lines from a person at a terminal.
final class PromptTerminal {
    private var editor: LineEditor
    private var decoder = KeyDecoder()
    /// The bytes that were read from the terminal, but not yet decoded as keys.
    private var bytes: ArraySlice<UInt8> = []
    private let signals: SignalPipe
    private static let standardWidth = 80

    init(_ file: HistoryFile?, _ signals: SignalPipe) {
        editor = LineEditor(file.map { LineHistory($0) } ?? LineHistory())
        self.signals = signals
    }

    /// Returns the next line, or `nil` if the person ends the input.
    ///
    /// - Parameter complete: Returns the completion of the line up to the cursor.
    func next(_ prompt: String, complete: (String) -> PromptCompletion) -> String? {
        guard let terminal = RawTerminal.begin(signals) else { return nil }
        defer { terminal.end() }
        show(prompt)
        while let key = key(terminal) {
            switch editor.handle(key) {
            case .edit: break
            case .submit(let line):
                Terminal.write(Array("\n".utf8))
                return line
            case .cancel: Terminal.write(Array("^C\n".utf8))
            case .end:
                Terminal.write(Array("\n".utf8))
                return nil
            case .complete: self.complete(complete(String(editor.text[..<editor.cursor])))
            case .clear: RawTerminal.clear()
            case .stop: terminal.stop()
            }
            show(prompt)
        }
        return nil
    }

    private func show(_ prompt: String) {
        let (line, column) = editor.screen(prompt: prompt, width: RawTerminal.width ?? Self.standardWidth)
        RawTerminal.show(line, cursorAt: column)
    }

    /// Returns the next key, or `nil` at the end of the input.
    private func key(_ terminal: RawTerminal) -> Key? {
        while true {
            while let byte = bytes.popFirst() {
                if let key = decoder.push(byte) { return key }
            }
            switch terminal.input() {
            case .bytes(let more): bytes = more[...]
            case .interruption: return .control("c")
            // The editor ignores this key, and the line is shown again.
            case .continuation: return .unknown
            case .end: return nil
            }
        }
    }

    /// Completes the word before the cursor up to the first letter in which the candidates differ. If no letter can be added, lists the
    /// candidates.
    private func complete(_ completion: PromptCompletion) {
        guard let first = completion.candidates.first else { return }
        let common = completion.commonPrefix
        if completion.candidates.count == 1 {
            editor.complete(from: completion.start, with: first)
        } else if common.count > completion.word.count {
            editor.complete(from: completion.start, with: common)
        } else {
            Terminal.write(Array("\n".utf8))
            let names = completion.candidates.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
            Columns.lines(names, width: RawTerminal.width ?? Self.standardWidth).forEach(Terminal.print)
        }
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
