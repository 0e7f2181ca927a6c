import Cambium
import CambiumLog
import CambiumModel
import CambiumTesting
import Testing

@Suite struct IndexSecretTests {
    private static func schema() throws -> Schema {
        try Schema(SchemaDefinition { EntityDefinition("Thing", identity: ["n"]) { AttributeDefinition("n", .double) } })
    }

    @Test(arguments: [true, false])
    func `a new store has an index secret, but opens without one`(hasCheckpoint: Bool) throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Self.schema(), durability: .synced)
        let thing = try #require(store.schema.entity("Thing"))
        try store.write { transaction in
            for number in 1...300 { _ = try transaction.insert("Thing", ["n": .double(Double(number))]) }
        }
        let digest = store.graph.digest()
        if hasCheckpoint { try store.checkpoint() }
        try store.close()
        var settings = try StoreSettings.read(volume)
        #expect(settings.indexSecret?.count == 16)
        settings.indexSecret = nil
        try settings.replace(in: volume)
        let again = try Store.open(volume, durability: nil)
        #expect(again.graph.digest() == digest && again.graph.invariantFindings() == [])
        #expect(again.graph.place(thing, identity: [.double(300)]) != nil)
        try again.close()
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
