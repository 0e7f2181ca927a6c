import Cambium
import Foundation
import Testing

/// The code of the documents about edits, and about the iterator of changes after an edit.
extension ReferenceSnippets {
    @Test func `the code of the document about edits runs`() throws {
        let store = try Store.inMemory(schema: schema)
        let person = try store.write { try $0.insert("Person", ["personId": 1]) }.result
        var edit = store.edit()
        try edit.set(person, "fullName", to: "Jane Doe")
        let friend = try edit.insert("Person", ["personId": 7])
        try edit.delete(person)
        edit.undo()
        print(try edit[person, "fullName"], edit.changes.count)
        let committed = try store.commit(&edit, policy: .mine, author: Author(actor: "jane"))
        print(committed.id(of: friend))
        #expect(try store.graph[person, "fullName"] == "Jane Doe")
        #expect(try store.graph.find("Person", identity: [7]) == committed.id(of: friend))
    }

    func rename(_ store: Store) throws {
        var edit = store.edit()
        if var tag = try edit.find(Tag.self, identity: "red") {
            tag.name = "rose"
            try edit.save(&tag)
        }
        try store.commit(&edit, author: Author(actor: "jane"))
    }

    func overwrite(_ store: Store, _ edit: inout Edit) throws {
        let newest = store.graph
        for conflict in edit.conflicts(with: newest) { print(conflict) }
        try edit.rebase(onto: newest, policy: .mine)
        try store.commit(&edit, author: Author(actor: "jane"))
    }

    func undo(_ store: Store, _ tag: inout Tag) throws -> Edit {
        var edit = store.edit()
        tag.name = "rose"
        try edit.save(&tag)
        edit.undo()
        if let ref = tag.ref { tag = try edit.load(ref) }  // Before this line, tag.name is still "rose".
        return edit
    }

    func renameAndWait(_ store: Store, _ tag: inout Tag) async throws -> Int? {
        var updates = store.changes().makeAsyncIterator()
        tag.name = "rose"
        try store.save(&tag, Author(actor: "jane"))
        let committed = try await updates.next()
        print(committed?.changes.count ?? 0)
        return committed?.changes.count
    }

    actor TagForm {
        struct IsSaving: Error {}

        private let store: Store
        private var edit: Edit
        private var isSaving = false

        init(_ store: Store) { (self.store, edit) = (store, store.edit()) }

        func rename(_ tag: Ref<Tag>, to name: String) throws -> Tag {
            if isSaving { throw IsSaving() }
            var changed = try edit.load(tag)
            changed.name = name
            try edit.save(&changed)
            return changed
        }

        func undo() throws {
            if isSaving { throw IsSaving() }
            edit.undo()
        }

        func save(_ author: Author) async throws -> Receipt {
            if isSaving { throw IsSaving() }
            isSaving = true
            defer { isSaving = false }
            let policy = EditPolicy.byProperty { $0.concerns(\Tag.name) ? .mine : .theirs }
            let committed = try await store.commit(edit, policy: policy, author: author)
            edit = committed.edit
            return committed.receipt
        }
    }

    @Test func `the actor of the document about edits owns an edit while others write`() async throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        var red = try Tag(named: "red", in: store)
        let form = TagForm(store)
        let tag = try #require(red.ref)
        #expect(try await form.rename(tag, to: "rose").name == "rose")
        #expect(try await form.rename(tag, to: "ruby").name == "ruby")
        try await form.undo()
        red.name = "scarlet"
        try store.save(&red)
        #expect(try await form.save(Author(actor: "jane")).hasChanges)
        #expect(try store.graph.load(tag).name == "rose")
        #expect(try await !form.save(Author(actor: "jane")).hasChanges)
    }
}
