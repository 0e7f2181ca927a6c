import Cambium
import Testing

/// Conflicts between an edit and changes in the store, and the policies that resolve them.
@Suite struct EditConflictTests {
    private let store: Store
    private let note: ObjectID
    private let other: ObjectID
    private let item: ObjectID
    private let tags: [ObjectID]
    private let memos: [ObjectID]

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
    private func conflicts(_ edit: inout Edit, _ policy: EditPolicy = .error) -> [EditConflict] {
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

    @Test func `both sides may delete an object`() throws {
        var edit = store.edit()
        try edit.delete(note)
        try store.write { try $0.delete(note) }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit)
        #expect(!store.graph.contains(note))
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

    // MARK: Rebasing

    @Test func `a rebased edit shows the newer graph with its changes`() throws {
        var edit = store.edit()
        let memo = try edit.insert("Memo", ["text": "w"])
        try edit.set(note, "title", to: "Rome")
        try store.write { try $0.set(note, "rating", to: 1.0) }
        try edit.rebase(onto: store.graph)
        #expect(edit.base.transaction == store.graph.transaction)
        #expect(try edit[note, "title"] == "Rome")
        #expect(try edit[note, "rating"] == 1.0)
        #expect(try edit[memo, "text"] == "w")
    }

    @Test func `undo stays if the store changed other objects only`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try store.write { try $0.set(other, "title", to: "Oslo") }
        try edit.rebase(onto: store.graph)
        edit.undo()
        #expect(edit.isEmpty)
        #expect(try edit[other, "title"] == "Oslo")
    }

    @Test func `undo ends at a base that changed an object of the edit`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        try store.write { try $0.set(note, "rating", to: 1.0) }
        try edit.rebase(onto: store.graph)
        #expect(!edit.canUndo)
        #expect(try edit[note, "title"] == "Rome")
    }

    @Test func `a provisional id is not the id of an object that the store inserts`() throws {
        var edit = store.edit()
        let mine = try edit.insert("Memo", ["text": "mine"])
        let theirs = try store.write { try $0.insert("Memo", ["text": "theirs"]) }.result
        try edit.rebase(onto: store.graph)
        #expect(mine != theirs)
        #expect(try edit[mine, "text"] == "mine")
        #expect(try edit[theirs, "text"] == "theirs")
        let committed = try store.commit(&edit)
        #expect(try store.graph[committed.id(of: mine), "text"] == "mine")
        #expect(committed.id(of: mine) != theirs)
    }

    @Test func `a rebase that throws leaves the edit as it was`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        let (base, before) = (edit.base.transaction, edit.dump)
        try store.write { try $0.set(note, "title", to: "Oslo") }
        #expect(code { try edit.rebase(onto: store.graph) } == .conflict)
        #expect(edit.base.transaction == base)
        #expect(edit.dump == before)
        #expect(edit.canUndo)
    }

    @Test func `rebasing releases the pages of the earlier base`() throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        for number in 0..<20 { try store.write { try $0.set(other, "id", to: .int(Int64(10 + number))) } }
        let pinned = store.memory.pinnedVersionCount
        try edit.rebase(onto: store.graph)
        #expect(store.memory.pinnedVersionCount < pinned)
    }
}

extension Store {
    /// Commits a copy of an edit.
    fileprivate func commit(edit: Edit) throws -> EditCommit {
        var edit = edit
        return try commit(&edit)
    }
}
