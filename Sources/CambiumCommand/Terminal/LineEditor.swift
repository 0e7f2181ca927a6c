import CambiumJSON

/// A line of text that a person edits, with a history. The editor receives keys and knows nothing about the terminal.
struct LineEditor {
    /// The action that a pressed key requires.
    enum Outcome: Equatable {
        case edit
        case submit(String)
        /// The person has discarded the line.
        case cancel
        /// The input ends.
        case end
        /// The person requests completions.
        case complete
        /// The person requests an empty screen.
        case clear
        /// The person stops the program, in order to use the shell.
        case stop
    }

    /// A search backwards through the history.
    private struct Search {
        var pattern = ""
        /// The index of the found line in the history.
        var found: Int?
        /// The text of the line, and the cursor, as they were before the search.
        let saved: (text: [Character], cursor: Int)
    }

    private(set) var text: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0
    private(set) var history: LineHistory
    /// The characters that ctrl-u, ctrl-k, ctrl-w or alt-d last deleted. ctrl-y inserts them again.
    private var killed: [Character] = []
    private var search: Search?

    init(_ history: LineHistory = LineHistory()) { self.history = history }

    var line: String { String(text) }

    mutating func handle(_ key: Key) -> Outcome {
        if search != nil { return searched(key) }
        switch key {
        case .character(let character): insert([character])
        case .enter: return submit()
        case .tab: return .complete
        case .backspace, .control("h"): delete(from: cursor - 1, to: cursor)
        case .delete: delete(from: cursor, to: cursor + 1)
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(text.count, cursor + 1)
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        case .up, .control("p"): show(history.older(than: line))
        case .down, .control("n"): show(history.newer())
        case .control("u"): kill(from: 0, to: cursor)
        case .control("k"): kill(from: cursor, to: text.count)
        case .control("w"): kill(from: wordStart, to: cursor)
        case .deleteWord: kill(from: cursor, to: wordEnd)
        case .control("y"): insert(killed)
        case .control("r"): search = Search(saved: (text, cursor))
        case .control("l"): return .clear
        case .control("z"): return .stop
        case .control("c"): return cancel()
        case .control("d"):
            if text.isEmpty { return .end }
            delete(from: cursor, to: cursor + 1)
        case .control, .unknown: break
        }
        return .edit
    }

    /// Replaces the characters from `start` to the cursor.
    mutating func complete(from start: Int, with replacement: String) {
        delete(from: start, to: cursor)
        insert(Array(replacement))
    }

    // MARK: Changes

    private mutating func insert(_ characters: [Character]) {
        var characters = characters
        // The terminal sends a letter and its marks, and the parts of an emoji, one after the other. Together they are one character.
        if cursor > 0, let first = characters.first {
            let joint = String(text[cursor - 1]) + String(first)
            if joint.count == 1 {
                text[cursor - 1] = Character(joint)
                characters.removeFirst()
            }
        }
        text.insert(contentsOf: characters, at: cursor)
        cursor += characters.count
    }

    private mutating func delete(from start: Int, to end: Int) {
        guard start >= 0, start < end, end <= text.count else { return }
        text.removeSubrange(start..<end)
        cursor = start
    }

    private mutating func kill(from start: Int, to end: Int) {
        if start < end { killed = Array(text[start..<end]) }
        delete(from: start, to: end)
    }

    private mutating func show(_ line: String?) {
        guard let line else { return }
        text = Array(line)
        cursor = text.count
    }

    private mutating func submit() -> Outcome {
        let line = line
        history.add(line)
        show("")
        return .submit(line)
    }

    private mutating func cancel() -> Outcome {
        show("")
        return .cancel
    }

    private var wordStart: Int {
        let end = text[..<cursor].lastIndex { Self.isPartOfWord($0) } ?? 0
        return text[..<end].lastIndex { !Self.isPartOfWord($0) }.map { $0 + 1 } ?? 0
    }

    private var wordEnd: Int {
        let start = text[cursor...].firstIndex { Self.isPartOfWord($0) } ?? text.count
        return text[start...].firstIndex { !Self.isPartOfWord($0) } ?? text.count
    }

    private static func isPartOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }

    // MARK: Search

    private mutating func searched(_ key: Key) -> Outcome {
        guard var state = search else { return .edit }
        switch key {
        case .character(let character):
            state.pattern.append(character)
            state.found = history.search(state.pattern, before: state.found.map { $0 + 1 } ?? .max)
        case .control("r"): state.found = history.search(state.pattern, before: state.found ?? .max) ?? state.found
        case .backspace, .control("h"):
            state.pattern = String(state.pattern.dropLast())
            state.found = history.search(state.pattern, before: .max)
        case .control("g"), .control("c"):
            (text, cursor) = state.saved
            search = nil
            return .edit
        default:
            search = nil
            return key == .unknown ? .edit : handle(key)
        }
        search = state
        if let found = state.found { show(history.lines[found]) }
        return .edit
    }

    // MARK: Display

    /// Returns the prompt and the part of the text that fits after it into `width` columns of a terminal. Also returns the column of the
    /// cursor, counted from 0. A control character, which could change the display, is shown as a question mark. The prompt takes at most
    /// half of the columns.
    func screen(prompt: String, width: Int) -> (line: String, column: Int) {
        let prompt = Self.end(
            of: search.map { "(search '\($0.pattern)'\($0.found == nil && !$0.pattern.isEmpty ? ": nothing" : "")) " } ?? prompt,
            columnCount: width / 2)
        let space = max(1, width - prompt.columnCount - 1)
        var (start, column) = (cursor, 0)
        while start > 0 {
            let count = Self.shown(text[start - 1]).columnCount
            if column + count > space { break }
            (start, column) = (start - 1, column + count)
        }
        let visible = String(text[start...].prefix(space * 2).map(Self.shown)).prefix(columnCount: space)
        return (prompt + visible, prompt.columnCount + column)
    }

    private static func shown(_ character: Character) -> Character {
        ControlText.escaped(String(character)) == String(character) ? character : "?"
    }

    /// Returns the longest end of `text` that fits into a number of columns. Control characters are shown as question marks.
    private static func end(of text: String, columnCount: Int) -> String {
        let shown = String(text.map(Self.shown))
        if shown.columnCount <= columnCount { return shown }
        return String(String(shown.reversed()).prefix(columnCount: columnCount).reversed())
    }
}
