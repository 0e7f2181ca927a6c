/// The previously entered lines, and a position among them.
struct LineHistory {
    /// The number of lines that are kept.
    static let countMax = 1000

    /// The lines, the newest one last.
    private(set) var lines: [String]
    /// The index of the line that is shown, or the number of lines if the new line is shown.
    private var position: Int
    /// The new line, kept while an earlier line is shown.
    private var draft = ""
    /// The file to which each new line is added; `nil` if the history ends with the process.
    private let file: HistoryFile?

    init(_ lines: [String] = [], file: HistoryFile? = nil) {
        self.lines = lines.suffix(Self.countMax)
        self.file = file
        position = self.lines.count
    }

    /// Creates a history with the lines of a file. New lines are added to the file.
    init(_ file: HistoryFile) { self.init(file.lines(), file: file) }

    /// Adds a line. Returns `false` and adds nothing if the line is empty or the same as the last one.
    @discardableResult
    mutating func add(_ line: String) -> Bool {
        defer { position = lines.count }
        if line.allSatisfy(\.isWhitespace) || line == lines.last { return false }
        lines.append(line)
        if lines.count > Self.countMax { lines.removeFirst() }
        file?.add(line)
        return true
    }

    /// Returns the preceding line, or `nil` if there is no such line.
    ///
    /// - Parameter current: The text in the editor, which stays available as the newest line.
    mutating func older(than current: String) -> String? {
        guard position > 0 else { return nil }
        if position == lines.count { draft = current }
        position -= 1
        return lines[position]
    }

    /// Returns the next line, or `nil` if the newest line is shown.
    mutating func newer() -> String? {
        guard position < lines.count else { return nil }
        position += 1
        return position == lines.count ? draft : lines[position]
    }

    /// Returns the index of the newest line before `end` that contains `text`.
    func search(_ text: String, before end: Int) -> Int? {
        if text.isEmpty { return nil }
        return lines[..<min(end, lines.count)].lastIndex { $0.contains(text) }
    }
}
