import Cambium
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

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

    /// A hierarchy in which `Cat` has a parent of choice. The index belongs to `Pet`.
    private static func animals(parentOfCat: String) -> SchemaDefinition {
        SchemaDefinition {
            EntityDefinition("Animal") { AttributeDefinition("age", .int64) }
            EntityDefinition("Pet", parent: "Animal", indexes: [["age"]])
            EntityDefinition("Cat", parent: parentOfCat)
        }
    }

    @Test func `an entity that gets another parent enters the indexes of its new ancestors, and leaves those of the old ones`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Schema(Self.animals(parentOfCat: "Animal")), durability: .synced)
        try store.write { transaction in
            for age in 0..<400 { try transaction.insert(age.isMultiple(of: 2) ? "Pet" : "Cat", ["age": .int(Int64(age))]) }
        }
        func counts() throws -> [Int] {
            #expect(store.graph.invariantFindings() == [])
            return store.graph.orderedIndexes(of: try store.schema.required("Pet")).map(\.count)
        }
        #expect(try counts() == [200])
        try store.migrate(to: Self.animals(parentOfCat: "Pet"))
        #expect(try counts() == [400])
        #expect(try store.graph.count(Query("Pet", where: "age == 7")) == 1)
        try store.migrate(to: Self.animals(parentOfCat: "Animal"))
        #expect(try counts() == [200])
        try store.write { transaction in
            for id in store.graph.objects(of: try transaction.schema.required("Cat")) { try transaction.delete(id) }
            for age in 0..<200 { try transaction.insert("Pet", ["age": .int(Int64(2 * age + 1))]) }
        }
        #expect(try counts() == [400])
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
