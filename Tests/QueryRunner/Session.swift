import Cambium
import CambiumJSON

/// A store, and the graphs that requests name.
///
///     {"create": PATH, "schema": {...}}                              creates the store
///     {"import": ENTITY, "rows": [...]}                              imports rows in a transaction
///     {"delete": ENTITY, "identities": [1, 2]}                       deletes objects in a transaction
///     {"keep": NAME}                                                 keeps the current graph
///     {"entity": ENTITY, "where": CONDITION, ...}                    finds objects: {"ids": [...], "count": n}
///     ... "select": PATHS, "distinct": "remove"                      returns values: {"rows": [...]}
///     ... "aggregates": ["sum price"], "groupBy": [...]              returns groups: {"rows": [...]}
///     ... "pageLimit": n                                             finds objects, page by page
///
/// A query may state `"plan": "scan"`, and the `"graph"`: a kept one, or `replayed NAME`, which is read from the log.
struct Session {
    private var path = ""
    private var store: Store?
    private var graphs: [String: Graph] = [:]

    mutating func answer(_ request: Request) throws -> JSONValue {
        if let path = request.text("create") { return try create(path, request) }
        if let entity = request.text("import") { return try load(entity, request) }
        if let entity = request.text("delete") { return try delete(entity, request) }
        if let name = request.text("keep") { return try keep(name) }
        return try Answers(graph: graph(request.text("graph") ?? "")).answer(request)
    }

    private static let done = JSONValue.object([])

    private var open: Store {
        get throws {
            guard let store else { throw Request.Mistake(message: "there is no store yet") }
            return store
        }
    }

    private mutating func create(_ path: String, _ request: Request) throws -> JSONValue {
        let schema = try SchemaDefinition(json: Array((request.value("schema") ?? .null).text.utf8), file: "schema")
        try store?.close()
        graphs = [:]
        self.path = path
        store = try Store.open(at: path, creating: Schema(schema))
        return Self.done
    }

    private func load(_ entity: String, _ request: Request) throws -> JSONValue {
        let rows = Array((request.value("rows") ?? .array([])).text.utf8)
        var options = ImportOptions()
        options.unknown = .error
        _ = try open.importRows(try open.schema.required(entity), from: [.bytes(rows)], options)
        return Self.done
    }

    private func delete(_ entity: String, _ request: Request) throws -> JSONValue {
        guard case .array(let identities)? = request.value("identities") else { return Self.done }
        let store = try open
        try store.write { transaction in
            for case .number(let text) in identities {
                let id = try store.graph.find(entity, identity: [.int(Int64(text) ?? 0)])
                if let id { try transaction.delete(id) }
            }
        }
        return Self.done
    }

    private mutating func keep(_ name: String) throws -> JSONValue {
        let graph = try open.graph
        graphs[name] = graph
        graphs["replayed " + name] = try ReadOnlyStore(at: path, point: .transaction(graph.transaction)).graph
        return Self.done
    }

    private func graph(_ name: String) throws -> Graph {
        guard let graph = try graphs[name] ?? (name.isEmpty ? open.graph : nil) else {
            throw Request.Mistake(message: "there is no graph '\(name)'")
        }
        return graph
    }
}
