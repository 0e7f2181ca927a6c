import Cambium
import TestFixtures
import Testing

/// Editing and reading a kept edit.
@Suite struct EditTests {
    private let store: Store
    private let note: ObjectID
    private let items: [ObjectID]
    private let memos: [ObjectID]

    init() throws {
        store = try Store.inMemory(schema: Notes.schema)
        (note, items, memos) = try store.write { transaction in
            let note = try transaction.insert("Note", ["id": 1, "title": "Paris"])
            let items = try ["a", "b"].map { try transaction.insert("Item", ["key": .string($0)], links: ["note": [note]]) }
            let memos = try ["x", "y", "z"].map { try transaction.insert("Memo", ["text": .string($0)], links: ["note": [note]]) }
            return (note, items, memos)
        }.result
    }

    // MARK: Reading

    @Test func `an edit shows its values and the store does not`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        #expect(try edit[note, "title"] == "Rome")
        #expect(try store.graph[note, "title"] == "Paris")
    }

    @Test func `an edit does not see changes of the store after its base`() throws {
        let edit = store.edit()
        try store.write { try $0.set(note, "title", to: "Oslo") }
        #expect(try edit[note, "title"] == "Paris")
    }

    @Test func `an inserted object reads like any other`() throws {
        var edit = store.edit()
        let item = try edit.insert("Item", ["key": "c"], links: ["note": [note]])
        #expect(item.isProvisional)
        #expect(edit.contains(item))
        #expect(edit.name(of: item) == "Item/+1")
        #expect(try edit[item, "key"] == "c")
        #expect(try edit[item, "count"] == .null)
        #expect(try edit.members("items", of: note) == items + [item])
        #expect(try edit.objects(of: "Item") == items + [item])
        #expect(try edit.count(of: "Item") == 3)
        #expect(!store.graph.contains(item))
    }

    @Test func `an inserted object has the defaults of its entity`() throws {
        var edit = store.edit()
        let inserted = try edit.insert("Note", ["id": 2])
        #expect(try edit[inserted, "title"] == "")
    }

    @Test func `provisional ids of two edits differ`() throws {
        var (first, second) = (store.edit(), store.edit())
        let (one, two) = (try first.insert("Note", ["id": 2]), try second.insert("Note", ["id": 2]))
        #expect(one != two)
        #expect(!first.contains(two))
    }

    @Test func `an identity finds changed and inserted objects`() throws {
        var edit = store.edit()
        try edit.set(note, "id", to: 7)
        let inserted = try edit.insert("Note", ["id": 1])
        #expect(try edit.find("Note", identity: [7]) == note)
        #expect(try edit.find("Note", identity: [1]) == inserted)
        try edit.delete(inserted)
        #expect(try edit.find("Note", identity: [1]) == nil)
    }

    @Test func `handles and names read the same`() throws {
        var edit = store.edit()
        let entity = try store.schema.required("Note")
        let (title, related) = (try entity.requiredAttribute("title"), try entity.requiredRelationship("related"))
        try edit.set(note, title, to: "Rome")
        try edit.link(note, related, note)
        #expect(edit[note, title] == "Rome")
        #expect(edit.members(related, of: note) == [note])
        #expect(edit.find(entity, identity: [1]) == note)
        #expect(edit.count(of: entity) == 1)
        #expect(edit.entity(of: note) == entity)
    }

    // MARK: Links

    @Test func `a to-one link replaces the previous one at both ends`() throws {
        var edit = store.edit()
        let other = try edit.insert("Note", ["id": 2])
        try edit.link(items[0], "note", other)
        #expect(try edit.members("note", of: items[0]) == [other])
        #expect(try edit.members("items", of: note) == [items[1]])
        #expect(try edit.members("items", of: other) == [items[0]])
    }

    @Test func `an ordered relationship takes an index`() throws {
        var edit = store.edit()
        let memo = try edit.insert("Memo")
        try edit.link(note, "memos", memo, at: 1)
        #expect(try edit.members("memos", of: note) == [memos[0], memo, memos[1], memos[2]])
        try edit.move(note, "memos", memos[2], to: 0)
        #expect(try edit.members("memos", of: note) == [memos[2], memos[0], memo, memos[1]])
        try edit.unlink(note, "memos", memos[0])
        #expect(try edit.members("note", of: memos[0]) == [])
    }

    @Test func `a deletion cascades and nullifies`() throws {
        var edit = store.edit()
        let other = try edit.insert("Note", ["id": 2], links: ["related": [note]])
        try edit.delete(note)
        #expect(!edit.contains(note))
        #expect(!edit.contains(items[0]))
        #expect(!edit.contains(memos[2]))
        #expect(try edit.members("related", of: other) == [])
        #expect(try edit.objects(of: "Note") == [other])
        #expect(edit.name(of: note) == nil)
    }

    @Test func `a member that was removed first survives the deletion`() throws {
        var edit = store.edit()
        try edit.unlink(note, "items", items[0])
        try edit.delete(note)
        #expect(edit.contains(items[0]))
        try store.commit(&edit)
        #expect(store.graph.contains(items[0]))
        #expect(!store.graph.contains(items[1]))
    }

    // MARK: Errors

    @Test func `errors have the codes of a transaction, and change nothing`() throws {
        var edit = store.edit()
        let gone = try edit.insert("Note", ["id": 9])
        try edit.delete(gone)
        let before = edit.dump
        #expect(code { try edit.set(gone, "title", to: "a") } == .notFound)
        #expect(code { try edit.set(note, "titel", to: "a") } == .unknownName)
        #expect(code { try edit.set(note, "title", to: 4) } == .invalidInput)
        #expect(code { _ = try edit.insert("Notes") } == .unknownName)
        #expect(code { _ = try edit.insert("Item", ["key": "k"], links: ["note": [note, note]]) } == .invalidInput)
        #expect(code { try edit.link(note, "items", note) } == .invalidInput)
        #expect(code { try edit.link(note, "items", items[0], at: 0) } == .invalidInput)
        #expect(code { try edit.link(note, "memos", memos[0], at: 4) } == .invalidInput)
        #expect(code { try edit.move(note, "memos", memos[0], to: 3) } == .invalidInput)
        #expect(code { try edit.delete(gone) } == .notFound)
        #expect(code { _ = try edit.members("note", of: gone) } == .notFound)
        #expect(edit.dump == before)
    }

    @Test func `a value that breaks a rule is refused at once`() throws {
        let schema = try Schema(SchemaDefinition { EntityDefinition("A") { AttributeDefinition("n", .int32, max: 10) } })
        var edit = try Store.inMemory(schema: schema).edit()
        #expect(code { _ = try edit.insert("A", ["n": 11]) } == .ruleViolated)
        #expect(edit.isEmpty)
    }

    @Test func `rules of the whole graph are checked at the commit`() throws {
        var edit = store.edit()
        _ = try edit.insert("Note", ["id": 1])
        #expect(code { try store.commit(&edit) } == .ruleViolated)
        #expect(try edit.count(of: "Note") == 2)
    }

    // MARK: Undo

    @Test func `undo and redo restore each step`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        let item = try edit.insert("Item", ["key": "c"], links: ["note": [note]])
        edit.undo()
        #expect(!edit.contains(item))
        #expect(try edit[note, "title"] == "Rome")
        edit.redo()
        #expect(try edit.members("note", of: item) == [note])
        let undone = [edit.undo(), edit.undo(), edit.undo()]
        #expect(undone == [true, true, false])
        #expect(edit.isEmpty)
        try edit.set(note, "title", to: "Oslo")
        #expect(!edit.canRedo)
    }

    @Test func `a group is one step`() throws {
        var edit = store.edit()
        try edit.group { edit in
            try edit.set(note, "title", to: "Rome")
            try edit.delete(items[0])
            #expect(!edit.canUndo)
        }
        edit.undo()
        #expect(edit.isEmpty)
        #expect(!edit.canUndo)
    }

    @Test func `a group that throws changes nothing`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        let before = edit.dump
        #expect(
            code {
                try edit.group { edit in
                    try edit.delete(note)
                    try edit.set(note, "title", to: "Oslo")
                }
            } == .notFound)
        #expect(edit.dump == before)
        edit.undo()
        #expect(edit.isEmpty)
    }

    @Test func `a call without effect is not a step`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Paris")
        try edit.link(note, "items", items[0])
        #expect(!edit.canUndo)
    }

    // MARK: Changes

    @Test func `the changes of an edit have the values before and after`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try edit.delete(items[0])
        let memo = try edit.insert("Memo", links: ["note": [note]])
        let changes = edit.changes
        #expect(changes.map(\.id) == [note, items[0], memo])
        #expect(changes.map(\.kind) == [.changed, .deleted, .inserted])
        #expect(changes[0].attributes.map(\.before) == ["Paris"])
        #expect(changes[0].attributes.map(\.after) == ["Rome"])
        #expect(changes[0].relationships.map(\.relationship.name) == ["items", "memos"])
        #expect(changes[0].relationships.map(\.removed) == [[items[0]], []])
        #expect(changes[0].relationships.map(\.added) == [[], [memo]])
    }

    @Test func `the deletion of an object changes the objects that are linked to it without an inverse`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("City") { AttributeDefinition("name", .string, default: "") }
            EntityDefinition("Trip") {
                RelationshipDefinition("start", to: "City")
                RelationshipDefinition("stops", to: "City", .orderedToMany)
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let (city, trip) = try store.write { transaction in
            let city = try transaction.insert("City")
            return (city, try transaction.insert("Trip", links: ["start": [city], "stops": [city]]))
        }.result
        let base = store.graph
        var edit = store.edit()
        try edit.delete(city)
        let changes = edit.changes
        #expect(Set(changes.map(\.id)) == [city, trip])
        #expect(changes.first { $0.id == trip }?.relationships.map(\.removed) == [[city], [city]])
        try store.commit(&edit)
        #expect(store.graph.changes(since: base).map(\.id) == changes.map(\.id))
    }

    @Test func `changes that cancel out leave an empty edit`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try edit.set(note, "title", to: "Paris")
        try edit.unlink(note, "items", items[0])
        try edit.link(items[0], "note", note)
        try edit.move(note, "memos", memos[0], to: 2)
        try edit.move(note, "memos", memos[0], to: 0)
        try edit.delete(try edit.insert("Memo", links: ["note": [note]]))
        #expect(edit.isEmpty)
        #expect(edit.changes.isEmpty)
    }

    @Test func `a copy of an edit is independent`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        var copy = edit
        try copy.set(note, "title", to: "Oslo")
        #expect(try edit[note, "title"] == "Rome")
        #expect(try copy[note, "title"] == "Oslo")
    }
}
