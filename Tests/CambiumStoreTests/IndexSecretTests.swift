import Cambium
import CambiumLog
import CambiumModel
import CambiumTesting
import Testing

@Suite struct IndexSecretTests {
    private static func schema() throws -> Schema {
        try Schema(SchemaDefinition { EntityDefinition("Thing", identity: ["n"]) { AttributeDefinition("n", .double) } })
    }

    @Test func `a new store has an index secret that differs from its id`() throws {
        let volume = MemoryVolume()
        try Store.create(volume, schema: Self.schema(), durability: .synced).close()
        let settings = try StoreSettings.read(volume)
        #expect(settings.indexSecret.count == 16 && settings.indexSecret != settings.store)
    }

    @Test func `an import of minus zero finds zero`() throws {
        let store = try Store.inMemory(schema: Self.schema())
        let thing = try #require(store.schema.entity("Thing"))
        func run(_ rows: String) throws -> [Int] {
            let counts = try store.importRows(thing, from: [.bytes(Array(rows.utf8))]).counts
            return [counts.inserted, counts.updated, counts.unchanged]
        }
        #expect(try run("{\"n\":0.0}\n{\"n\":1}") == [2, 0, 0])
        #expect(try run("{\"n\":-0.0}") == [0, 1, 0])
        #expect(try run("{\"n\":-0.0}\n{\"n\":-0.0}") == [0, 0, 1])
        #expect(store.graph.count(of: thing) == 2)
    }
}
