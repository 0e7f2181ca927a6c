import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// Many counts of a migration, which one pass through a hierarchy finds.
@Suite struct AffectedCountTests {
    private static let pets = SchemaDefinition {
        EntityDefinition("Animal", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            AttributeDefinition("note", .string, .optional)
        }
        EntityDefinition("Pet", parent: "Animal") {
            AttributeDefinition("name", .string, .optional)
            AttributeDefinition("age", .int64, .optional)
            RelationshipDefinition("friends", to: "Pet", .toMany, inverse: "friends")
            RelationshipDefinition("home", to: "Home", inverse: "pets")
        }
        EntityDefinition("Cat", parent: "Pet") { AttributeDefinition("lives", .int16, .optional) }
        EntityDefinition("Dog", parent: "Pet")
        EntityDefinition("Home", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("pets", to: "Pet", .toMany, inverse: "home")
        }
    }

    /// Makes a graph whose groups of rows contain objects of several entities, nulls, stubs and deleted objects.
    private func graph(_ random: inout SplitMix64) throws -> Graph {
        let store = try Store.create(MemoryVolume(), schema: Schema(Self.pets), durability: .synced, environment: fixedEnvironment())
        let parts = [
            "Animal": [#""note":"x""#], "Pet": [#""name":"Tom""#, #""age":3"#, #""friends":[2000,2001]"#, #""home":1"#],
            "Cat": [#""name":"Mia""#, #""lives":7"#, #""note":"\#(String(repeating: "long ", count: 100))""#], "Dog": [#""age":0"#],
        ]
        for batch in 0..<40 {
            let entity = random.pick(["Animal", "Pet", "Cat", "Dog"]) ?? "Pet"
            let rows = (0..<8).map { row in
                let chosen = (parts[entity] ?? []).filter { _ in random.isTrue(1, outOf: 2) }
                return "{" + ([#""id":\#(8 * batch + row)"#] + chosen).joined(separator: ",") + "}"
            }
            try store.importing(entity, rows.joined(separator: "\n"))
        }
        try store.importing("Home", #"{"id":2,"pets":[3000,3001,3002]}"#)
        let ids = try store.graph.objects(of: "Animal").filter { $0.serial % 7 == 0 }
        try store.write { transaction in for id in ids { try transaction.delete(id) } }
        return store.graph
    }

    /// Counts objects one by one.
    private func naive(_ graph: Graph, _ subject: AffectedCount.Subject, _ entities: Set<EntityNumber>) throws -> Int {
        func count(_ root: EntityNumber, _ amount: (ObjectID, ObjectPlace) -> Int) throws -> Int {
            let places = graph.objects(of: try #require(graph.schema.entity(root))).map { (id: $0, place: graph.place(of: $0)) }
            return try places.reduce(0) { sum, object in
                let place = try #require(object.place)
                return entities.contains(graph.entity(of: place).number) ? sum + amount(object.id, place) : sum
            }
        }
        switch subject {
        case .present(let attribute):
            let column = graph.column(attribute)
            return try count(attribute.root) { column.value(at: $1).isNull ? 0 : 1 }
        case .missing(let attribute):
            let column = graph.column(attribute)
            return try count(attribute.root) { column.value(at: $1).isNull && !graph.isStub($1) ? 1 : 0 }
        case .members(let relationship): return try count(relationship.root) { id, _ in graph.members(relationship, of: id)?.count ?? 0 }
        case .owners(let relationship):
            return try count(relationship.root) { id, _ in graph.members(relationship, of: id)?.isEmpty == false ? 1 : 0 }
        case .surplus(let relationship):
            return try count(relationship.root) { id, _ in max(0, (graph.members(relationship, of: id)?.count ?? 0) - 1) }
        case .inverseSurplus(let relationship):
            let source = try #require(graph.schema.entity(relationship.entity))
            let members = graph.objects(of: source).flatMap { graph.members(relationship, of: $0) ?? [] }
            return try count(relationship.destinationRoot) { id, _ in max(0, members.count { $0 == id } - 1) }
        case .full(let root): return try count(root) { graph.isStub($1) ? 0 : 1 }
        }
    }

    @Test func `properties of several sub-entities are counted together as they are counted one by one`() throws {
        var random = SplitMix64(for: "affected counts")
        let graph = try graph(&random)
        let numbers = graph.schema.entities.map(\.number)
        var subjects = graph.schema.entities.filter { $0.number == $0.root }.map { AffectedCount.Subject.full($0.number) }
        for entity in graph.schema.entities {
            subjects += entity.attributes.flatMap { [AffectedCount.Subject.present($0), .missing($0)] }
            subjects += entity.relationships.flatMap {
                [AffectedCount.Subject.members($0), .owners($0), .surplus($0), .inverseSurplus($0)]
            }
        }
        let chosen = (0..<200).map { _ in
            let subject = random.pick(subjects) ?? subjects[0]
            return (subject: subject, entities: Set(numbers.filter { _ in random.isTrue(1, outOf: 2) }))
        }
        let expected = try chosen.map { try naive(graph, $0.subject, $0.entities) }
        #expect(graph.counts(of: chosen.map { AffectedCount($0.subject, in: $0.entities) }) == expected)
        #expect(Set(expected).count > 10)
        let animals = try graph.objects(of: "Animal").compactMap { graph.place(of: $0) }
        #expect(animals.contains { graph.isStub($0) } && animals.contains { !graph.isStub($0) })
    }
}
