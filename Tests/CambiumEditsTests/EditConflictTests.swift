import Cambium
import TestFixtures
import Testing

/// Conflicts between an edit and changes in the store, and the policies that resolve them.
@Suite struct EditConflictTests {
    let store: Store
    let note: ObjectID
    let other: ObjectID
    let item: ObjectID
    let tags: [ObjectID]
    let memos: [ObjectID]

    init() throws {
        store = try Store.inMemory(schema: Notes.schema)
        (note, other, item, tags, memos) = try store.write { transaction in
            let note = try transaction.insert("Note", ["id": 1, "title": "Paris"])
            let other = try transaction.insert("Note", ["id": 2])
            let item = try transaction.insert("Item", ["key": "a"], links: ["note": [note]])
            let tags = try ["red", "blue", "green"].map { try transaction.insert("Tag", ["name": .string($0)]) }
            let memos = try ["x", "y", "z"].map { try transaction.insert("Memo", ["text": .string($0)], links: ["note": [note]]) }
            return (note, other, item, tags, memos)
        }.result
    }

    /// Commits an edit that a change of the store conflicts with. Returns the conflicts of the error.
    func conflicts(_ edit: inout Edit, _ policy: EditPolicy = .error) -> [EditConflict] {
        do {
            try store.commit(&edit, policy: policy)
            return []
        } catch {
            return ((error as? CambiumError)?.underlying as? EditConflicts)?.conflicts ?? []
        }
    }

    // MARK: Attributes

    @Test func `another value of the same attribute is a conflict`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try store.write { try $0.set(note, "title", to: "Oslo") }
        let transaction = store.graph.transaction
        let found = conflicts(&edit)
        let title = try store.schema.required("Note").requiredAttribute("title")
        #expect(found.map(\.id) == [note])
        #expect(found.first?.subject == .attribute(title))
        #expect(found.first?.base == .value("Paris"))
        #expect(found.first?.mine == .value("Rome"))
        #expect(found.first?.theirs == .value("Oslo"))
        #expect(store.graph.transaction == transaction)
        #expect(try edit[note, "title"] == "Rome")
    }

    @Test func `an error of conflicts has a code and one line for each`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try store.write { try $0.set(note, "title", to: "Oslo") }
        do {
            try store.commit(&edit)
            Issue.record("The commit succeeded.")
        } catch let error as CambiumError {
            #expect(error.code == .conflict)
            #expect(error.details.count == 1)
        }
    }

    @Test func `the same new value and other attributes are not a conflict`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try edit.set(note, "rating", to: 4.0)
        try store.write { transaction in
            try transaction.set(note, "title", to: "Rome")
            try transaction.set(note, "id", to: 5)
        }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit)
        #expect(try store.graph[note, "rating"] == 4.0)
        #expect(try store.graph[note, "id"] == 5)
    }

    @Test(arguments: [(true, "Rome"), (false, "Oslo")])
    func `a policy decides which value wins`(isMine: Bool, title: String) throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try edit.set(note, "rating", to: 4.0)
        try store.write { try $0.set(note, "title", to: "Oslo") }
        try store.commit(&edit, policy: isMine ? .mine : .theirs)
        #expect(try store.graph[note, "title"] == .string(title))
        #expect(try store.graph[note, "rating"] == 4.0)
    }

    @Test func `a closure decides for each property`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try edit.set(note, "rating", to: 4.0)
        try store.write { transaction in
            try transaction.set(note, "title", to: "Oslo")
            try transaction.set(note, "rating", to: 1.0)
        }
        let rating = try store.schema.required("Note").requiredAttribute("rating")
        try store.commit(&edit, policy: .byProperty { $0.subject == .attribute(rating) ? .theirs : .mine })
        #expect(try store.graph[note, "title"] == "Rome")
        #expect(try store.graph[note, "rating"] == 1.0)
    }

    // MARK: Relationships

    @Test func `another target of a to-one relationship is a conflict`() throws {
        var edit = store.edit()
        let third = try edit.insert("Note", ["id": 3])
        try edit.link(item, "note", third)
        try store.write { try $0.link(item, "note", other) }
        let found = edit.conflicts(with: store.graph)
        #expect(found.map(\.id) == [item])
        #expect(found.first?.base == .members([note]))
        #expect(found.first?.mine == .members([third]))
        #expect(found.first?.theirs == .members([other]))
    }

    @Test func `a chain of to-one links stays as it is if the store wins its first link`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person") { RelationshipDefinition("desk", to: "Desk", inverse: "person") }
                EntityDefinition("Desk") { RelationshipDefinition("person", to: "Person", inverse: "desk") }
            })
        let (people, desks) = try store.write { transaction in
            let desks = try (0..<200).map { _ in try transaction.insert("Desk") }
            return (try desks.map { try transaction.insert("Person", links: ["desk": [$0]]) }, desks)
        }.result
        var edit = store.edit()
        for (person, desk) in zip(people, desks.dropFirst()) { try edit.link(person, "desk", desk) }
        try store.write { try $0.unlink(people[0], "desk", desks[0]) }
        try store.commit(&edit, policy: .theirs)
        let found = try people.map { try store.graph.members("desk", of: $0) }
        let kept: [[ObjectID]] = [[]] + desks.dropFirst().map { [$0] }
        #expect(found == kept)
    }

    @Test func `a to-one relationship takes the winner at both ends`() throws {
        for (policy, winner) in [(EditPolicy.mine, note), (.theirs, other)] {
            let loose = try store.write { try $0.insert("Item", ["key": .string("\(winner)")]) }.result
            var edit = store.edit()
            try edit.link(loose, "note", note)
            try store.write { try $0.link(loose, "note", other) }
            try store.commit(&edit, policy: policy)
            #expect(try store.graph.members("note", of: loose) == [winner])
            #expect(try store.graph.members("items", of: winner).contains(loose))
        }
    }

    @Test func `a removed link wins over another target`() throws {
        var edit = store.edit()
        try edit.unlink(note, "items", item)
        try store.write { try $0.link(item, "note", other) }
        try store.commit(&edit, policy: .mine)
        #expect(try store.graph.members("note", of: item) == [])
    }

    @Test func `both sides add and remove members of an unordered relationship`() throws {
        try store.write { try $0.link(item, "tags", tags[0]) }
        var edit = store.edit()
        try edit.link(item, "tags", tags[1])
        try edit.unlink(item, "tags", tags[0])
        try store.write { transaction in
            try transaction.link(item, "tags", tags[2])
            try transaction.link(item, "tags", tags[1])
        }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit)
        #expect(try store.graph.members("tags", of: item) == [tags[1], tags[2]])
    }

    @Test(arguments: [true, false])
    func `two orders of one relationship are a conflict`(isMine: Bool) throws {
        var edit = store.edit()
        try edit.move(note, "memos", memos[2], to: 0)
        let added = try store.write { transaction in
            let added = try transaction.insert("Memo")
            try transaction.link(note, "memos", added, at: 1)
            return added
        }.result
        #expect(edit.conflicts(with: store.graph).map(\.id) == [note])
        try store.commit(&edit, policy: isMine ? .mine : .theirs)
        let expected = isMine ? [memos[2], memos[0], memos[1]] : [memos[0], added, memos[1], memos[2]]
        #expect(try store.graph.members("memos", of: note) == expected)
    }

    @Test func `the same order on both sides is not a conflict`() throws {
        var edit = store.edit()
        try edit.move(note, "memos", memos[2], to: 0)
        try store.write { try $0.move(note, "memos", memos[2], to: 0) }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        #expect(try store.commit(edit: edit).receipt.transaction == nil)
    }

    @Test func `a conflict names the members, and states how many members it omits`() throws {
        var edit = store.edit()
        try edit.move(note, "memos", memos[2], to: 0)
        try edit.delete(memos[1])
        let new = try edit.insert("Memo", links: ["note": [note]])
        try store.write { transaction in
            for _ in 0..<9 { _ = try transaction.insert("Memo", links: ["note": [note]]) }
        }
        let text = try #require(edit.conflicts(with: store.graph).first).description
        #expect(text.hasPrefix("Note/1 (1).memos: base [Memo/1, Memo/2, Memo/3], edit [Memo/3, Memo/1, Memo/+1], store [Memo/1, "))
        #expect(text.hasSuffix("Memo/10, and 2 more]"))
        #expect(edit.name(of: new) == "Memo/+1")
    }

    // MARK: Reads

    @Test func `a read value that changed is a conflict if reads are tracked`() throws {
        var (tracking, plain) = (store.edit(tracking: .writesAndReads), store.edit())
        _ = try (tracking[note, "rating"], plain[note, "rating"])
        try tracking.set(note, "title", to: "Rome")
        try plain.set(note, "title", to: "Rome")
        try store.write { try $0.set(note, "rating", to: 1.0) }
        #expect(plain.conflicts(with: store.graph).isEmpty)
        let found = conflicts(&tracking)
        #expect(found.map(\.use) == [.read])
        #expect(found.first?.theirs == .value(1.0))
        try store.commit(&tracking, policy: .mine)
        #expect(try store.graph[note, "title"] == "Rome")
    }

    /// If each read property took time in proportion to all properties of the object, this test would be one of the slowest.
    @Test func `the properties of an object that were read are compared in one pass`() throws {
        let names = (0..<2_000).map { "a\($0)" }
        let attributes = names.map { "\"\($0)\":{\"type\":\"int32\",\"default\":0}" }.joined(separator: ",")
        let definition = try SchemaDefinition(json: Array("{\"entities\":{\"E\":{\"attributes\":{\(attributes)}}}}".utf8))
        let store = try Store.inMemory(schema: try Schema(definition))
        let id = try store.write { try $0.insert("E") }.result
        let edit = store.edit(tracking: .writesAndReads)
        for name in names { #expect(try edit[id, name] == 0) }
        try store.write { transaction in for name in names.dropLast() { try transaction.set(id, name, to: 1) } }
        #expect(edit.conflicts(with: store.graph).map(\.use) == Array(repeating: .read, count: 1_999))
    }
}

extension Store {
    /// Commits a copy of an edit.
    fileprivate func commit(edit: Edit) throws -> EditCommit {
        var edit = edit
        return try commit(&edit)
    }
}
