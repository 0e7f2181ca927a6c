import Cambium
import TestFixtures
import Testing

extension EditConflictTests {
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

    @Test func `undo stays if the store changed only an object that was read`() throws {
        var edit = store.edit(tracking: .writesAndReads)
        #expect(try edit[other, "title"] != "Oslo")
        try edit.set(note, "title", to: "Rome")
        try store.write { try $0.set(other, "title", to: "Oslo") }
        #expect(code { try edit.rebase(onto: store.graph) } == .conflict)
        try edit.rebase(onto: store.graph, policy: .mine)
        #expect(try edit[other, "title"] == "Oslo")
        edit.undo()
        #expect(edit.isEmpty)
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

    @Test func `a rebase inside a group is refused, because the group could not be undone`() throws {
        var edit = store.edit()
        let before = edit.dump
        try store.write { try $0.set(note, "rating", to: 1.0) }
        let newer = store.graph
        let failure = code {
            try edit.group { edit in
                try edit.set(note, "title", to: "Rome")
                try edit.rebase(onto: newer)
            }
        }
        #expect(failure == .misuse)
        #expect(edit.dump == before)
        #expect(!edit.canUndo)
    }

    @Test func `a commit inside a group is refused, because the group could not be undone`() throws {
        var edit = store.edit()
        let (before, transaction) = (edit.dump, store.graph.transaction)
        let failure = code {
            try edit.group { edit in
                try edit.set(note, "title", to: "Rome")
                try store.commit(&edit)
            }
        }
        #expect(failure == .misuse)
        #expect(edit.dump == before)
        #expect(store.graph.transaction == transaction)
    }

    @Test func `an asynchronous commit of a copy that was made inside a group is refused`() async throws {
        var edit = store.edit()
        let transaction = store.graph.transaction
        let copy = try edit.group { edit in
            try edit.set(note, "title", to: "Rome")
            return edit
        }
        let error = await #expect(throws: CambiumError.self) { try await store.commit(copy) }
        #expect(error?.code == .misuse)
        #expect(error?.message.contains("A copy that was made inside a group") == true)
        #expect(!copy.canUndo)
        #expect(store.graph.transaction == transaction)
        let committed = try await store.commit(edit)
        #expect(committed.receipt.transaction != nil)
    }
}
