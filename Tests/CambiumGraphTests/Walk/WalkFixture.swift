import CambiumModel
import CambiumTesting

@testable import CambiumGraph

/// Graphs for the tests of walks.
enum WalkFixture {
    /// Relationships of every kind: with and without an inverse, symmetric, ordered, to-one, one-to-one, and of sub-entities.
    static let schema = Result<Schema, CambiumError> { () throws(CambiumError) in
        try Schema(
            SchemaDefinition {
                EntityDefinition("Party") {
                    RelationshipDefinition("follows", to: "Party", .toMany, inverse: "followers")
                    RelationshipDefinition("followers", to: "Party", .toMany, inverse: "follows")
                    RelationshipDefinition("likes", to: "Thing", .orderedToMany)
                }
                EntityDefinition("Person", parent: "Party") {
                    RelationshipDefinition("friends", to: "Person", .toMany, inverse: "friends")
                    RelationshipDefinition("spouse", to: "Person", inverse: "spouse")
                    RelationshipDefinition("boss", to: "Person", inverse: "staff")
                    RelationshipDefinition("staff", to: "Person", .orderedToMany, inverse: "boss")
                    RelationshipDefinition("ranks", to: "Person", .orderedToMany, inverse: "rankedBy")
                    RelationshipDefinition("rankedBy", to: "Person", .orderedToMany, inverse: "ranks")
                }
                EntityDefinition("Company", parent: "Party") { RelationshipDefinition("site", to: "Thing", inverse: "company") }
                EntityDefinition("Thing") {
                    RelationshipDefinition("company", to: "Company", inverse: "site")
                    RelationshipDefinition("parts", to: "Thing", .toMany)
                    RelationshipDefinition("follows", to: "Party")
                }
            })
    }

    /// Returns a graph of `count` parties and `count` things, with random links over each relationship.
    static func graph(seed: UInt64, count: Int, linkCount: Int) throws -> Graph {
        let schema = try schema.get()
        var random = SplitMix64(seed: seed)
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        let concrete = schema.entities.filter { $0.name != "Party" }
        var ids: [(id: ObjectID, entity: Entity)] = []
        var draft = timeline.draft()
        for serial in 1...count {
            let party = concrete[random.isTrue(1, outOf: 3) ? 1 : 0]
            for entity in [party, concrete[2]] {
                let id = ObjectID(root: entity.root, serial: UInt64(serial))
                try draft.apply(.insert(id, entity: entity.number, []))
                ids.append((id, entity))
            }
        }
        for _ in 0..<linkCount {
            guard let start = random.pick(ids), let relationship = random.pick(start.entity.relationships),
                let family = schema.entity(relationship.destination)?.family,
                let end = random.pick(ids.filter { family.contains($0.entity.number) })
            else { continue }
            // A link that exists already is refused and changes nothing.
            do { try draft.apply(.link(start.id, relationship.number, target: end.id, index: nil)) } catch { continue }
        }
        try timeline.publish(draft)
        return timeline.head
    }

    /// Returns the graph of a random program with a random schema.
    static func randomGraph(seed: UInt64) throws -> Graph {
        var random = SplitMix64(seed: seed)
        let schema = try RandomSchema.make(&random)
        var program = RandomProgram(schema: schema, seed: random.next(), scope: .derivable)
        var reference = ReferenceGraph(schema: schema)
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        var draft = timeline.draft()
        for _ in 0..<150 {
            let op = program.next(for: reference)
            var trial = reference
            do {
                try draft.apply(op)
                try trial.apply(op)
            } catch { continue }
            reference = trial
        }
        try timeline.publish(draft)
        return timeline.head
    }
}
