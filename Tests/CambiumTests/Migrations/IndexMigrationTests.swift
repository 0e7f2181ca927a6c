import Testing

@testable import Cambium
@testable import CambiumLog

/// Ordered indexes of a store that are added, dropped, stored and opened.
@Suite struct IndexMigrationTests {
    private static let count = 2000

    private static func definition(_ indexes: [[String]]) -> SchemaDefinition {
        var definition = SchemaDefinition {
            EntityDefinition("Thing", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("name", .string)
            }
        }
        definition.entities[0].indexes = indexes
        return definition
    }

    private static func store(_ volume: MemoryVolume, _ indexes: [[String]], _ durability: Durability = .synced) throws -> Store {
        let store = try Store.create(volume, schema: Schema(definition(indexes)), durability: durability)
        try store.write { transaction in
            for number in 0..<count { _ = try transaction.insert("Thing", values(number)) }
        }
        return store
    }

    private static func values(_ number: Int) -> KeyValuePairs<String, Value> {
        ["id": .int(Int64(number)), "name": .string("name \(number * 7919 % count)")]
    }

    /// Returns the number of objects in each complete index.
    private func counts(_ graph: Graph) throws -> [Int] {
        #expect(graph.invariantFindings() == [])
        return graph.orderedIndexes(of: try graph.schema.required("Thing")).map(\.count)
    }

    @Test(arguments: [Durability.synced, .buffered(every: .seconds(3600))])
    func `a migration returns when a new index has all objects, and a reopened store has the index`(durability: Durability) throws {
        let volume = MemoryVolume()
        var store = try Self.store(volume, [], durability)
        #expect(try counts(store.graph) == [])
        let digest = store.graph.digest()
        let report = try store.migrate(to: Self.definition([["name"], ["-name[c]", "id"]]))
        #expect(report.entries.map(\.change.aspect) == ["indexes"])
        #expect(try counts(store.graph) == [Self.count, Self.count])
        #expect(store.graph.digest() == digest)
        try store.close()
        store = try Store.open(volume, durability: nil)
        #expect(try counts(store.graph) == [Self.count, Self.count])
        try store.migrate(to: Self.definition([["-name[c]", "id"]]))
        #expect(try counts(store.graph) == [Self.count] && store.graph.digest() == digest)
        #expect(try Verification(volume).findings == [])
        try store.close()
    }

    @Test func `the next opening finishes an index that was stored half-built`() throws {
        let volume = MemoryVolume()
        let store = try Self.store(volume, [])
        _ = try store.transact(Author(), for: "migrate") { transaction in
            let after = try SchemaMigration(from: transaction.draft.original.schema, to: Self.definition([["name"]])).after
            try transaction.record(.schema(after.catalog))
        }
        #expect(store.graph.hasIncompleteIndexes)
        _ = try #require(store.checkpoints).store(again: false)
        store.abandon()
        let again = try Store.open(volume, durability: nil)
        #expect(again.recovery.checkpoint == again.graph.transaction)
        #expect(try counts(again.graph) == [Self.count])
        try again.close()
        // Only the next checkpoint has the whole index. Until then, readers work without it.
        #expect(try counts(ReadOnlyStore(volume).graph) == [])
    }

    @Test func `writers continue while an index is built, and the index has their changes`() async throws {
        let volume = MemoryVolume()
        let store = try Self.store(volume, [], .buffered(every: .seconds(3600)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<200 {
                    try store.write { transaction in
                        _ = try transaction.insert("Thing", Self.values(Self.count + number))
                        let thing = try transaction.schema.required("Thing")
                        guard let id = transaction.find(thing, identity: [.int(Int64(number * 9))]) else { return }
                        try transaction.set(id, "name", to: .string("changed"))
                    }
                }
            }
            group.addTask { try store.migrate(to: Self.definition([["name"]])) }
            try await group.waitForAll()
        }
        try store.checkpoint()
        #expect(try counts(store.graph) == [Self.count + 200])
        let index = try #require(store.graph.orderedIndexes(of: store.schema.required("Thing")).first)
        #expect(index.range(equalTo: [.string("changed")])?.count == 200)
        #expect(store.metrics.longestHolds.contains { $0.use == .indexing })
        try store.close()
    }

    @Test func `an earlier moment and a replay have their indexes`() throws {
        let volume = MemoryVolume()
        let store = try Self.store(volume, [["name"]])
        let before = store.graph.transaction
        try store.write { _ = try $0.insert("Thing", Self.values(Self.count)) }
        #expect(try counts(store.graph(at: .transaction(before))) == [Self.count])
        #expect(try counts(store.graph) == [Self.count + 1])
        try store.close()
    }
}
