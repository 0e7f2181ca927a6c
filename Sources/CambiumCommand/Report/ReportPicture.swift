import Cambium

/// The pictures of a report, as inline SVG with a title and a description.
enum ReportPicture {
    /// The maximum number of bars in the picture of activity.
    static let barCountMax = 60
    /// The width of a bar if there are only a few.
    private static let barWidthMax = 40.0
    /// The maximum number of objects in the picture of clones.
    static let nodeCountMax = 300

    /// Writes bars with the numbers of transactions in equal periods of time.
    static func writeActivity(_ counts: [Int], from first: Timestamp, to last: Timestamp, to page: inout HTMLWriter) {
        let (width, height) = (800, 150)
        let most = max(counts.max() ?? 0, 1)
        let step = Double(width) / Double(max(counts.count, 1))
        page.raw(#"<svg class="chart" viewBox="0 0 \#(width) \#(height + 44)" role="img" aria-labelledby="at ad">"#)
        page.raw(#"<title id="at">Transactions over time</title><desc id="ad">"#)
        page.data("\(counts.count) equal periods from \(first) to \(last). The busiest period has \(Readable.of(most, "transaction")).")
        page.raw("</desc>")
        for (index, count) in counts.enumerated() where count > 0 {
            let size = max(2, count * height / most)
            let (x, bar) = (tenths(Double(index) * step), tenths(min(barWidthMax, max(1, step - 2))))
            page.raw(#"<rect class="bar" x="\#(x)" y="\#(height + 12 - size)" width="\#(bar)" height="\#(size)"/>"#)
        }
        page.raw(#"<line class="axis" x1="0" y1="\#(height + 12)" x2="\#(width)" y2="\#(height + 12)"/>"#)
        page.raw(#"<text class="s" x="0" y="11">most: \#(Readable.count(most))</text>"#)
        page.raw(#"<text class="s" x="0" y="\#(height + 32)">"#)
        page.data(day(first))
        page.raw(#"</text><text class="s" x="\#(width)" y="\#(height + 32)" text-anchor="end">"#)
        page.data(day(last))
        page.raw("</text></svg>")
    }

    /// Returns a time up to its minutes.
    private static func day(_ time: Timestamp) -> String { time.description.prefix(16).replacing("T", with: " ") + " UTC" }

    private static func tenths(_ value: Double) -> String {
        let scaled = Int((value * 10).rounded())
        return "\(scaled / 10).\(scaled % 10)"
    }

    /// An object in the picture of clones.
    struct Node {
        let name: String
        /// The transaction that made the copy; `nil` for an object that is not a copy.
        var transaction: TransactionNumber?
        /// Whether the object still exists.
        let exists: Bool
    }

    /// Writes a forest of objects: each copy is to the right of the object of which it is a copy.
    static func writeClones(_ nodes: [ObjectID: Node], _ copies: [ObjectID: [ObjectID]], roots: [ObjectID], to page: inout HTMLWriter) {
        let (boxWidth, boxHeight, columnWidth, rowHeight) = (190, 42, 240, 56)
        var places: [ObjectID: (column: Int, row: Int)] = [:]
        var (rowCount, columnCount) = (0, 1)
        // A path of the walk; deep chains of clones need no recursion.
        var stack: [(id: ObjectID, column: Int)] = roots.reversed().map { ($0, 0) }
        var edges: [(ObjectID, ObjectID)] = []
        var previous = -1
        while let (id, column) = stack.popLast() {
            guard places[id] == nil else { continue }
            if previous >= column { rowCount += 1 }
            places[id] = (column, rowCount)
            (previous, columnCount) = (column, max(columnCount, column + 1))
            for copy in (copies[id] ?? []).reversed() {
                edges.append((id, copy))
                stack.append((copy, column + 1))
            }
        }
        let (width, height) = (columnCount * columnWidth - columnWidth + boxWidth + 4, (rowCount + 1) * rowHeight)
        page.raw(#"<svg width="\#(width)" height="\#(height)" viewBox="0 0 \#(width) \#(height)" role="img" aria-labelledby="ct cd">"#)
        page.raw(#"<title id="ct">Lineage of clones</title><desc id="cd">"#)
        page.data("\(Readable.of(places.count, "object")). Each line leads from an object to a copy of it, which is further to the right.")
        page.raw("</desc>")
        for (from, to) in edges {
            guard let start = places[from], let end = places[to] else { continue }
            let (x, y) = (start.column * columnWidth + boxWidth + 2, start.row * rowHeight + 2 + boxHeight / 2)
            let (endX, endY) = (end.column * columnWidth + 2, end.row * rowHeight + 2 + boxHeight / 2)
            page.raw(#"<path class="edge" d="M\#(x) \#(y)C\#(x + 25) \#(y) \#(endX - 25) \#(endY) \#(endX) \#(endY)"/>"#)
        }
        for (id, place) in places.sorted(by: { $0.value.row != $1.value.row ? $0.value.row < $1.value.row : $0.key < $1.key }) {
            guard let node = nodes[id] else { continue }
            let (x, y) = (place.column * columnWidth + 2, place.row * rowHeight + 2)
            page.raw(#"<g><title>"#)
            page.data(node.name + (node.exists ? "" : ", deleted"))
            page.raw(#"</title><rect class="box\#(node.exists ? "" : " gone")" x="\#(x)" y="\#(y)" "#)
            page.raw(#"width="\#(boxWidth)" height="\#(boxHeight)" rx="5"/>"#)
            page.raw(#"<text x="\#(x + 9)" y="\#(y + 18)">"#)
            page.data(node.name.count > 24 ? node.name.prefix(23) + "…" : node.name)
            page.raw(#"</text><text class="s" x="\#(x + 9)" y="\#(y + 34)">"#)
            page.data((node.transaction.map { "copied in \($0)" } ?? "original") + (node.exists ? "" : ", deleted"))
            page.raw("</text></g>")
        }
        page.raw("</svg>")
    }
}
