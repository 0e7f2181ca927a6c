import Cambium
import CambiumBytes
import CambiumLog
import CambiumTesting
import TestFixtures
import Testing

/// Objects that lose their last owner, in a schema with a rule for them and in imports with the option for them.
@Suite struct OrphanTests {
    /// Users with addresses, which have stamps, and with a home. `rule` is the rule for addresses and homes.
    static func schema(_ rule: OrphanRule, mandatory: Int? = nil) throws -> Schema {
        try Schema {
            EntityDefinition("User", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition(
                    "addresses", to: "Address", .orderedToMany, inverse: "user", onDelete: .cascade, orphans: rule)
                RelationshipDefinition("home", to: "Place", inverse: "homeOf", onDelete: .cascade, orphans: rule)
                RelationshipDefinition("tags", to: "Tag", .toMany, orphans: rule)
            }
            EntityDefinition("Address") {
                AttributeDefinition("zip", .string, .optional)
                RelationshipDefinition("user", to: "User", inverse: "addresses", min: mandatory)
                RelationshipDefinition("stamps", to: "Stamp", .toMany, onDelete: .cascade)
            }
            EntityDefinition("Stamp") { AttributeDefinition("text", .string, .optional) }
            EntityDefinition("Place") {
                AttributeDefinition("lat", .double)
                RelationshipDefinition("homeOf", to: "User", inverse: "home")
            }
            EntityDefinition("Tag", identity: ["name"]) { AttributeDefinition("name", .string) }
        }
    }

    private static let first = """
        {"id":1,"addresses":[{"zip":"1","stamps":[{"text":"s"}]},{"zip":"2"}],"home":{"lat":1},"tags":["a","b"]}
        {"id":2,"tags":["b"]}
        """

    /// The numbers of users, addresses, stamps, places and tags.
    private static func counts(_ graph: Graph) throws -> [Int] {
        try ["User", "Address", "Stamp", "Place", "Tag"].map { graph.count(of: try graph.schema.required($0)) }
    }

    enum Way: CaseIterable { case imported, unlinked, relinked, moved, stolen, deleted }

    private func lose(_ way: Way, _ store: Store) throws {
        if way == .imported {
            _ = try store.importing("User", #"{"id":1,"addresses":[{"zip":"3"}],"home":null,"tags":[]}"#)
            return
        }
        let (one, two) = (try #require(store.schema.id("User/1")?.0), try #require(store.schema.id("User/2")?.0))
        let address = try #require(store.schema.id("Address/1")?.0)
        try store.write { transaction in
            switch way {
            case .imported: break
            case .unlinked: try transaction.unlink(one, "addresses", address)
            case .relinked:
                try transaction.unlink(one, "addresses", address)
                try transaction.link(address, "user", one)
            case .moved: try transaction.link(two, "addresses", address)
            case .stolen: try transaction.link(one, "home", try transaction.insert("Place", ["lat": .double(2)]))
            case .deleted: try transaction.delete(one)
            }
        }
    }

    @Test(arguments: Way.allCases) func `members that their owner loses are deleted in every way`(way: Way) throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Self.schema(.delete), durability: .synced, environment: fixedEnvironment())
        try store.importing("User", Self.first)
        #expect(try Self.counts(store.graph) == [2, 2, 1, 1, 2])
        try lose(way, store)
        let expected =
            switch way {
            case .imported: [2, 1, 0, 0, 1]
            case .unlinked: [2, 1, 0, 1, 2]
            case .relinked, .moved, .stolen: [2, 2, 1, 1, 2]
            // Tags have no delete rule, so the deletion of their owner keeps them.
            case .deleted: [1, 0, 0, 0, 2]
            }
        #expect(try Self.counts(store.graph) == expected)
        #expect(store.graph.invariantFindings().isEmpty)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    @Test func `an object that is linked and unlinked in one transaction is an orphan, too`() throws {
        let store = try Store.inMemory(schema: Self.schema(.delete))
        try store.write { transaction in
            let user = try transaction.insert("User", ["id": 1])
            let (kept, lost) = (try transaction.insert("Address"), try transaction.insert("Address"))
            try transaction.link(user, "addresses", lost)
            try transaction.unlink(user, "addresses", lost)
            #expect(transaction.contains(kept) && transaction.contains(lost))
        }
        #expect(try Self.counts(store.graph) == [1, 1, 0, 0, 0])
    }

    @Test(arguments: OrphanRule.allCases, [nil, 1] as [Int?])
    func `an import that replaces owned objects leaves no orphan`(rule: OrphanRule, mandatory: Int?) throws {
        let volume = MemoryVolume()
        let schema = try Self.schema(rule, mandatory: mandatory)
        let store = try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment())
        try store.importing("User", Self.first)
        let row = #"{"id":1,"addresses":[{"zip":"1"}],"home":{"lat":1}}"#
        for isDryRun in [true, false] {
            let report = try store.importing("User", row) {
                if rule == .keep { $0.orphans = .delete }
                if isDryRun { $0.effect = .dryRun }
            }
            #expect(report.entities["Address"]?.deleted == 2 && report.entities["Address"]?.inserted == 1)
            #expect(report.entities["Place"]?.deleted == 1 && report.entities["Stamp"]?.deleted == 1)
        }
        #expect(try Self.counts(store.graph) == [2, 1, 0, 1, 2])
        #expect(store.graph.invariantFindings().isEmpty)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    @Test func `without a rule an import keeps the objects that it unlinks`() throws {
        let store = try Store.inMemory(schema: Self.schema(.keep))
        try store.importing("User", Self.first)
        try store.importing("User", #"{"id":1,"addresses":[],"home":null,"tags":[]}"#)
        #expect(try Self.counts(store.graph) == [2, 2, 1, 1, 2])
        try store.importing("User", #"{"id":2,"tags":[]}"#) { $0.orphans = .delete }
        #expect(try Self.counts(store.graph) == [2, 2, 1, 1, 2], "tags have an identity and are not owned")
    }

    @Test func `the rule is written, read and checked`() throws {
        let schema = try Self.schema(.delete)
        let again = try Schema(catalog: schema.catalog)
        #expect(again.entity("User")?.relationship("home")?.orphanRule == .delete)
        #expect(again.entity("Place")?.relationship("homeOf")?.orphanRule == .keep)
        var definition = schema.definition
        definition["Place"][relationship: "homeOf"].orphanRule = .delete
        #expect(throws: CambiumError.self) { try Schema(definition) }
    }
}
