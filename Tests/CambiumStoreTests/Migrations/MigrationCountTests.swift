import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// The losses that the report of a migration counts.
@Suite struct MigrationCountTests {
    private static let animals = SchemaDefinition {
        EntityDefinition("Animal")
        EntityDefinition("Pet", parent: "Animal") {
            AttributeDefinition("name", .string, .optional)
            AttributeDefinition("owner", .string, .optional)
            RelationshipDefinition("toys", to: "Toy", .toMany)
            RelationshipDefinition("home", to: "Home", inverse: "pets")
        }
        EntityDefinition("Cat", parent: "Pet")
        EntityDefinition("Kitten", parent: "Cat")
        EntityDefinition("Toy")
        EntityDefinition("Home") { RelationshipDefinition("pets", to: "Pet", .toMany, inverse: "home") }
    }

    /// Makes a store with a pet, a cat and a kitten, each of which has all properties.
    private func store() throws -> Store {
        let store = try Store.create(MemoryVolume(), schema: Schema(Self.animals), durability: .synced, environment: fixedEnvironment())
        try store.write { transaction in
            let (toy, home) = (try transaction.insert("Toy"), try transaction.insert("Home"))
            for entity in ["Pet", "Cat", "Kitten"] {
                let values: KeyValuePairs<String, Value> = ["name": .string("Tom"), "owner": .string("Ann")]
                try transaction.insert(entity, values, links: ["toys": [toy], "home": [home]])
            }
        }
        return store
    }

    @Test func `properties of a removed parent are lost by the entities that inherited them`() throws {
        let store = try store()
        var definition = Self.animals
        definition.entities.removeAll { $0.name == "Pet" }
        definition["Cat"].parent = "Animal"
        definition["Cat"].attributes = [AttributeDefinition("name", .string, .optional)]
        definition["Home"].relationships = [RelationshipDefinition("pets", to: "Animal", .toMany)]
        let report = try store.migrate(to: definition)
        // The name moves to the cats, and the homes keep the links to their pets.
        #expect(report.entries.filter { $0.lostCount > 0 }.map { "\($0.change.subject) \($0.lostCount)" } == ["Cat 4", "Pet 1"])
        #expect(store.graph.invariantFindings() == [])
    }

    @Test func `a property that moves to a new entity is lost by the objects that are not below it`() throws {
        let store = try store()
        var definition = Self.animals
        definition.entities.append(EntityDefinition("Hunter", parent: "Pet") { AttributeDefinition("owner", .string, default: "") })
        definition["Pet"].remove("owner")
        definition["Cat"].parent = "Hunter"
        let report = try store.migrate(to: definition)
        let owner = try #require(report.entries.first { $0.change.subject == "Hunter.owner" })
        #expect(owner.change.kind == .moved && owner.lostCount == 1)
        #expect(report.entries.reduce(0) { $0 + $1.lostCount } == 1)
        #expect(store.graph.invariantFindings() == [])
    }
}
