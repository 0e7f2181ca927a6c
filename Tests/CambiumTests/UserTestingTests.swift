import Cambium
import CambiumTesting
import TestFixtures
import Testing

@Suite("Helpers for users' tests")
struct UserTestingTests {
    private func schema() throws -> Schema {
        try Schema {
            EntityDefinition("Note", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("key", .uuid, .optional, userInfo: ["rebuild": "uuid"])
                AttributeDefinition("title", .string, .optional)
                RelationshipDefinition("items", to: "Item", .orderedToMany, inverse: "note", onDelete: .cascade)
            }
            EntityDefinition("Item") {
                AttributeDefinition("name", .string)
                RelationshipDefinition("note", to: "Note", inverse: "items")
            }
        }
    }

    @Test("fixtures of JSON are objects")
    func fixtures() throws {
        let text = #"{"Note": [{"id": 1, "items": [{"name": "a"}, {"name": "b"}]}], "Item": [{"name": "c"}]}"#
        let store = try Store.testing(schema(), fixtures: text)
        #expect(try store.graph.count(of: "Item") == 3)
        #expect(throws: CambiumError.self) { try store.load(fixtures: "[1]") }
        #expect(throws: CambiumError.self) { try store.load(fixtures: #"{"Nothing": []}"#) }
        let error = #expect(throws: CambiumError.self) { try store.load(fixtures: "{\n\"Note\": [}") }
        #expect(error?.code == .invalidInput && error?.place?.line == 2)
    }

    @Test("a fixed environment gives the same times and ids in each run")
    func fixedEnvironment() throws {
        func run() throws -> (Value, String) {
            let store = try Store.testing(schema(), fixtures: #"{"Note": [{"id": 1}]}"#)
            let note = try #require(try store.graph.find("Note", identity: [1]))
            let copy = try store.write { try $0.clone(note, CloneRequest(rootValues: ["id": 2])).root }.result
            return (try store.graph[copy, "key"], "\(store.graph.digest())")
        }
        let (first, second) = (try run(), try run())
        #expect(!first.0.isNull)
        #expect(first.0 == second.0)
        #expect(first.1 == second.1)
    }

    @Test("changes are lines")
    func lines() throws {
        let store = try Store.testing(schema(), fixtures: #"{"Note": [{"id": 1, "title": "Paris", "items": [{"name": "a"}]}, {"id": 2}]}"#)
        let before = store.graph
        let notes = Array(try before.objects(of: "Note"))
        let item = try #require(try before.members("items", of: notes[0]).first)
        try store.write { transaction in
            try transaction.set(notes[0], "title", to: "Rome")
            try transaction.delete(notes[1], item)
            let new = try transaction.insert("Item", ["name": "b"])
            try transaction.link(notes[0], "items", new)
        }
        #expect(
            store.graph.changes(since: before).summary == [
                "~ Note/1.title: Paris -> Rome", "~ Note/1.items: +Item/2 -Item/1", "- Note/2", "- Item/1", "+ Item/2",
            ])
    }

    @Test("a stub that a row completes is a line, even if no attribute changes")
    func completedStub() throws {
        let schema = try Schema {
            EntityDefinition("Note", identity: ["id"]) { AttributeDefinition("id", .int64) }
            EntityDefinition("Item") { RelationshipDefinition("note", to: "Note") }
        }
        let store = try Store.testing(schema, fixtures: #"{"Item": [{"note": 1}]}"#)
        let before = store.graph
        try store.load(fixtures: #"{"Note": [{"id": 1}]}"#)
        #expect(store.graph.changes(since: before).summary == ["~ Note/1: no longer a stub"])
    }

    @Test("a failing disk fails the write, and what was acknowledged is there after a restart")
    func failingDisk() throws {
        let disk = TestDisk()
        let store = try disk.create(schema: schema())
        try store.write { _ = try $0.insert("Note", ["id": 1]) }
        disk.fail(after: 1)
        var written = 1
        #expect(throws: CambiumError.self) {
            for number in 2...9 {
                try store.write { _ = try $0.insert("Note", ["id": .int(Int64(number))]) }
                written += 1
            }
        }
        #expect(disk.hasFailed)
        #expect(written < 9)
        let count = try disk.afterPowerFailure(seed: 5).open().graph.count(of: "Note")
        #expect(count == written || count == written + 1)
    }

    @Test("a second fault has not happened when it is requested")
    func secondFault() throws {
        let disk = TestDisk()
        let store = try disk.create(schema: schema())
        disk.fillUp()
        #expect(throws: CambiumError.self) { try store.write { _ = try $0.insert("Note", ["id": 1]) } }
        #expect(disk.hasFailed)
        disk.fail(after: 1000)
        #expect(!disk.hasFailed)
        disk.crash(after: 1000)
        #expect(!disk.hasFailed)
    }

    @Test("a process that ends loses nothing that was acknowledged")
    func crash() throws {
        let disk = TestDisk()
        let store = try disk.create(schema: schema())
        try store.write { _ = try $0.insert("Note", ["id": 1]) }
        disk.crash()
        #expect(throws: CambiumError.self) { try store.write { _ = try $0.insert("Note", ["id": 2]) } }
        #expect(try disk.afterRestart().open().graph.find("Note", identity: [1]) != nil)
    }

    @Test("a full disk fails the write that it concerns")
    func fullDisk() throws {
        let disk = TestDisk()
        let store = try disk.create(schema: schema())
        disk.fillUp()
        #expect(throws: CambiumError.self) { try store.write { _ = try $0.insert("Note", ["id": 1]) } }
        #expect(store.graph.objectCount == 0)
    }
}
