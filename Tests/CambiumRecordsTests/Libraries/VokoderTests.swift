import Cambium
import Dispatch
import FoundationEssentials
import TestFixtures
import Testing

/// The cases of Vokoder's own tests that the files in Tests/ImportCases do not have, in this API.
@Suite("Vokoder's cases: counting, fetching, deleting, hooks")
struct VokoderTests {
    private let store: Store

    init() throws {
        store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person", identity: ["lastName"]) {
                    AttributeDefinition("lastName", .string)
                    AttributeDefinition("firstName", .string, .optional)
                    AttributeDefinition("birthDay", .date, .optional)
                    AttributeDefinition("numberOfCats", .int32, .optional, default: 0)
                    AttributeDefinition("lovesCoolRanch", .bool, .optional)
                    RelationshipDefinition("thing", to: "Thing")
                }
                EntityDefinition("Thing") {
                    AttributeDefinition("name", .string)
                    AttributeDefinition("numberOfHats", .int32, default: 0)
                }
            })
    }

    private func addThings(_ hats: ClosedRange<Int>) throws {
        try store.write { transaction in
            for hats in hats {
                try transaction.insert("Thing", ["name": .string("Thing \(hats)"), "numberOfHats": .int(Int64(hats))])
            }
        }
    }

    private func add(_ row: String, _ options: ImportOptions = ImportOptions(), hooks: ImportHooks = ImportHooks()) throws -> ImportReport {
        let person = try store.schema.required("Person")
        return try store.importRows(person, from: [.bytes(Array(row.utf8))], options, hooks: hooks)
    }

    @Test(
        "a deletion by a condition deletes the objects that satisfy it", arguments: [(">100", 10), ("== 5", 9), (">= 5", 4), ("< 50", 0)])
    func deletion(condition: String, left: Int) throws {
        try addThings(1...10)
        let found = try store.graph.find(Query("Thing", where: "numberOfHats \(condition)"))
        let receipt = try store.write { try $0.delete(found) }.receipt
        #expect(try store.graph.count(of: "Thing") == left)
        #expect(receipt.hasChanges == (left < 10))
    }

    @Test("a deletion of all objects follows the delete rules, and is one transaction")
    func deletionRules() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person") {
                    RelationshipDefinition("things", to: "Thing", .toMany, inverse: "owner", onDelete: .cascade)
                }
                EntityDefinition("Thing") { RelationshipDefinition("owner", to: "Person", inverse: "things") }
            })
        let first = try store.write { transaction in
            for _ in 1...3 {
                let things = [try transaction.insert("Thing"), try transaction.insert("Thing")]
                try transaction.insert("Person", links: ["things": things])
            }
            try transaction.insert("Thing")
        }.receipt.transaction
        let persons = Array(try store.graph.objects(of: "Person"))
        let receipt = try store.write { try $0.delete(persons) }.receipt
        #expect(try store.graph.count(of: "Person") == 0)
        #expect(try store.graph.count(of: "Thing") == 1)
        #expect(receipt.transaction?.rawValue == first.map { $0.rawValue + 1 })
    }

    @Test("counts and existence follow a condition")
    func counts() throws {
        _ = try add(#"[{"lastName": "DotCom", "firstName": "Bananaman"}, {"lastName": "Bolgna", "firstName": "Francis"}]"#)
        let graph = store.graph
        #expect(try graph.count(of: "Person") == 2)
        #expect(try graph.count(Query("Person", where: "firstName == \"Francis\"")) == 1)
        #expect(try graph.contains(Query("Person", where: "firstName == \"Bananaman\"")))
        #expect(try !graph.contains(Query("Person", where: "firstName == \"Nobody\"")))
    }

    @Test("fetching one object returns null for none, and throws for several")
    func one() throws {
        try addThings(1...3)
        let graph = store.graph
        #expect(try graph.only(Query("Thing", where: "numberOfHats == 2")) != nil)
        #expect(try graph.only(Query("Thing", where: "numberOfHats == 7")) == nil)
        #expect(throws: CambiumError.self) { try graph.only(Query("Thing")) }
    }

    @Test("objects are sorted by a key in both directions")
    func sorting() throws {
        try addThings(1...3)
        let hats = { (sort: String) in
            try store.graph.find(Query("Thing", sort: sort)).map { try store.graph[$0, "numberOfHats"] }
        }
        #expect(try hats("numberOfHats") == [1, 2, 3])
        #expect(try hats("-numberOfHats") == [3, 2, 1])
    }

    @Test("an object is found by its id, and an id without an object is not found")
    func ids() throws {
        try addThings(1...1)
        let id = try #require(try store.graph.objects(of: "Thing").first)
        #expect(try store.graph.find(Query("Thing", where: "_id == \(id)")) == [id])
        #expect(try store.graph.find(Query("Thing", where: "_id == Thing/99")) == [])
    }

    @Test("an unknown key raises if the options say so, and a mapping of an unknown property is refused")
    func unknownKeys() throws {
        var options = ImportOptions()
        options.unknown = .error
        #expect(throws: CambiumError.self) { try add(#"{"lastName": "a", "cat_num": 5}"#, options) }
        options = ImportOptions()
        options.mapping = ImportMapping(entity: "Person", attributes: ["firstName-FAIL": "first"])
        let error = try #require(throws: CambiumError.self) { try add(#"{"lastName": "a", "first": "b"}"#, options) }
        #expect(error.code == .invalidInput)
        #expect(store.graph.objectCount == 0)
    }

    @Test("the unique key may come from a key path, and a second row overwrites")
    func uniqueKeyPath() throws {
        var options = ImportOptions()
        options.mapping = ImportMapping(
            entity: "Person",
            attributes: [
                "lastName": "name.last", "birthDay": PropertyMapping(.path("birthday"), dates: [.pattern("dd MMM yy HH:mm")]),
            ])
        _ = try add(#"{"name": {"last": "L"}, "birthday": "24 Jul 83 14:16"}"#, options)
        let report = try add(#"{"name": {"last": "L"}, "birthday": "24 Jul 75 23:00"}"#, options)
        #expect(report.counts.updated == 1)
        let person = try #require(try store.graph.find("Person", identity: ["L"]))
        #expect(try store.graph[person, "birthDay"] == .date(Date(timeIntervalSince1970: 175_474_800)))
    }

    @Test("rows with the same key update one object in turn, which the list of objects has once")
    func repeatedKeys() throws {
        var options = ImportOptions()
        options.rowObjects = .report
        let rows = ["a", "b", "a"].enumerated().map { #"{"lastName": "\#($1)", "firstName": "\#($0)"}"# }.joined(separator: "\n")
        let report = try store.importRows(try store.schema.required("Person"), from: [.bytes(Array(rows.utf8))], options)
        #expect(report.rowObjects.count == 3)
        #expect(try report.distinctObjects.map { try store.graph[$0, "firstName"] } == ["2", "1"])
    }

    @Test("a completion block inserts an object from the row and links it")
    func relatedObject() throws {
        let hooks = ImportHooks(finish: { transaction, person, row in
            guard let nested = row["nested_thing"], case .string(let name)? = nested["thing_name"] else { return }
            let thing = try transaction.insert("Thing", ["name": .string(name), "numberOfHats": 15])
            try transaction.link(person, "thing", thing)
        })
        _ = try add(#"{"lastName": "GUY1", "nested_thing": {"thing_name": "thingamajig"}}"#, hooks: hooks)
        let person = try #require(try store.graph.find("Person", identity: ["GUY1"]))
        let thing = try #require(try store.graph.members("thing", of: person).first)
        #expect(try store.graph[thing, "name"] == "thingamajig")
        #expect(try store.graph[thing, "numberOfHats"] == 15)
    }

    @Test("an import in a task returns the object of each row, in order")
    func background() async throws {
        var options = ImportOptions()
        options.rowObjects = .report
        let rows = (1...5).map { #"{"lastName": "\#($0)"}"# }.joined(separator: "\n")
        let person = try store.schema.required("Person")
        let report = try await store.importRows(person, from: [.bytes(Array(rows.utf8))], options)
        let names = try report.rowObjects.map { try store.graph[#require($0), "lastName"] }
        #expect(names == ["1", "2", "3", "4", "5"])
    }

    @Test("an import in a task leaves the actor of its caller free") @MainActor
    func freeActor() async throws {
        struct Blocked: Error {}
        let isFree = DispatchSemaphore(value: 0)
        let hooks = ImportHooks(prepare: { _ in
            guard isFree.wait(timeout: .now() + 60) == .success else { throw Blocked() }
            isFree.signal()  // A row may be prepared more than once.
        })
        Task { isFree.signal() }  // It runs on this actor, as soon as the actor is free.
        let person = try store.schema.required("Person")
        let report = try await store.importRows(person, from: [.bytes(Array(#"{"lastName": "a"}"#.utf8))], hooks: hooks)
        #expect(report.counts.inserted == 1)
    }

    @Test("pages follow each other while objects are inserted and deleted")
    func pages() throws {
        try addThings(1...5)
        var page = try Query("Thing", sort: "numberOfHats", limit: 2)
        let first = try store.graph.answer(page)
        page.cursor = first.cursor
        try store.write { try $0.delete(first.ids) }
        try addThings(0...0)
        #expect(try store.graph.find(page).map { try store.graph[$0, "numberOfHats"] } == [3, 4])
    }

    @Test("edits of a temporary context are invisible until they are committed")
    func temporaryContext() throws {
        try addThings(1...1)
        let thing = try #require(try store.graph.objects(of: "Thing").first)
        var edit = store.edit()
        try edit.set(thing, "name", to: "draft")
        #expect(try store.graph[thing, "name"] == "Thing 1")
        try store.commit(&edit)
        #expect(try store.graph[thing, "name"] == "draft")
    }
}
