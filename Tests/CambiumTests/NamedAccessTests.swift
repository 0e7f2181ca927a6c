import Cambium
import Foundation
import TestFixtures
import Testing

/// Reading and writing by names, as programs do that do not bind attributes.
@Suite struct NamedAccessTests {
    private let store: Store
    private let note: ObjectID

    init() throws {
        store = try Store.inMemory(schema: Notes.schema)
        note = try store.write { try $0.insert("Note", ["id": 1, "title": "Paris", "rating": 4.5]) }.result
    }

    private func code(_ body: () throws -> Void) -> CambiumError.Code? {
        do { try body() } catch { return (error as? CambiumError)?.code }
        return nil
    }

    @Test func `literals are values`() throws {
        #expect(try store.graph[note, "title"] == .string("Paris"))
        #expect(try store.graph[note, "id"] == 1)
        #expect(try store.graph[note, "rating"] == 4.5)
        #expect(Value(booleanLiteral: true) == .bool(true))
    }

    @Test func `the error for a value of another type names its kind and the kind to pass`() throws {
        func error(_ entity: String, _ values: KeyValuePairs<String, Value>) -> CambiumError? {
            do { try store.write { _ = try $0.insert(entity, values) } } catch { return error as? CambiumError }
            return nil
        }
        let double = try #require(error("Note", ["id": 2, "rating": 4]))
        #expect(double.code == .invalidInput)
        #expect(double.message.contains(".int") && double.message.contains(".double"))
        let number = try #require(error("Note", ["id": "2"]))
        #expect(number.code == .invalidInput)
        #expect(number.message.contains(".string") && number.message.contains(".int"))
        let range = try #require(error("Item", ["key": "a", "count": .int(1 << 40)]))
        #expect(range.code == .invalidInput)
        #expect(range.message.contains("int32") && range.message.contains("1099511627776"))
        #expect(store.graph.objectCount == 1)
    }

    @Test func `reading by id returns what the bound attribute returns`() throws {
        let title = try store.schema.required("Note").requiredAttribute("title")
        #expect(store.graph[note, title] == "Paris")
        let written = try store.write { transaction in
            try transaction.set(note, "title", to: "Rome")
            return transaction[note, title]
        }.result
        #expect(written == "Rome" && store.graph[note, title] == "Rome")
        try store.write { try $0.set(note, title, to: "Paris") }
        #expect(store.graph.column(title).string(at: try #require(store.graph.place(of: note))) == "Paris")
    }

    @Test func `reading an object or a name that does not exist throws`() throws {
        let title = try store.schema.required("Note").requiredAttribute("title")
        #expect(code { _ = try store.graph[note, "titel"] } == .unknownName)
        #expect(code { _ = try store.graph.members("item", of: note) } == .unknownName)
        #expect(code { _ = try store.graph.objects(of: "Notes") } == .unknownName)
        #expect(code { _ = try store.graph.count(of: "Notes") } == .unknownName)
        try store.write { try $0.delete(note) }
        #expect(code { _ = try store.graph[note, "title"] } == .notFound)
        #expect(code { _ = try store.graph.members("items", of: note) } == .notFound)
        let calls: [() throws -> Void] = [
            { _ = try store.graph[note, "title"] }, { try store.write { try $0.set(note, "title", to: "x") } },
            { try store.write { try $0.link(note, "items", note) } }, { try store.write { _ = try $0.clone(note) } },
        ]
        for call in calls {
            let error = #expect(throws: CambiumError.self) { try call() }
            #expect(error?.message.contains("does not exist. Use the id of an object") == true, "\(error?.message ?? "")")
        }
        #expect(store.graph[note, title] == nil)
        #expect(store.graph.name(of: note) == nil)
    }

    @Test func `objects, places and the first object are the same objects`() throws {
        try store.write { for number in 2...300 { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        let graph = store.graph
        let ids = Array(try graph.objects(of: "Note"))
        #expect(ids.count == 300)
        #expect(try graph.count(of: "Note") == 300)
        #expect(graph.places(of: try graph.schema.required("Note")).map(graph.id(of:)) == ids)
        #expect(try graph.objects(of: "Note").first == ids.first)
        #expect(try graph.objects(of: "Memo").first == nil)
    }

    @Test func `an identity finds an id, a place and a name`() throws {
        let entity = try store.schema.required("Note")
        #expect(try store.graph.find("Note", identity: [1]) == note)
        #expect(store.graph.find(entity, identity: [1]) == note)
        #expect(store.graph.place(entity, identity: [1]).map(store.graph.id(of:)) == note)
        #expect(try store.graph.find("Note", identity: [2]) == nil)
        #expect(store.graph.name(of: note) == "Note/1")
    }

    @Test func `an identity is not found by a text of the same bytes but another type`() throws {
        let schema = try Schema {
            EntityDefinition("Site", identity: ["address"]) { AttributeDefinition("address", .uri) }
            EntityDefinition("Page", identity: ["digest"]) { AttributeDefinition("digest", .data) }
        }
        let store = try Store.inMemory(schema: schema)
        let site = try store.write { try $0.insert("Site", ["address": .uri("x:a")]) }.result
        let page = try store.write { try $0.insert("Page", ["digest": .data(Array("x:a".utf8))]) }.result
        #expect(try store.graph.find("Site", identity: [.uri("x:a")]) == site)
        #expect(try store.graph.find("Page", identity: [.data(Array("x:a".utf8))]) == page)
        for entity in ["Site", "Page"] {
            #expect(TestFixtures.code(of: { _ = try store.graph.find(entity, identity: ["x:a"]) }) == .invalidInput)
            #expect(TestFixtures.code(of: { _ = try store.edit().find(entity, identity: ["x:a"]) }) == .invalidInput)
            #expect(TestFixtures.code(of: { _ = try store.write { try $0.find(entity, identity: ["x:a"]) } }) == .invalidInput)
        }
        #expect(try store.graph.find(Query("Site", where: "address == \"x:a\"")) == [site])
    }

    @Test(arguments: [[], [1], ["a"], ["a", 1, 2], [1, "a"], ["a", "1"]] as [[Value]])
    func `an identity of the wrong types or in the wrong order is refused`(values: [Value]) throws {
        let schema = try Schema {
            EntityDefinition("Issue", identity: ["project", "number"]) {
                AttributeDefinition("project", .string)
                AttributeDefinition("number", .int16)
            }
        }
        let store = try Store.inMemory(schema: schema)
        #expect(TestFixtures.code(of: { _ = try store.graph.find("Issue", identity: values) }) == .invalidInput)
        #expect(TestFixtures.code(of: { _ = try store.edit().find("Issue", identity: values) }) == .invalidInput)
        #expect(TestFixtures.code(of: { _ = try store.write { try $0.find("Issue", identity: values) } }) == .invalidInput)
        #expect(try store.graph.find("Issue", identity: ["a", 100_000]) == nil)
    }

    @Test func `a transaction reads by names what it has written`() throws {
        try store.write { transaction in
            try transaction.set(note, "title", to: "Rome")
            let item = try transaction.insert("Item", ["key": "a"], links: ["note": [note]])
            #expect(try transaction[note, "title"] == "Rome")
            #expect(try transaction.members("items", of: note) == [item])
            #expect(try transaction.find("Item", identity: ["a"]) == item)
            #expect(code { _ = try transaction[note, "titel"] } == .unknownName)
            #expect(code { _ = try transaction.members("tags", of: note) } == .unknownName)
            try transaction.delete(item)
            #expect(code { _ = try transaction[item, "key"] } == .notFound)
        }
    }

    @Test func `opening keeps the durability of a store`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }  // The operating system removes leftovers.
        let buffered = Durability.buffered(every: .seconds(2))
        for (asked, expected) in [(buffered, buffered), (nil, buffered), (.synced, .synced)] as [(Durability?, Durability)] {
            let store = try Store.open(at: path, creating: Notes.schema, durability: asked)
            #expect(store.durability == expected)
            try store.close()
        }
    }

    @Test func `an insert links the object`() throws {
        let (item, memo) = try store.write { transaction in
            let tags = [try transaction.insert("Tag", ["name": "red"]), try transaction.insert("Tag", ["name": "blue"])]
            let item = try transaction.insert("Item", ["key": "a"], links: ["note": [note], "tags": tags])
            return (item, try transaction.insert("Memo", links: ["note": [note]]))
        }.result
        let graph = store.graph
        #expect(try graph.members("items", of: note) == [item])
        #expect(try graph.members("memos", of: note) == [memo])
        #expect(try graph.members("tags", of: item).map { try graph[$0, "name"].text }.sorted() == ["blue", "red"])
    }

    @Test func `an insert with an impossible link changes nothing`() throws {
        let tag = try store.write { try $0.insert("Tag", ["name": "red"]) }.result
        let gone = try store.write { try $0.insert("Note", ["id": 9]) }.result
        try store.write { try $0.delete(gone) }
        let before = store.graph.digest()
        let cases: [(links: KeyValuePairs<String, [ObjectID]>, code: CambiumError.Code)] = [
            (["note": [note], "labels": [tag]], .unknownName), (["note": [note], "tags": [note]], .invalidInput),
            (["note": [note, note]], .invalidInput), (["tags": [tag], "note": [gone]], .notFound),
        ]
        try store.write { transaction in
            for (links, expected) in cases {
                #expect(code { _ = try transaction.insert("Item", ["key": "a"], links: links) } == expected)
            }
        }
        #expect(store.graph.digest() == before)
    }

    @Test func `a schema and the store that was made of it have equal attributes`() throws {
        let (own, stored) = (try Notes.schema.required("Note"), try store.schema.required("Note"))
        #expect(own == stored)
        #expect(Set(own.attributes) == Set(stored.attributes))
        #expect(Set(own.relationships) == Set(stored.relationships))
        #expect(own != (try store.schema.required("Item")))
        #expect(own.attributes[0] != own.attributes[1])
    }

    @Test func `opening creates a store once and keeps its schema`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }  // The operating system removes leftovers.
        let other = try Schema(SchemaDefinition { EntityDefinition("Other") })
        for (schema, count) in [(Notes.schema, 1), (Notes.schema, 2), (other, 3)] {
            let store = try Store.open(at: path, creating: schema)
            try store.write { try $0.insert("Note", ["id": .int(Int64(count))]) }
            #expect(try store.graph.count(of: "Note") == count)
            try store.close()
        }
    }
}
