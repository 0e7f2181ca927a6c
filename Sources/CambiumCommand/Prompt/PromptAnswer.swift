import Cambium
import CambiumJSON

/// The rows that answer a query that was entered at the prompt.
struct PromptAnswer {
    let titles: [String]
    private(set) var rows: [[QueryValue]]
    let plan: QueryPlan
    /// The number of rows that the query returns without the limit of the prompt.
    var total: Int

    init(titles: [String], rows: [[QueryValue]], plan: QueryPlan) {
        (self.titles, self.rows, self.plan) = (titles, rows, plan)
        total = rows.count
    }

    /// Whether the prompt shows only a part of the rows.
    var isCut: Bool { total > rows.count }

    /// Returns the answer with at most `rowCountMax` rows. If the query itself has a limit, returns the whole answer.
    func limited(_ query: Query, _ rowCountMax: Int?) -> PromptAnswer {
        guard query.limit == nil, let rowCountMax, rows.count > rowCountMax else { return self }
        var answer = self
        answer.rows = Array(rows.prefix(rowCountMax))
        return answer
    }

    /// Returns the lines of a table with the rows. Throws `CancellationError` if the task is cancelled.
    func lines(_ graph: Graph, width: Int?) throws -> [String] {
        if rows.isEmpty { return [] }
        let alignsRight = titles.indices.map { index in rows.allSatisfy { $0[index].isNumberOrNull } }
        let texts = try rows.map { row in
            try Task.checkCancellation()
            return row.map { Self.text($0, graph) }
        }
        let table = TextTable(titles, texts, alignsRight: alignsRight)
        return table.lines(width: width)
    }

    /// Returns the line that follows the table: the number of rows, and the duration of the query.
    func summary(_ duration: Duration) -> String {
        let time = Readable.seconds(duration)
        if !isCut { return "\(Readable.of(rows.count, "row")), \(time)" }
        return "\(Readable.count(rows.count)) of \(Readable.of(total, "row")), \(time). Add 'limit N' for more."
    }

    /// Returns the text of a value as a person reads it. The text of null is empty, and an empty text is
    /// quoted.
    private static func text(_ value: QueryValue, _ graph: Graph) -> String {
        switch value {
        case .object(let id): graph.text(of: id)
        case .list(let values): values.map { text($0, graph) }.joined(separator: ", ")
        case .value(let value): value.isNull ? "" : ObjectText.text(.string(value.text))
        }
    }
}

extension QueryValue {
    fileprivate var isNumberOrNull: Bool {
        guard case .value(let value) = self else { return false }
        switch value {
        case .null, .int, .float, .double, .decimal: return true
        default: return false
        }
    }
}
