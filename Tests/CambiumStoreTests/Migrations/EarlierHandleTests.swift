import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// Handles of entities and properties from before a migration.
@Suite struct EarlierHandleTests {
    @Test func `handles of another schema read only their own properties`() throws {
        let notes = try MigratedNotes()
        let before = notes.store.graph
        let note = try before.schema.required("Note")
        let (title, rating) = (try note.requiredAttribute("title"), try note.requiredAttribute("rating"))
        let (items, memos) = (try note.requiredRelationship("items"), try note.requiredRelationship("memos"))
        let fields = [before.field(title), before.field(rating)]
        let ends = [before.end(items), before.end(memos)]
        try notes.migrate {
            $0["Note"].remove("rating")
            $0["Note"][attribute: "id"].type = .decimal
            $0["Note"].attributes.insert(AttributeDefinition("first", .bool, default: true), at: 0)
            $0["Note"].remove("memos")
            $0.entities.removeAll { $0.name == "Memo" }
            $0["Note"][relationship: "items"].cardinality = .orderedToMany
        }
        let graph = notes.store.graph
        let id = ObjectID(root: note.root, serial: 1)
        let place = try #require(graph.place(of: id))
        #expect(graph.value(of: fields[0], at: place) == .string("Paris") && graph.value(of: fields[1], at: place) == .null)
        #expect(graph.value(of: title, of: id) == .string("Paris") && graph.value(of: rating, of: id) == .null)
        #expect(graph.value(of: try note.requiredAttribute("id"), of: id) == .decimal(DecimalNumber(1)))
        #expect(graph.column(rating).value(at: place) == .null && graph.column(title).string(at: place) == "Paris")
        #expect(graph.memberIDs(ends[0], of: place).count == 2 && graph.memberIDs(ends[1], of: place) == [])
        #expect(graph.memberCount(ends[1], of: place) == 0 && Array(graph.members(ends[1], of: place)).isEmpty)
        #expect(graph.target(ends[1], of: place) == nil && graph.member(ends[1], of: place, at: 0) == nil)
        #expect(graph.relation(memos).count(of: place) == 0 && graph.relation(items).count(of: place) == 2)
        let memo = try before.schema.required("Memo")
        #expect(graph.count(of: memo) == 0 && Array(graph.objects(of: memo)).isEmpty && graph.count(of: note) == 3)
        #expect(graph.place(note, identity: [.int(1)]) == nil && graph.finder(note) != nil)
        // The other way round: the old graph reads a field that the new schema resolved.
        let first = graph.field(try graph.schema.required("Note").requiredAttribute("first"))
        let old = try #require(before.place(of: id))
        #expect(before.value(of: first, at: old) == .null && before.value(of: fields[1], at: old) == .double(4.5))
    }

    @Test func `a transaction refuses properties and entities that its schema lacks`() throws {
        let notes = try MigratedNotes()
        let before = notes.store.schema
        let note = try before.required("Note")
        let id = ObjectID(root: note.root, serial: 1)
        try notes.migrate {
            $0["Note"].remove("rating")
            $0["Note"][attribute: "title"].maxLength = 6
            $0.entities.removeAll { $0.name == "Memo" }
            $0["Note"].remove("memos")
        }
        let calls: [(inout WriteTransaction) throws -> Void] = [
            { try $0.set(id, note.requiredAttribute("rating"), to: .double(1)) },
            { _ = try $0.insert(before.required("Memo")) },
            { try $0.link(id, note.requiredRelationship("memos"), id) },
            { try $0.unlink(id, note.requiredRelationship("memos"), id) },
        ]
        for call in calls {
            let found = code { try notes.store.write { try call(&$0) } }
            #expect(found == .invalidInput || found == nil)
        }
        #expect(
            code { try notes.store.write { try $0.set(id, note.requiredAttribute("title"), to: .string("too long")) } } == .ruleViolated)
        #expect(code { _ = try notes.store.importRows(before.required("Memo"), from: [.bytes(Array(#"{"text":"x"}"#.utf8))]) } != nil)
        try notes.check()
    }

    @Test func `a transaction and an edit refuse changes through handles from before a renaming`() throws {
        let notes = try MigratedNotes()
        let note = try notes.store.schema.required("Note")
        let (title, related) = (try note.requiredAttribute("title"), try note.requiredRelationship("related"))
        let id = ObjectID(root: note.root, serial: 1)
        try notes.migrate {
            $0["Note"][attribute: "title"].formerName = "title"
            $0["Note"][attribute: "title"].name = "name"
            $0["Note"][relationship: "related"].formerName = "related"
            $0["Note"][relationship: "related"].inverse = "others"
            $0["Note"][relationship: "related"].name = "others"
        }
        var edit = notes.store.edit()
        #expect(notes.store.graph.value(of: title, of: id) == .string("Paris") && edit[id, title] == .string("Paris"))
        #expect(code { try notes.store.write { try $0.set(id, title, to: .string("x")) } } == .invalidInput)
        #expect(code { try notes.store.write { try $0.unlink(id, related, id) } } == .invalidInput)
        #expect(code { try edit.set(id, title, to: .string("x")) } == .invalidInput)
        #expect(code { try edit.unlink(id, related, id) } == .invalidInput)
        #expect(edit.isEmpty)
    }
}
