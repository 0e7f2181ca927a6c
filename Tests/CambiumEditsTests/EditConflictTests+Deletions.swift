import Cambium
import Testing

extension EditConflictTests {
    // MARK: Deletions

    @Test func `an object that was deleted cannot return`() throws {
        var edit = store.edit()
        try edit.set(item, "count", to: 3)
        try edit.set(note, "rating", to: 2.0)
        try store.write { try $0.delete(item) }
        let found = conflicts(&edit, .mine)
        #expect(found.map(\.subject) == [.object])
        #expect(found.map(\.theirs) == [.deleted])
        #expect(found.map(\.canKeepMine) == [false])
        try store.commit(&edit, policy: .theirs)
        #expect(!store.graph.contains(item))
        #expect(try store.graph[note, "rating"] == 2.0)
    }

    @Test func `a link to an object that was deleted is a conflict`() throws {
        var edit = store.edit()
        let added = try edit.insert("Item", ["key": "b"], links: ["note": [other], "tags": [tags[0]]])
        try store.write { try $0.delete(other) }
        let found = edit.conflicts(with: store.graph)
        #expect(found.map(\.id) == [other])
        let committed = try store.commit(&edit, policy: .theirs)
        #expect(try store.graph.members("note", of: committed.id(of: added)) == [])
        #expect(try store.graph.members("tags", of: committed.id(of: added)) == [tags[0]])
    }

    @Test(arguments: [true, false])
    func `deleting an object that was changed is a conflict`(isMine: Bool) throws {
        var edit = store.edit()
        try edit.delete(note)
        try store.write { try $0.set(note, "title", to: "Oslo") }
        let found = edit.conflicts(with: store.graph)
        #expect(found.map(\.id) == [note])
        #expect(found.map(\.mine) == [.deleted])
        try store.commit(&edit, policy: isMine ? .mine : .theirs)
        #expect(store.graph.contains(note) != isMine)
        #expect(store.graph.contains(item) != isMine)
    }

    @Test func `a cascade of another call keeps the objects that the store's side keeps`() throws {
        var edit = store.edit()
        try edit.delete(item)
        try edit.delete(note)
        let tag = try store.write { transaction in
            try transaction.set(item, "count", to: 3)
            return try transaction.insert("Tag", ["name": "new"], links: ["items": [item]])
        }.result
        #expect(edit.conflicts(with: store.graph).map(\.id) == [item])
        try store.commit(&edit, policy: .theirs)
        #expect(store.graph.contains(note))
        #expect(try store.graph[item, "count"] == 3)
        #expect(try store.graph.members("items", of: tag) == [item])
    }

    @Test(arguments: [false, true])
    func `a cascade through an object that only the store has keeps the objects that the store's side keeps`(isUnlinked: Bool) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Part") {
                    AttributeDefinition("name", .string, default: "")
                    RelationshipDefinition("parts", to: "Part", .toMany, onDelete: .cascade)
                }
            })
        let (whole, part) = try store.write { (try $0.insert("Part"), try $0.insert("Part")) }.result
        var edit = store.edit()
        try edit.delete(part)
        try edit.delete(whole)
        let between = try store.write { transaction in
            try transaction.set(part, "name", to: "new")
            try transaction.set(whole, "name", to: "new")
            let between = try transaction.insert("Part", links: ["parts": [part]])
            if !isUnlinked { try transaction.link(whole, "parts", between) }
            return between
        }.result
        try store.commit(&edit, policy: .byProperty { $0.id == part ? .theirs : .mine })
        #expect(try store.graph[part, "name"] == "new")
        #expect(store.graph.contains(between))
        #expect(store.graph.contains(whole) != isUnlinked)
    }

    @Test func `a target stays if the store's side keeps the object that the edit deleted`() throws {
        var edit = store.edit()
        try edit.unlink(item, "note", note)
        try edit.delete(other)
        try store.write { try $0.link(item, "note", other) }
        #expect(edit.conflicts(with: store.graph).map(\.id) == [other])
        try store.commit(&edit, policy: .theirs)
        #expect(try store.graph.members("note", of: item) == [other])
    }

    @Test func `a member stays in its place if the store's side keeps the object that the edit deleted`() throws {
        var edit = store.edit()
        try edit.unlink(note, "memos", memos[0])
        try edit.delete(memos[2])
        try store.write { transaction in
            try transaction.unlink(note, "memos", memos[0])
            try transaction.move(note, "memos", memos[2], to: 0)
            try transaction.set(memos[2], "text", to: "new")
        }
        #expect(edit.conflicts(with: store.graph).map(\.id) == [memos[2]])
        try store.commit(&edit, policy: .theirs)
        #expect(try store.graph.members("memos", of: note) == [memos[2], memos[1]])
    }

    @Test func `a target that both sides deleted leaves no target if the edit wins`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person") { RelationshipDefinition("desk", to: "Desk", inverse: "person") }
                EntityDefinition("Desk") { RelationshipDefinition("person", to: "Person", inverse: "desk") }
            })
        let (person, desks) = try store.write { transaction in
            let desks = try (0..<3).map { _ in try transaction.insert("Desk") }
            return (try transaction.insert("Person", links: ["desk": [desks[0]]]), desks)
        }.result
        var edit = store.edit()
        try edit.link(person, "desk", desks[1])
        try edit.delete(desks[1])
        try store.write { transaction in
            try transaction.delete(desks[1])
            try transaction.link(person, "desk", desks[2])
        }
        #expect(edit.conflicts(with: store.graph).map(\.id) == [person])
        try store.commit(&edit, policy: .mine)
        #expect(try store.graph.members("desk", of: person) == [])
    }

    @Test func `both sides may delete an object`() throws {
        var edit = store.edit()
        try edit.delete(note)
        try store.write { try $0.delete(note) }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit)
        #expect(!store.graph.contains(note))
    }

    // MARK: Objects without a trace

    @Test func `an object that the edit inserted and deleted again does not conflict with another order`() throws {
        var edit = store.edit()
        try edit.delete(try edit.insert("Memo", links: ["note": [note]]))
        try store.write { try $0.move(note, "memos", memos[2], to: 0) }
        #expect(edit.isEmpty)
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit, policy: .mine)
        #expect(try store.graph.members("memos", of: note) == [memos[2], memos[0], memos[1]])
    }

    @Test func `an object that the edit inserted and deleted again does not conflict with a deletion`() throws {
        var edit = store.edit()
        try edit.delete(try edit.insert("Memo", links: ["note": [other]]))
        try edit.delete(try edit.insert("Item", ["key": "new"], links: ["note": [other]]))
        try store.write { try $0.delete(other) }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit)
        #expect(edit.base.transaction == store.graph.transaction)
    }

    @Test func `a target that the edit inserted and deleted again leaves no target if the edit wins`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person") { RelationshipDefinition("desk", to: "Desk", inverse: "person") }
                EntityDefinition("Desk") { RelationshipDefinition("person", to: "Person", inverse: "desk") }
            })
        let (seated, standing, desks) = try store.write { transaction in
            let desks = try (0..<3).map { _ in try transaction.insert("Desk") }
            return (try transaction.insert("Person", links: ["desk": [desks[0]]]), try transaction.insert("Person"), desks)
        }.result
        var edit = store.edit()
        for person in [seated, standing] {
            let desk = try edit.insert("Desk", links: ["person": [person]])
            try edit.delete(desk)
        }
        try store.write { transaction in
            try transaction.link(seated, "desk", desks[1])
            try transaction.link(standing, "desk", desks[2])
        }
        #expect(edit.conflicts(with: store.graph).map(\.id) == [seated])
        try store.commit(&edit, policy: .mine)
        #expect(try store.graph.members("desk", of: seated) == [])
        #expect(try store.graph.members("desk", of: standing) == [desks[2]])
    }
}
