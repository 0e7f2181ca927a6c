import Cambium
import CambiumTesting
import TestFixtures
import Testing

@Suite("Live records and changes of records")
struct RecordLiveTests {
    @Test("a live query delivers records and their differences")
    func live() async throws {
        let store = try Library.store()
        var tags = [Tag("b"), Tag("a")]
        try store.save(&tags)
        var updates = store.live(RecordQuery<Tag> { $0.name < "m" }.sorted(by: \.name)).makeAsyncIterator()
        let first = try #require(await updates.next())
        #expect(try first.records().map(\.name) == ["a", "b"])
        try await store.write { transaction in
            var added = [Tag("c"), Tag("z")]
            try transaction.save(&added)
        }
        let second = try #require(await updates.next())
        #expect(try second.inserted().map(\.record.name) == ["c"])
        #expect(try second.records().map(\.name) == ["a", "b", "c"])
    }

    @Test("changes between two graphs are records of both")
    func changes() throws {
        let store = try Library.store()
        var tags = [Tag("a"), Tag("b")]
        try store.save(&tags)
        let earlier = store.graph
        tags[0].name = "A"
        try store.save(&tags[0])
        try store.delete(&tags[1])
        var new = Tag("c")
        try store.save(&new)
        var jane = Writer(id: 1, name: "Jane")
        try store.save(&jane)
        let changes = try store.graph.changes(since: earlier).records(of: Tag.self)
        #expect(changes.inserted.map(\.name) == ["c"])
        #expect(changes.deleted.map(\.name) == ["b"])
        #expect(changes.changed.map(\.before.name) == ["a"])
        #expect(changes.changed.map(\.after.name) == ["A"])
    }

    @Test("the objects of a sub-entity that a migration removes are deleted records of its parent")
    func removedSubentity() throws {
        struct Party: BlankRecord {
            var name = ""
            var ref: Ref<Party>?
            static let recordSchema = RecordSchema<Party>("Party") { RecordProperty("name", \.name) }
        }
        struct Person: BlankRecord {
            var name = ""
            var ref: Ref<Person>?
            static let recordSchema = RecordSchema<Person>("Person", parent: Party.self) { RecordProperty("name", \.name) }
        }
        let store = try Store.inMemory(schema: Schema(of: Person.self))
        var person = Person()
        person.name = "Jane"
        try store.save(&person)
        let earlier = store.graph
        try store.migrate(to: SchemaDefinition(of: Party.self))
        let changes = try store.graph.changes(since: earlier).records(of: Party.self)
        #expect(changes.deleted.map(\.name) == ["Jane"])
    }

    @Test("the deleted objects of a sub-entity are not omitted if the migration also renames the parent")
    func renamedParent() throws {
        struct Team: BlankRecord {
            var name = ""
            var ref: Ref<Team>?
            static let recordSchema = RecordSchema<Team>("Team") { RecordProperty("name", \.name) }
        }
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Party") { AttributeDefinition("name", .string) }
                EntityDefinition("Person", parent: "Party")
            })
        try store.write { _ = try $0.insert("Person", ["name": "Jane"]) }
        let earlier = store.graph
        try store.migrate(
            to: SchemaDefinition { EntityDefinition("Team", renamedFrom: "Party") { AttributeDefinition("name", .string) } })
        // The record does not fit the earlier schema, in which the entity has another name, so the deleted object cannot be a record.
        let error = #expect(throws: CambiumError.self) { try store.graph.changes(since: earlier).records(of: Team.self) }
        #expect(error?.code == .unknownName)
    }

    @Test("a consumer of records may begin before the first transaction, which has the schema")
    func allChanges() async throws {
        let store = try TestDisk().create(schema: Schema(of: Tag.self))
        var tag = Tag("a")
        try store.save(&tag)
        var names: [[String]] = []
        for try await committed in store.changes(from: .none) {
            names.append(try committed.changes.records(of: Tag.self).inserted.map(\.name))
            if committed.transaction == store.graph.transaction { break }
        }
        #expect(names == [[], ["a"]])
        try store.close()
    }

    @Test("a column reads one property of many records")
    func column() throws {
        let store = try Library.store()
        var writers = [Writer(id: 1, name: "Jane"), Writer(id: 5, name: "Anne")]
        try store.save(&writers)
        let graph = store.graph
        let (ids, names, born) = (try graph.column(\Writer.id), try graph.column(\Writer.name), try graph.column(\Writer.born))
        let places = Array(try graph.places(of: Writer.self))
        #expect(places.map { ids[$0] } == [1, 5])
        #expect(places.map { names[$0] } == ["Jane", "Anne"])
        #expect(places.map { born[$0] } == [nil, nil])
        let bindings = try graph.column(\Book.binding)
        #expect(places.map { bindings[$0] } == [nil, nil])
    }
}
