import Cambium
import CambiumModel
import TestFixtures
import Testing

@testable import CambiumEdits

/// The writes that a step of undo keeps.
@Suite struct EditHistoryTests {
    private let store: Store
    private let note: ObjectID

    init() throws {
        store = try Store.inMemory(schema: Notes.schema)
        note = try store.write { try $0.insert("Note", ["id": 1]) }.result
    }

    private func listCount(_ edit: Edit) -> Int {
        edit.history.writes.count { if case .list = $0 { true } else { false } }
    }

    @Test func `a group keeps the members of an ordered relationship only once`() throws {
        var edit = store.edit()
        try edit.group { edit in
            for number in 0..<20 {
                let memo = try edit.insert("Memo", ["text": .string("\(number)")], links: ["note": [note]])
                try edit.move(note, "memos", memo, to: 0)
            }
        }
        let members = try edit.members("memos", of: note)
        #expect(members.count == 20)
        #expect(listCount(edit) == 1)
        edit.undo()
        #expect(edit.isEmpty)
        edit.redo()
        #expect(try edit.members("memos", of: note) == members)
    }

    @Test func `an insertion keeps the members of its ordered relationships only once`() throws {
        var edit = store.edit()
        let memos = try (0..<5).map { _ in try edit.insert("Memo") }
        try edit.insert("Note", ["id": 2], links: ["memos": memos])
        #expect(listCount(edit) == 1)
    }

    @Test func `a step keeps only the members of an ordered relationship that it moves, adds or removes`() throws {
        var edit = store.edit()
        let memos = try (0..<60).map { try edit.insert("Memo", ["text": .string("\($0)")]) }
        var states: [[ObjectID]] = [[]]
        func keep(_ edit: Edit) throws { states.append(try edit.members("memos", of: note)) }
        for memo in memos {
            try edit.link(note, "memos", memo)
            try keep(edit)
        }
        #expect(edit.history.writes.flatMap(\.ids).count < 60 * 8)
        try edit.move(note, "memos", memos[7], to: 9)
        try keep(edit)
        try edit.unlink(note, "memos", memos[30])
        try keep(edit)
        try edit.link(note, "memos", memos[30], at: 0)
        try keep(edit)
        #expect(edit.history.writes.flatMap(\.ids).count < 60 * 8 + 30)
        for state in states.dropLast().reversed() {
            edit.undo()
            #expect(try edit.members("memos", of: note) == state)
        }
        for state in states.dropFirst() {
            edit.redo()
            #expect(try edit.members("memos", of: note) == state)
        }
    }

    @Test func `a move to the same index is not a step after another member was deleted`() throws {
        let (first, second) = try store.write { transaction in
            let first = try transaction.insert("Memo", links: ["note": [note]])
            return (first, try transaction.insert("Memo", links: ["note": [note]]))
        }.result
        var edit = store.edit()
        try edit.delete(first)
        try edit.set(note, "title", to: "Rome")
        edit.undo()
        try edit.move(note, "memos", second, to: 0)
        try edit.link(note, "memos", second, at: 1)
        #expect(edit.canRedo)
        #expect(edit.history.done.count == 1)
    }

    @Test func `a nested group that throws takes back only its own changes of a list`() throws {
        struct Stop: Error {}
        var edit = store.edit()
        let memos = try ["a", "b", "c"].map { try edit.insert("Memo", ["text": .string($0)]) }
        try edit.group { edit in
            try edit.link(note, "memos", memos[0])
            #expect(throws: Stop.self) {
                try edit.group { edit in
                    try edit.link(note, "memos", memos[1])
                    throw Stop()
                }
            }
            #expect(try edit.members("memos", of: note) == [memos[0]])
            try edit.link(note, "memos", memos[2])
        }
        #expect(try edit.members("memos", of: note) == [memos[0], memos[2]])
        edit.undo()
        #expect(try edit.members("memos", of: note).isEmpty)
        edit.redo()
        #expect(try edit.members("memos", of: note) == [memos[0], memos[2]])
    }
}
