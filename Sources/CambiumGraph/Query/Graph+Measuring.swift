import CambiumBytes
import CambiumModel

extension Graph {
    /// Runs a query, and counts it if it is slow, also if it throws.
    func measuring<Result>(_ query: Query, _ run: () throws -> Result) rethrows -> Result {
        let begin = TickClock.now
        defer { version.space.slowQueries.track(query.summary, transaction, since: begin) }
        return try run()
    }
}

extension Query {
    /// The parts of the query in the order in which `cambium find` takes them.
    fileprivate var summary: String {
        var parts = [entity]
        if let condition { parts.append("where \(condition)") }
        if !sort.isEmpty { parts.append("sort \(sort.map(\.description).joined(separator: ","))") }
        if let limit { parts.append("limit \(limit)") }
        if offset > 0 { parts.append("offset \(offset)") }
        return parts.joined(separator: " ")
    }
}
