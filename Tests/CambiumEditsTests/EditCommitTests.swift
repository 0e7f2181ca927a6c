import Cambium
import TestFixtures
import Testing

/// Committing kept edits to a store that did not change, and previews.
@Suite struct EditCommitTests {
    private let store: Store
    private let note: ObjectID

    init() throws {
        store = try Store.inMemory(schema: Notes.schema)
        note = try store.write { try $0.insert("Note", ["id": 1, "title": "Paris", "rating": 4.5]) }.result
    }

    @Test func `a commit writes the changes and maps the ids`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        let item = try edit.insert("Item", ["key": "a"], links: ["note": [note]])
        let tag = try edit.insert("Tag", ["name": "red"], links: ["items": [item]])
        let committed = try store.commit(&edit, author: Author(actor: "jane"))
        let graph = store.graph
        #expect(committed.receipt.transaction == graph.transaction)
        #expect(committed.ids.count == 2)
        #expect(committed.id(of: note) == note)
        #expect(try graph[note, "title"] == "Rome")
        #expect(try graph.members("items", of: note) == [committed.id(of: item)])
        #expect(try graph.members("tags", of: committed.id(of: item)) == [committed.id(of: tag)])
    }

    @Test func `a committed edit is empty and cannot apply twice`() throws {
        var edit = store.edit()
        let item = try edit.insert("Item", ["key": "a"])
        try store.commit(&edit)
        #expect(edit.isEmpty)
        #expect(!edit.canUndo)
        #expect(!edit.contains(item))
        #expect(edit.base.transaction == store.graph.transaction)
        let transaction = store.graph.transaction
        let second = try store.commit(&edit)
        #expect(second.receipt.transaction == nil)
        #expect(store.graph.transaction == transaction)
        #expect(try store.graph.count(of: "Item") == 1)
    }

    @Test func `an edit of another store is refused`() throws {
        let other = try Store.inMemory(schema: Notes.schema)
        var edit = store.edit()
        try edit.insert("Item", ["key": "a"])
        #expect(code { try other.commit(&edit) } == .misuse)
        #expect(code { try other.preview(edit) { _ in } } == .misuse)
        #expect(code { try edit.rebase(onto: other.graph) } == .misuse)
        #expect(other.graph.objectCount == 0)
        try store.commit(&edit)
        #expect(try store.graph.count(of: "Item") == 1)
    }

    @Test func `an edit continues after its commit`() throws {
        var edit = store.edit()
        let item = try edit.insert("Item", ["key": "a"])
        let first = try store.commit(&edit)
        try edit.set(first.id(of: item), "count", to: 3)
        try store.commit(&edit)
        #expect(try store.graph[first.id(of: item), "count"] == 3)
    }

    @Test func `a repeated request is applied once`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        var again = edit
        try store.commit(&edit, author: Author(requestID: "r1"))
        try store.write { try $0.set(note, "title", to: "Oslo") }
        #expect(code { try store.commit(&again, author: Author(requestID: "r1")) } == .repeated)
        #expect(try store.graph[note, "title"] == "Oslo")
        #expect(!again.isEmpty)
    }

    @Test func `a denied deletion is refused at the commit`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("A") { RelationshipDefinition("bs", to: "B", .toMany, inverse: "a", onDelete: .deny) }
                EntityDefinition("B") { RelationshipDefinition("a", to: "A", inverse: "bs") }
            })
        let store = try Store.inMemory(schema: schema)
        let (a, b) = try store.write { transaction in
            let a = try transaction.insert("A")
            return (a, try transaction.insert("B", links: ["a": [a]]))
        }.result
        var edit = store.edit()
        try edit.delete(a)
        #expect(code { try store.commit(&edit) } == .ruleViolated)
        #expect(!edit.contains(a))
        try edit.delete(b)
        try store.commit(&edit)
        #expect(store.graph.objectCount == 0)
    }

    @Test(arguments: [false, true])
    func `an object may return to its former target after the edit deleted its new target`(isRebased: Bool) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Box") { RelationshipDefinition("parts", to: "Part", .toMany, inverse: "box") }
                EntityDefinition("Part") { RelationshipDefinition("box", to: "Box", inverse: "parts") }
            })
        let (former, new, part) = try store.write { transaction in
            let former = try transaction.insert("Box")
            return (former, try transaction.insert("Box"), try transaction.insert("Part", links: ["box": [former]]))
        }.result
        var edit = store.edit()
        try edit.link(part, "box", new)
        try edit.delete(new)
        try edit.link(part, "box", former)
        if isRebased {
            try store.write { _ = try $0.insert("Part", links: ["box": [former]]) }
            try edit.rebase(onto: store.graph)
        }
        #expect(try edit.members("box", of: part) == [former])
        try store.commit(&edit)
        #expect(try store.graph.members("box", of: part) == [former])
        #expect(!store.graph.contains(new))
    }

    @Test func `committing inside a write is misuse`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try store.write { _ in #expect(code { try store.commit(&edit) } == .misuse) }
        #expect(!edit.isEmpty)
    }

    @Test func `an asynchronous commit returns the next edit`() async throws {
        var edit = store.edit()
        let item = try edit.insert("Item", ["key": "a"], links: ["note": [note]])
        let committed = try await store.commit(edit)
        edit = committed.edit
        #expect(edit.isEmpty)
        #expect(try edit.members("items", of: note) == [committed.id(of: item)])
    }

    // MARK: Previews

    @Test func `a preview answers queries and writes nothing`() throws {
        var edit = store.edit()
        let inserted = try edit.insert("Note", ["id": 2, "rating": 2.0])
        try edit.set(note, "rating", to: 3.0)
        let before = (store.graph.transaction, store.graph.digest())
        let found = try store.preview(edit) { preview in
            #expect(try preview[inserted, "rating"] == 2.0)
            #expect(try preview.count(Query("Note", where: "rating > 4")) == 0)
            #expect(preview.violations.isEmpty)
            return try preview.find(Query("Note", sort: "rating"))
        }
        #expect(found == [inserted, note])
        #expect(store.graph.transaction == before.0)
        #expect(store.graph.digest() == before.1)
    }

    @Test func `a condition of a preview may contain the ids of inserted objects`() throws {
        var edit = store.edit()
        let inserted = try edit.insert("Note", ["id": 2])
        let item = try edit.insert("Item", ["key": "a"], links: ["note": [inserted]])
        try store.preview(edit) { preview in
            let named = try Query("Item", where: "note == $note", ["note": .object(inserted)])
            #expect(try preview.find(named) == [item])
            let comparison = Comparison(Operand(.path(QueryPath(["note"]))), .equal, .object(inserted))
            let built = Query("Item", where: .not(.comparison(comparison)))
            #expect(try preview.count(built) == 0)
        }
    }

    @Test func `groups of a preview have the ids of inserted objects`() throws {
        var edit = store.edit()
        let inserted = try edit.insert("Note", ["id": 2])
        _ = try edit.insert("Item", ["key": "a"], links: ["note": [inserted]])
        try store.preview(edit) { preview in
            let grouping = Grouping(by: [try Operand(parsing: "note")], [.count], having: try Condition(parsing: "note == $note"))
            let rows = try preview.aggregate(Query("Item", ["note": .object(inserted)]), grouping)
            #expect(rows.map(\.group) == [[.object(inserted)]])
        }
    }

    @Test func `a preview reports the rules that a commit would break`() throws {
        var edit = store.edit()
        _ = try edit.insert("Note", ["id": 1])
        let violations = try store.preview(edit) { $0.violations }
        #expect(violations.count == 1)
    }

    @Test func `a preview has derived values`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("A") {
                    AttributeDefinition("count", .int64, .optional, derived: .count("bs"))
                    RelationshipDefinition("bs", to: "B", .toMany, inverse: "a")
                }
                EntityDefinition("B") { RelationshipDefinition("a", to: "A", inverse: "bs") }
            })
        let store = try Store.inMemory(schema: schema)
        let a = try store.write { try $0.insert("A") }.result
        var edit = store.edit()
        _ = try edit.insert("B", links: ["a": [a]])
        #expect(try edit[a, "count"] == 0)
        #expect(try store.preview(edit) { try $0[a, "count"] } == 1)
        #expect(code { try edit.set(a, "count", to: 3) } == .invalidInput)
    }
}
