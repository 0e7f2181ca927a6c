import Cambium
import CambiumLog
import CambiumModel
import TestFixtures
import Testing

/// The life of objects whose identity contains a to-one relationship: searches, edits, clones, deletions, migrations and undo.
@Suite struct OwnedIdentityLifeTests {
    private func issue(_ store: Store, _ key: Value, _ number: Value) throws -> ObjectID {
        try #require(try store.graph.find("Issue", identity: [key, number]))
    }

    @Test func `an object is found by the values of its owner, also after the owner is renamed or replaced`() throws {
        let volume = MemoryVolume()
        let store = try OwnedIdentity.filled(volume)
        let (first, other) = (try issue(store, "A", 1), try issue(store, "B", 1))
        let project = try #require(try store.graph.find("Project", identity: ["A"]))
        try store.write { transaction in
            try transaction.set(project, "key", to: "Z")
            let found = (try transaction.find("Issue", identity: ["Z", 1]), try transaction.find("Issue", identity: ["A", 1]))
            #expect(found.0 == first && found.1 == nil)
        }
        #expect(try store.graph.find("Comment", identity: [1, "Z", 1]).flatMap(store.graph.fullName) == "Comment/1 (1-Z-1)")
        #expect(store.graph.identityText(of: first) == "Z-1" && store.graph.identityText(of: other) == "B-1")
    }

    @Test func `an identity cannot be taken by a change of the owner, and a deletion of the owner frees it`() throws {
        let store = try OwnedIdentity.filled()
        let (first, other) = (try issue(store, "A", 1), try issue(store, "B", 1))
        let target = try store.graph.members("project", of: other)[0]
        #expect(code { try store.write { try $0.link(first, "project", target) } } == .ruleViolated)
        try store.write { try $0.unlink(first, "project", store.graph.members("project", of: first)[0]) }
        #expect(store.graph.identityText(of: first) == nil && store.graph.fullName(of: first) == "Issue/1")
        #expect(try store.importing("Issue", #"{"project":"A","number":1}"#).counts.inserted == 1)
        #expect(store.graph.invariantFindings().isEmpty)
    }

    @Test(arguments: [[Value.string("A")], ["A", "1"], ["A", 1, 1], [1, 1]])
    func `a search with other values is refused with the names of the values`(values: [Value]) throws {
        let store = try OwnedIdentity.filled()
        #expect { _ = try store.graph.find("Issue", identity: values) } throws: { error in
            (error as? CambiumError)?.code == .invalidInput && "\(error)".contains("project.key, number")
        }
    }

    @Test func `an owner without identity is named by its id`() throws {
        let store = try Store.inMemory(
            schema: try Schema(
                SchemaDefinition {
                    EntityDefinition("Box") { RelationshipDefinition("parts", to: "Part", .toMany, inverse: "box") }
                    EntityDefinition("Part", identity: ["box", "n"]) {
                        AttributeDefinition("n", .int64)
                        RelationshipDefinition("box", to: "Box", inverse: "parts")
                    }
                }))
        try store.importing("Box", #"{"parts":[{"n":1},{"n":2},{"n":1}]}"#)
        try store.importing("Box", #"{"parts":[{"n":1}]}"#)
        #expect(try OwnedIdentity.names(store, "Part") == ["Box/1-1", "Box/1-2", "Box/2-1"])
        let found = try #require(try store.graph.find("Part", identity: ["Box/1", 2]))
        #expect(try store.graph[found, "n"] == 2 && store.graph.find("Part", identity: ["Box/9", 2]) == nil)
    }

    // MARK: Edits

    @Test func `an edit finds objects by owners that it changes, inserts or removes`() throws {
        let store = try OwnedIdentity.filled()
        var edit = store.edit(tracking: .writesAndReads)
        let first = try issue(store, "A", 1)
        let project = try edit.insert("Project", ["key": "N"])
        try edit.link(first, "project", project)
        #expect(try edit.find("Issue", identity: ["N", 1]) == first && edit.find("Issue", identity: ["A", 1]) == nil)
        let made = try edit.insert("Issue", ["number": 1], links: ["project": store.graph.members("project", of: first)])
        #expect(try edit.find("Issue", identity: ["A", 1]) == made)
        try edit.set(project, "key", to: "M")
        #expect(try edit.find("Comment", identity: [1, "M", 1]) != nil && edit.find("Issue", identity: ["N", 1]) == nil)
        edit.undo()
        #expect(try edit.find("Issue", identity: ["N", 1]) == first)
        try store.commit(&edit)
        #expect(try OwnedIdentity.names(store) == ["A-1", "A-2", "B-1", "N-1"])
    }

    @Test func `an edit that found no object conflicts with one that makes it`() throws {
        let store = try OwnedIdentity.filled()
        var edit = store.edit(tracking: .writesAndReads)
        #expect(try edit.find("Issue", identity: ["B", 5]) == nil)
        try edit.insert("Project", ["key": "C"])
        try store.importing("Issue", #"{"project":"B","number":5}"#)
        #expect(code { _ = try store.commit(&edit) } == .conflict)
    }

    // MARK: Clones, migrations and undo

    @Test func `a clone of the owner copies its objects under the new owner, and a clone of one object alone is refused`() throws {
        let store = try OwnedIdentity.filled()
        let project = try #require(try store.graph.find("Project", identity: ["A"]))
        var request = CloneRequest()
        request.rootValues = ["key": .string("K")]
        try store.write { _ = try $0.clone([project], request) }
        #expect(try OwnedIdentity.names(store) == ["A-1", "A-2", "B-1", "K-1", "K-2"])
        #expect(try store.graph.find("Comment", identity: [1, "K", 1]) != nil && store.graph.invariantFindings().isEmpty)
        let first = try issue(store, "A", 1)
        #expect(code { try store.write { _ = try $0.clone([first]) } } == .ruleViolated)
    }

    @Test func `a migration adds an identity with an owner if the objects obey it, and removes it`() throws {
        var plain = OwnedIdentity.definition
        for index in plain.entities.indices where plain.entities[index].name != "Project" { plain.entities[index].identity = [] }
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: try Schema(plain), durability: .synced, environment: fixedEnvironment())
        try store.importing("Issue", #"[{"project":"A","number":1},{"project":"A","number":2}]"#)
        _ = try store.migrate(to: OwnedIdentity.definition)
        #expect(try store.importing("Issue", #"{"project":"A","number":2}"#).counts.unchanged == 1)
        #expect(try Store.reopened(volume).graph.find("Issue", identity: ["A", 2]) == issue(store, "A", 2))
        _ = try store.migrate(to: plain)
        #expect(try store.importing("Issue", #"{"project":"A","number":2}"#).counts.inserted == 1)
        #expect(code { _ = try store.migrate(to: OwnedIdentity.definition) } == .ruleViolated)
    }

    @Test func `an undo brings back an object under its identity`() throws {
        let store = try OwnedIdentity.filled()
        let before = store.graph.digest()
        let project = try #require(try store.graph.find("Project", identity: ["A"]))
        let receipt = try store.write { try $0.delete(project) }.receipt
        #expect(try OwnedIdentity.names(store) == ["B-1"])
        _ = try store.undo(.transaction(try #require(receipt.transaction)))
        #expect(try issue(store, "A", 2).serial == 2 && store.graph.invariantFindings().isEmpty)
        #expect(store.graph.digest() == before || store.graph.objectCount == 6)
    }
}
