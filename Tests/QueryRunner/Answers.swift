import Cambium
import CambiumJSON

/// The answers of one graph, as JSON. An object is the number of its serial.
struct Answers {
    let graph: Graph

    func answer(_ request: Request) throws -> JSONValue {
        let query = try request.query()
        if let grouping = try request.grouping() {
            let rows = try graph.aggregate(query, grouping)
            return .object([.init("rows", .array(rows.map { row in json(.list(row.group + row.values)) }))])
        }
        if request.texts("select") != nil {
            let repeated: RepeatedRows = request.text("distinct") == "remove" ? .remove : .keep
            let rows = try graph.values(of: request.operands("select"), query, repeated: repeated)
            return .object([.init("rows", .array(rows.map { row in json(.list(row)) }))])
        }
        if let limit = request.number("pageLimit") {
            return .object([.init("ids", try .array(pages(query, limit).map { id in json(.object(id)) }))])
        }
        let ids = try graph.find(query)
        return .object([
            .init("ids", .array(ids.map { id in json(.object(id)) })), .init("count", .number(String(try graph.count(query)))),
            .init("first", try graph.first(query).map { id in json(.object(id)) } ?? .null),
        ])
    }

    /// Reads an answer page by page, each from the text of the previous cursor.
    private func pages(_ query: Query, _ limit: Int) throws -> [ObjectID] {
        var (page, found) = (query, [ObjectID]())
        page.limit = limit
        while true {
            let answer = try graph.answer(page)
            found += answer.ids
            guard let cursor = answer.cursor else { return found }
            page.cursor = try QueryCursor(parsing: cursor.description)
        }
    }

    private func json(_ value: QueryValue) -> JSONValue {
        switch value {
        case .object(let id): return .number(String(id.serial))
        case .list(let values): return .array(values.map(json))
        case .value(let value):
            var writer = JSONWriter()
            value.write(to: &writer)
            return (try? JSONValue(parsing: writer.bytes)) ?? .string("\(value) is not JSON")
        }
    }
}
