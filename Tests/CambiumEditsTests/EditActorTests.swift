import Cambium
import TestFixtures
import Testing

/// An actor that owns an edit, as a server does for each form.
private actor Form {
    private let store: Store
    private var edit: Edit

    init(_ store: Store) { (self.store, edit) = (store, store.edit()) }

    func set(_ id: ObjectID, _ attribute: String, to value: Value) throws { try edit.set(id, attribute, to: value) }

    func insert(_ entity: String, _ values: KeyValuePairs<String, Value>) throws -> ObjectID { try edit.insert(entity, values) }

    func undo() { edit.undo() }

    func save() async throws -> EditCommit {
        let committed = try await store.commit(edit, policy: .mine, author: Author(actor: "form"))
        edit = committed.edit
        return committed
    }
}

@Suite struct EditActorTests {
    @Test func `an actor owns an edit while other tasks write`() async throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let notes = try await store.write { transaction in
            try (1...10).map { try transaction.insert("Note", ["id": .int($0)]) }
        }.result
        let form = Form(store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, note) in notes.enumerated() {
                group.addTask { try await form.set(note, "title", to: .string("mine \(number)")) }
                group.addTask { try await store.write { try $0.set(note, "rating", to: .double(Double(number))) } }
            }
            try await group.waitForAll()
        }
        try await form.set(notes[0], "title", to: "mistake")
        await form.undo()
        let tag = try await form.insert("Tag", ["name": "red"])
        let committed = try await form.save()
        let graph = store.graph
        for (number, note) in notes.enumerated() {
            #expect(try graph[note, "title"] == .string("mine \(number)"))
            #expect(try graph[note, "rating"] == .double(Double(number)))
        }
        #expect(try graph[committed.id(of: tag), "name"] == "red")
        #expect(try await form.save().receipt.transaction == nil)
    }
}
