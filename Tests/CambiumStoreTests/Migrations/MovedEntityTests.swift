import Cambium
import CambiumTesting
import TestFixtures
import Testing

/// Entities that a migration puts below another root, so that their objects get new ids.
@Suite struct MovedEntityTests {
    /// Two roots, of which one has a sub-entity, with random relationships. After the migration, both roots have the same new parent.
    private struct Shape {
        private let relationships: [(owner: String, target: String, ends: [RelationshipDefinition.Cardinality?])]

        init(_ random: inout SplitMix64) {
            let pairs = [("A", "B"), ("B", "A"), ("B", "B"), ("Sub", "A"), ("A", "Sub"), ("A", "A")]
            relationships = pairs.map { owner, target in
                let kinds: [RelationshipDefinition.Cardinality] = [.toOne, .toMany, .orderedToMany].shuffled(using: &random)
                return (owner, target, [kinds[0], random.isTrue(1, outOf: 3) ? nil : kinds[random.isTrue(1, outOf: 2) ? 0 : 1]])
            }
        }

        func definition(isJoined: Bool) -> SchemaDefinition {
            let keys = [AttributeDefinition("key", .int64), AttributeDefinition("text", .string, .optional)]
            var definition = SchemaDefinition {
                EntityDefinition("A", parent: isJoined ? "Top" : nil)
                EntityDefinition("B", parent: isJoined ? "Top" : nil)
                EntityDefinition("Sub", parent: "B")
            }
            if isJoined { definition.entities.insert(EntityDefinition("Top", .abstract, identity: ["key"]), at: 1) }
            for entity in isJoined ? ["Top"] : ["A", "B"] { definition[entity].attributes = keys }
            for (number, link) in relationships.enumerated() {
                let (name, inverse) = ("r\(number)", link.ends[1].map { _ in "i\(number)" })
                definition[link.owner].relationships.append(.init(name, to: link.target, link.ends[0] ?? .toOne, inverse: inverse))
                guard let inverse, let kind = link.ends[1] else { continue }
                definition[link.target].relationships.append(.init(inverse, to: link.owner, kind, inverse: name))
            }
            return definition
        }

        func fill(_ store: Store, _ random: inout SplitMix64) throws {
            try store.write { transaction in
                var ids: [String: [ObjectID]] = [:]
                for key in 0..<12 {
                    let entity = ["A", "B", "Sub"][key % 3]
                    let id = try transaction.insert(entity, ["key": .int(Int64(key)), "text": key % 4 == 0 ? .null : .string("t\(key)")])
                    for name in entity == "Sub" ? ["B", "Sub"] : [entity] { ids[name, default: []].append(id) }
                }
                for (number, link) in relationships.enumerated() {
                    for _ in 0..<14 {
                        guard let id = ids[link.owner]?.randomElement(using: &random),
                            let target = ids[link.target]?.randomElement(using: &random)
                        else { continue }
                        try transaction.link(id, "r\(number)", target)
                    }
                }
                try transaction.delete(ids["B"]?.first.map { [$0] } ?? [])
            }
        }
    }

    /// Returns the content of each object, with keys in place of ids.
    private func content(_ graph: Graph) throws -> [String: [String]] {
        func key(_ id: ObjectID) throws -> String { try graph[id, "key"].text }
        var content: [String: [String]] = [:]
        for root in graph.schema.roots {
            for id in graph.objects(of: root) {
                guard let entity = graph.entity(of: id) else { continue }
                var texts = [entity.name, try graph[id, "text"].text]
                for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
                    let keys = try (graph.members(relationship, of: id) ?? []).map(key)
                    texts.append("\(relationship.name): \(relationship.isOrdered ? keys : keys.sorted())")
                }
                content[try key(id)] = texts
            }
        }
        return content
    }

    @Test func `objects that get new ids keep their values, links and orders`() throws {
        for seed in 0..<UInt64(LongTests.areWanted ? 300 : 25) {
            var random = SplitMix64(seed: seed)
            let shape = Shape(&random)
            let store = try MigratedStore(shape.definition(isJoined: false))
            try shape.fill(store.store, &random)
            let before = try content(store.store.graph)
            let preview = try store.store.previewMigration(to: shape.definition(isJoined: true), movedIDs: .renewed)
            #expect(!preview.isRefused && preview.entries.allSatisfy { $0.lostCount == 0 }, "seed \(seed): \(preview)")
            #expect(code { try store.store.migrate(to: shape.definition(isJoined: true)) } == .ruleViolated)
            try store.store.migrate(to: shape.definition(isJoined: true), movedIDs: .renewed)
            #expect(try content(store.store.graph) == before, "seed \(seed)")
            try store.check()
        }
    }

    /// A root with the sub-entity `Sub`, and another root with a relationship to the first one.
    private static let apart = SchemaDefinition {
        EntityDefinition("A") { AttributeDefinition("x", .int64, .optional) }
        EntityDefinition("B") {
            AttributeDefinition("x", .int64, .optional)
            AttributeDefinition("y", .string, .optional)
        }
        EntityDefinition("Sub", parent: "B")
        EntityDefinition("Other") {
            RelationshipDefinition("bs", to: "B", .toMany, inverse: "owner", onDelete: .cascade, orphans: .delete)
        }
    }

    private static func store() throws -> MigratedStore {
        var definition = apart
        definition["B"].relationships = [RelationshipDefinition("owner", to: "Other", .toOne, inverse: "bs")]
        let store = try MigratedStore(definition)
        try store.store.write {
            _ = try $0.insert("A", ["x": 1])
            let other = try $0.insert("Other")
            for entity in ["B", "Sub"] { try $0.link(other, "bs", $0.insert(entity, ["x": 2, "y": "text"])) }
        }
        return store
    }

    private static func joined(_ change: (inout SchemaDefinition) -> Void = { _ in }) throws -> SchemaDefinition {
        var definition = apart
        definition.entities.append(EntityDefinition("Top", .abstract))
        (definition["A"].parent, definition["B"].parent) = ("Top", "Top")
        definition["B"].relationships = [RelationshipDefinition("owner", to: "Other", .toOne, inverse: "bs")]
        change(&definition)
        return definition
    }

    @Test func `members that move stay with the owner that deletes orphans, and clones know their originals`() throws {
        let store = try Self.store()
        let owner = try #require(try store.store.graph.objects(of: "Other").first { _ in true })
        _ = try store.store.write { try $0.clone(owner) }
        try store.store.migrate(to: Self.joined(), movedIDs: .renewed)
        try store.check()
        let graph = store.store.graph
        let moved = try graph.objects(of: "B").map(\.self)
        #expect(moved.map(\.serial) == [2, 3, 4, 5] && moved.allSatisfy { $0.root == moved[0].root })
        #expect(moved.map { graph.place(of: $0).flatMap { graph.source(of: $0)?.serial } } == [nil, nil, 2, 3])
        #expect(try graph.members("bs", of: owner) == Array(moved.prefix(2)))
    }

    @Test func `a property that the moved entity lacks counts as lost, and other changes to values are exact or refused`() throws {
        let store = try Self.store()
        let lacking = try Self.joined {
            $0["B"].remove("y")
            $0["B"][attribute: "x"].type = .double
        }
        let preview = try store.store.previewMigration(to: lacking, movedIDs: .renewed)
        #expect(preview.entries.map(\.lostCount).reduce(0, +) == 2 && !preview.isRefused)
        let text = try Self.joined { $0["B"][attribute: "x"].type = .string }
        #expect(try store.store.previewMigration(to: text, movedIDs: .renewed).violations.count == 1)
        #expect(code { try store.store.migrate(to: text, movedIDs: .renewed) } == .ruleViolated)
        try store.store.migrate(to: lacking, movedIDs: .renewed)
        #expect(try store.values("B", "x") == [.double(2), .double(2)])
        try store.check()
    }

    @Test func `members that the new relationship cannot hold, and objects of an abstract entity, refuse the migration`() throws {
        let store = try Self.store()
        let parted = try Self.joined {
            $0["B"].parent = nil
            $0["Sub"].parent = "Top"
            $0["Sub"].attributes = [AttributeDefinition("x", .int64, .optional), AttributeDefinition("y", .string, .optional)]
        }
        let abstract = try Self.joined { $0["Sub"].isAbstract = true }
        let before = store.store.graph.digest()
        for definition in [parted, abstract] {
            #expect(code { try store.store.migrate(to: definition, movedIDs: .renewed) } == .ruleViolated)
        }
        #expect(store.store.graph.digest() == before)
        try store.check()
    }
}
