import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Walks through resolved relationships, compared with reads of single objects.
struct RelationTests {
    @Test(arguments: 0..<UInt64(LongTests.caseCount(24, usual: 3)))
    func `a resolved relationship leads to the members that an object has`(seed: UInt64) throws {
        let graph = try RandomPair.make(seed: seed).graph
        var memberCount = 0
        for entity in graph.schema.entities {
            for relationship in entity.relationships {
                let relation = graph.relation(relationship)
                for id in graph.objects(of: entity) {
                    var found: [ObjectID] = []
                    relation.forEach(of: try #require(graph.place(of: id))) { found.append(graph.id(of: $0)) }
                    #expect(
                        (relationship.isOrdered ? found : found.sorted()) == graph.members(relationship, of: id),
                        "\(entity.name).\(relationship.name) of \(id)")
                    memberCount += found.count
                }
            }
        }
        #expect(memberCount > 0)
    }

    @Test func `edges lead to the other end in both directions`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Person") {
                    RelationshipDefinition("follows", to: "Person", .toMany, inverse: "followers")
                    RelationshipDefinition("followers", to: "Person", .toMany, inverse: "follows")
                }
            })
        let person = try #require(schema.entity("Person"))
        let follows = try #require(person.relationship("follows"))
        let ids = (1...300).map { ObjectID(root: person.root, serial: UInt64($0)) }
        let links = ids.indices.flatMap { first in [1, 7, 150].map { (ids[first], ids[(first + $0) % ids.count]) } }
        let timeline = Timeline()
        try ProgramRun.commit(
            [.schema(schema.catalog)] + ids.map { .insert($0, entity: person.number, []) }
                + links.map { .link($0, follows.number, target: $1, index: nil) }, to: timeline)
        let graph = timeline.head
        for (name, pairs) in [("follows", links), ("followers", links.map { ($1, $0) })] {
            let relation = graph.relation(try #require(person.relationship(name)))
            for id in ids {
                var found: Set<ObjectID> = []
                relation.forEach(of: try #require(graph.place(of: id))) { found.insert(graph.id(of: $0)) }
                #expect(found == Set(pairs.filter { $0.0 == id }.map(\.1)), "\(name) of \(id)")
            }
        }
    }
}
