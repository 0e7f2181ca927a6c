import Cambium
import CambiumJSON

/// Prints the result of a query, and then the changes to the result when other processes commit.
struct FindWatch {
    let path: String
    let isJSON: Bool
    /// The name of the option that contains the condition, such as `--where`. Errors in the condition name this option.
    let textOption: String

    /// Follows a store until the process ends.
    ///
    /// - Parameters:
    ///   - query: Returns the query to follow in the given graph. It is called again after each migration.
    ///   - tree: Returns the tree of nested objects to print, for the query's entity and the schema.
    func run(_ query: (Graph) throws -> Query, including tree: (Entity, Schema) throws -> IncludeTree) throws -> Never {
        let follower = try StoreFollower(of: path)
        var graph = follower.graph
        var (result, nested) = try begin(query, tree, graph)
        try print(try result.whole(in: graph), after: graph, including: nested)
        while true {
            Terminal.pause()
            let count = try follower.advance()
            // The follower may have moved to a newer checkpoint without a new transaction. So its graph always replaces the previous graph,
            // which would keep the old checkpoint in use until the next transaction.
            let before = graph
            graph = follower.graph
            guard count > 0 else { continue }
            let changes = TouchedObjects(graph.changes(since: before))
            if changes.changesSchema {
                // A migration may have changed the query of the schema that `--query` names. It may also have renamed, removed or added
                // properties that the options name.
                (result, nested) = try Self.afterMigration { try begin(query, tree, graph) }
                try print(try result.whole(in: graph), after: before, including: nested)
            } else if let update = try result.advance([changes], to: graph) {
                try print(update, after: before, including: nested)
            }
        }
    }

    /// Runs `body` for the graph after a migration. The options were valid before, so a name that the new schema lacks is a conflict, and
    /// not the user's mistake. The error message names the cause.
    private static func afterMigration<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as CambiumError where [.unknownName, .invalidInput].contains(error.code) {
            error.code = .conflict
            error.message = "A migration changed the schema, and the query no longer fits. \(error.message)"
            throw error
        }
    }

    /// Runs the query on a graph, and resolves the tree of nested objects in its schema.
    private func begin(
        _ query: (Graph) throws -> Query, _ tree: (Entity, Schema) throws -> IncludeTree, _ graph: Graph
    ) throws -> (LiveResult, IncludeTree) {
        let query = try query(graph)
        let nested = try tree(graph.schema.required(query.entity), graph.schema)
        return (try QueryRequest.named(textOption) { try LiveResult(query, in: graph) }, nested)
    }

    private func print(_ update: LiveUpdate, after before: Graph, including tree: IncludeTree) throws {
        if isJSON { return Terminal.printJSON { write(update, before, tree, to: &$0) } }
        if update.isWhole, update.transaction > before.transaction { Terminal.print("transaction \(update.transaction): the whole result") }
        if !update.isWhole { Terminal.print("transaction \(update.transaction)") }
        for place in update.deleted { Terminal.print("- \(before.title(of: place.id))") }
        for place in update.inserted { Terminal.print(try line(update.isWhole ? "" : "+ ", place.id, update.graph, tree)) }
        for move in update.moved {
            Terminal.print(try line("> ", move.id, update.graph, tree, ", from \(move.from) to \(move.to)"))
        }
        for place in update.updated { Terminal.print(try line("~ ", place.id, update.graph, tree)) }
    }

    private func line(_ start: String, _ id: ObjectID, _ graph: Graph, _ tree: IncludeTree, _ end: String = "") throws -> String {
        var writer = JSONWriter()
        write(id, graph, tree, to: &writer)
        return ObjectText.line(try JSONValue(parsing: writer.bytes), after: start, before: end)
    }

    private func write(_ id: ObjectID, _ graph: Graph, _ tree: IncludeTree, to writer: inout JSONWriter) {
        guard let place = graph.place(of: id) else { return writer.null() }
        ObjectWriter(graph).write(place, including: tree, to: &writer)
    }

    private func write(_ update: LiveUpdate, _ before: Graph, _ tree: IncludeTree, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("transaction", update.transaction)
            writer.member("whole", update.isWhole)
            writer.member("deleted", update.deleted.map { before.text(of: $0.id) })
            writePlaces("inserted", update.inserted, update.graph, tree, to: &writer)
            writer.array("moved", update.moved) { writer, move in
                writer.object { writer in
                    writer.member("from", move.from)
                    writePlace(move.to, move.id, update.graph, tree, to: &writer)
                }
            }
            writePlaces("updated", update.updated, update.graph, tree, to: &writer)
        }
    }

    private func writePlaces(
        _ key: String, _ places: [LiveUpdate.Place], _ graph: Graph, _ tree: IncludeTree, to writer: inout JSONWriter
    ) {
        writer.array(key, places) { writer, place in
            writer.object { writePlace(place.index, place.id, graph, tree, to: &$0) }
        }
    }

    /// Writes the members of a place: the index of an object, and the object itself.
    private func writePlace(_ index: Int, _ id: ObjectID, _ graph: Graph, _ tree: IncludeTree, to writer: inout JSONWriter) {
        writer.member("index", index)
        writer.key("object")
        write(id, graph, tree, to: &writer)
    }
}
