import CambiumJSON

/// Values in aligned columns. Control characters in values are escaped.
struct TextTable {
    private let titles: [String]
    private let rows: [[String]]
    /// For each column, whether its values are right-aligned.
    private let alignsRight: [Bool]
    private static let gap = "  "
    /// The minimum width to which a column of the table is cut, in character cells of the terminal.
    private static let widthMin = 8

    /// - Parameter alignsRight: For each column, whether it contains numbers.
    init(_ titles: [String], _ rows: [[String]], alignsRight: [Bool]) {
        self.titles = titles.map(ControlText.escaped)
        self.rows = rows.map { $0.map(ControlText.escaped) }
        self.alignsRight = alignsRight
    }

    /// Returns the lines of the table: the titles, and the rows.
    ///
    /// - Parameter width: The number of columns of the terminal; `nil` for no limit. The widest columns of the table
    ///   are cut to fit.
    func lines(width: Int?) -> [String] {
        let widths = widths(width)
        let lines = ([titles] + rows).map { line($0, widths) }
        return width.map { width in lines.map { Self.cut($0, to: width) } } ?? lines
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var parts: [String] = []
        for (index, cell) in cells.enumerated() {
            let text = Self.cut(cell, to: widths[index])
            let space = String(repeating: " ", count: max(0, widths[index] - text.columnCount))
            parts.append(alignsRight[index] ? space + text : text + space)
        }
        let line = parts.joined(separator: Self.gap)
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    private func widths(_ limit: Int?) -> [Int] {
        var widths = titles.indices.map { index in
            rows.reduce(titles[index].columnCount) { max($0, $1[index].columnCount) }
        }
        guard let limit else { return widths }
        // First, each column is limited to the width of the terminal. Then the widest columns are cut, so that short texts stay complete.
        widths = widths.map { min($0, max(limit, Self.widthMin)) }
        var excess = widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - limit
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.widthMin {
            // The widest column is cut to the width of the second widest, so that columns of the same width are cut equally.
            let next = widths.enumerated().filter { $0.offset != widest }.map(\.element).max() ?? 0
            let loss = min(excess, max(1, widths[widest] - max(next, Self.widthMin)))
            widths[widest] -= loss
            excess -= loss
        }
        return widths
    }

    /// Returns the beginning of `text` that fits into a number of columns. Control characters in the text are escaped already.
    static func cut(_ text: String, to width: Int) -> String {
        text.columnCount > width ? text.prefix(columnCount: max(0, width - 1)) + "…" : text
    }
}
