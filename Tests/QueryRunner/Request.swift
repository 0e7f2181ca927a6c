import Cambium
import CambiumJSON

/// A JSON object with typed access to its members.
struct Request {
    private let json: JSONValue

    struct Mistake: Error { let message: String }

    init(_ json: JSONValue) { self.json = json }

    func value(_ key: String) -> JSONValue? { json[key] == .null ? nil : json[key] }

    func text(_ key: String) -> String? {
        guard case .string(let text)? = json[key] else { return nil }
        return text
    }

    func required(_ key: String) throws -> String {
        guard let text = text(key) else { throw Mistake(message: "the request has no text '\(key)'") }
        return text
    }

    func number(_ key: String) -> Int? {
        guard case .number(let text)? = json[key] else { return nil }
        return Int(text)
    }

    func texts(_ key: String) -> [String]? {
        guard case .array(let elements)? = json[key] else { return nil }
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// The condition, the order, the part and the plan of a query.
    func query() throws -> Query {
        var query = try Query(required("entity"), where: text("where"), sort: text("sort"), limit: number("limit"))
        query.offset = number("offset") ?? 0
        query.accesses = text("plan") == "scan" ? .scan : .all
        return query
    }

    /// The groups and functions, such as `sum price`; `nil` if the request asks for objects.
    func grouping() throws -> Grouping? {
        guard let functions = texts("aggregates") else { return nil }
        let aggregates = try functions.map { text in
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            guard let function = AggregateFunction(rawValue: parts[0]) else { throw Mistake(message: "'\(parts[0])' is not a function") }
            return try Aggregate(function, of: parts.count > 1 ? Operand(parsing: parts[1]) : nil)
        }
        return Grouping(by: try operands("groupBy"), aggregates, having: try text("having").map { text in try Condition(parsing: text) })
    }

    func operands(_ key: String) throws -> [Operand] { try (texts(key) ?? []).map { text in try Operand(parsing: text) } }
}
