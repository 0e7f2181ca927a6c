import Cambium
import Foundation
import Testing

/// The Swift code of the documents in Docs, word for word.
@Suite struct ReferenceSnippets {
    let schema: Schema

    init() throws {
        schema = try Schema {
            EntityDefinition("Person", identity: ["personId"]) {
                AttributeDefinition("personId", .int64)
                AttributeDefinition("fullName", .string, .optional)
                AttributeDefinition("born", .date, .optional)
                AttributeDefinition("source", .string, .optional)
            }
        }
    }

    func compare(_ path: String) throws -> Int {
        let store = try Store.open(at: path)
        let changes = store.graph.changes(since: try store.graph(at: .label("monday")))
        for object in changes {
            print(object.kind, object.entity.name, object.id)
            for change in object.attributes { print("  \(change.attribute.name): \(change.before) -> \(change.after)") }
            for change in object.relationships { print("  \(change.relationship.name): -\(change.removed.count) +\(change.added.count)") }
        }
        print(changes.labels.count, changes.changesSchema)
        return changes.count
    }

    func texts(of values: [QueryValue], _ graph: Graph) -> [String] {
        values.map { value in
            switch value {
            case .value(let value): value.text
            case .object(let id): graph.name(of: id) ?? ""
            case .list(let values): texts(of: values, graph).joined(separator: ", ")
            }
        }
    }

    private func find(_ graph: Graph) throws -> (Int, ObjectID?) {
        var query = try Query("Person", where: "age > $age and any tags.name == \"red\"", ["age": 30], sort: "-age,name")
        query.limit = 20
        for id in try graph.find(query) { print(graph.name(of: id) ?? "") }
        let count = try graph.count(query)
        let oldest = try graph.first(query)

        let byCity = Grouping(by: [try Operand(parsing: "city")], [.count, Aggregate(.avg, of: try Operand(parsing: "age"))])
        for row in try graph.aggregate(Query("Person"), byCity) { print(texts(of: row.group, graph), texts(of: row.values, graph)) }

        let paths = try ["name", "owner.name", "tags.name"].map { try Operand(parsing: $0) }
        for row in try graph.values(of: paths, query) { print(texts(of: row, graph)) }
        return (count, oldest)
    }

    func divide(_ graph: Graph) throws -> ([Product], [ObjectID]) {
        let whole = try graph.fetch(RecordQuery<Product>("name != null"))
        let stubs = try graph.find(Query("Product", where: "name == null"))
        return (whole, stubs)
    }

    func summarize(_ graph: Graph) throws -> (Value, Double?, [Int], [[String]]) {
        let total = try graph.sum(\Product.price, of: RecordQuery<Product> { $0.shelf.code == "A" })
        let mean = try graph.average(\Product.price)
        let counts = try graph.counts(RecordQuery<Product>()) { $0.shelf.code }

        let prices = Grouping(by: [try Operand(parsing: "shelf.code")], [.count, Aggregate(.sum, of: try Operand(parsing: "price"))])
        let rows = try graph.aggregate(RecordQuery<Product> { $0.price > 1 }.query, prices)
        return (total, mean, counts.map(\.count), rows.map { texts(of: $0.group + $0.values, graph) })
    }

    private func stored(_ store: Store, _ team: ObjectID) async throws -> [ObjectID] {
        let graph = store.graph
        let top = try graph.find(graph.query("Team", named: "top", ["min": 3]))
        var rivals = try graph.query("Team", named: "rivals", ["source": .object(team)])
        rivals.limit = 5
        for try await update in store.live(rivals) { print(update.count) }
        return top
    }

    private func walk(_ graph: Graph, from jane: ObjectID, to john: ObjectID) throws -> Int {
        let follows = try graph.walk(along: ["follows"])
        for object in try follows.objects(from: [jane], within: 2) { print(object.distance, object.id) }
        if let path = try follows.path(from: jane, to: john) { print("\(path.count - 1) steps") }
        let components = try follows.components()
        print(components.sizes.count, components.sizes.first ?? 0, components.component(of: jane) == components.component(of: john))
        do {
            print(try graph.walk(along: ["dependencies"]).topologicalOrder())
        } catch {
            print(error.message, (error.underlying as? LinkCycle)?.objects ?? [])
        }
        return components.sizes.count
    }

    private func observe(_ path: String, after first: TransactionNumber) async throws -> TransactionNumber {
        var last = first
        let store = try Store.open(at: path)
        for try await committed in store.changes(from: last) {
            for object in committed.changes { print(committed.transaction, object.kind, object.id) }
            last = committed.transaction
        }
        return last
    }

    private func watch(_ store: Store) async throws {
        for try await committed in store.changes() {
            print(committed.time?.description ?? "", committed.author?.actor ?? "-")
            for object in committed.changes {
                switch object.kind {
                case .inserted: print("inserted", committed.changes.after.name(of: object.id) ?? "")
                case .deleted: print("deleted", committed.changes.before.name(of: object.id) ?? "")
                case .changed:
                    for change in object.attributes { print(change.attribute.name, change.before.text, change.after.text) }
                    for change in object.relationships { print(change.relationship.name, change.added, change.removed) }
                }
            }
        }
    }

    private func show(_ committed: CommittedChanges) throws -> [String] {
        let tags = try committed.changes.records(of: Tag.self)
        for tag in tags.inserted { print("new:", tag.name) }
        for (before, after) in tags.changed { print("changed:", before.name, after.name) }
        for tag in tags.deleted { print("deleted:", tag.name) }
        return tags.inserted.map(\.name) + tags.deleted.map(\.name)
    }

    private func follow(_ path: String) async throws -> [ObjectID] {
        var ids: [ObjectID] = []
        let store = try Store.open(at: path)
        let query = try Query("Person", where: "age > 30", sort: "-age", limit: 50)
        for try await update in store.live(query) {
            update.apply(to: &ids)
            print(update.transaction, update.inserted.count, update.deleted.count, update.moved.count, update.updated.count)
        }
        return ids
    }

    func measure(_ path: String) throws -> StoreMetrics {
        let store = try Store.open(at: path)
        let metrics = store.metrics
        if let hold = metrics.longestHolds.first { print("longest hold of the lock: \(hold.use) \(hold.duration)") }
        print(metrics.commitCount, metrics.syncCount, metrics.waitingCommitCount, metrics.pinnedByteCount)
        return metrics
    }

    private func measureQueries(_ path: String) throws {
        var environment = StoreEnvironment.system
        environment.slowQueryDuration = .milliseconds(20)
        let store = try Store.open(at: path, environment: environment)
        if let slow = store.metrics.lastSlowQuery { print(slow.duration, slow.text) }
    }

    private func migrate(_ store: Store, to definition: SchemaDefinition) throws {
        for entry in try store.previewMigration(to: definition).entries {
            print(entry.change.entity, entry.change.property ?? "", entry.change.kind, entry.handling, entry.lostCount)
        }
        try store.migrate(to: definition, Author(actor: "jane")) { before, transaction in
            // Only for what is not automatic: `before` has the old values, `transaction` the new schema.
        }
    }

    @Test func `the code of the document about observation runs`() async throws {
        try await withFolder { folder in
            let store = try Store.open(at: "\(folder)/tags", creating: Schema(of: Tag.self))
            let start = store.graph.transaction
            _ = try Tag(named: "red", in: store)
            var names: [String] = []
            for try await committed in store.changes(from: start) {
                names += try show(committed)
                if committed.transaction >= store.graph.transaction { break }
            }
            #expect(names == ["red"])
            try store.close()
            try await watch(store)
        }
    }

    @Test func `the code of the document about walks runs`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person") {
                    RelationshipDefinition("follows", to: "Person", .toMany)
                    RelationshipDefinition("dependencies", to: "Person", .toMany)
                }
            })
        let ids = try store.write { transaction in
            let ids = try (0..<3).map { _ in try transaction.insert("Person", [:]) }
            try transaction.link(ids[0], "follows", ids[1])
            try transaction.link(ids[2], "dependencies", ids[2])
            return ids
        }.result
        #expect(try walk(store.graph, from: ids[0], to: ids[1]) == 2)
    }

    @Test func `the code of the document about migration runs`() throws {
        let store = try Store.inMemory(schema: schema)
        try migrate(store, to: SchemaDefinition { EntityDefinition("Person") { AttributeDefinition("personId", .int64) } })
        #expect(try store.schema.required("Person").attributes.map(\.name) == ["personId"])
    }
}
