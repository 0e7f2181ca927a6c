import Cambium
import TestFixtures
import Testing

@testable import CambiumEdits

/// The number of an edit in its provisional ids.
@Suite struct EditNumberTests {
    @Test func `the first insertion gives an edit its number, and a rebase keeps the number`() throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let note = try store.write { try $0.insert("Note", ["id": 1]) }.result
        var edit = store.edit()
        try edit.set(note, "title", to: "Rome")
        #expect(edit.number == nil)
        let first = try edit.insert("Note", ["id": 2])
        let number = edit.number
        #expect(number != nil)
        try store.write { try $0.set(note, "rating", to: 1.0) }
        try edit.rebase(onto: store.graph)
        let second = try edit.insert("Note", ["id": 3])
        #expect(edit.number == number && edit.contains(first) && first != second)
    }
}
