import Cambium
import CambiumGraph
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct UndoTests {
    private let volume = MemoryVolume()

    private func number(_ value: UInt64) -> UndoSelection { .transaction(TransactionNumber(rawValue: value)) }

    /// Returns a store in which transaction 2 inserted Note/1 as jane, and transaction 3 set its title as bob.
    private func made() throws -> (store: Store, note: ObjectID) {
        let store = try Store.notes(volume)
        let note = try store.write(Author(actor: "jane")) { try $0.insert("Note", ["id": 1]) }.result
        try store.write(Author(actor: "bob", message: "spelling", requestID: "r1")) { try $0.set(note, "title", to: "Lyon") }
        return (store, note)
    }

    private func conflicts(_ body: () throws -> Void) -> [String] {
        do { try body() } catch let error as CambiumError {
            return ((error.underlying as? UndoConflicts)?.conflicts ?? []).map(\.description)
        } catch {}
        return []
    }

    @Test func `an undo is one transaction that names what it undid`() throws {
        let (store, note) = try made()
        let undo = try store.undo(number(3), author: Author(actor: "jane"))
        #expect(undo.receipt.transaction?.rawValue == 4 && undo.conflicts.isEmpty)
        #expect(try store.graph[note, "title"] != "Lyon")
        let entry = try #require(try TransactionLog(volume).entry(TransactionNumber(rawValue: 4)))
        #expect(entry.author.actor == "jane" && entry.author.message == "undo of transaction 3: spelling")
        let undone = TransactionNumber(rawValue: 3)
        #expect(try entry.ops().last == .undo([undone...undone]))
    }

    @Test func `a value that was changed since then is a conflict with both values, and a change elsewhere refuses nothing`() throws {
        let (store, note) = try made()
        try store.write { try $0.insert("Note", ["id": 2]) }
        #expect(try store.previewUndo(number(3)) { $0.conflicts.count } == 0)
        try store.write { try $0.set(note, "title", to: "Rome") }
        #expect(conflicts { try store.undo(number(3)) } == ["Note/1 (1).title: transaction 3 left Lyon, now Rome"])
        #expect(store.graph.transaction.rawValue == 5)
        #expect(try store.undo(number(3), policy: .skip).receipt.transaction == nil)
        try store.undo(number(3), policy: .force)
        #expect(try store.graph[note, "title"] != "Rome")
    }

    @Test func `the transactions of an actor or a request are undone, and the work of others stays`() throws {
        let (store, note) = try made()
        try store.write(Author(actor: "jane")) { try $0.insert("Note", ["id": 2]) }
        try store.write(Author(actor: "bob")) { try $0.set(note, "title", to: "Rome") }
        let undo = try store.undo(.actor("bob", since: .transaction(TransactionNumber(rawValue: 2))))
        #expect(undo.undone.map(\.lowerBound.rawValue) == [3, 5])
        #expect(try store.graph[note, "title"] != "Rome" && store.graph.objectCount == 2)
        if let redo = undo.receipt.transaction { try store.undo(.transaction(redo)) }
        #expect(try store.graph[note, "title"] == "Rome")
        #expect(code { try store.undo(.request("r1")) } == .conflict)
        #expect(code { try store.undo(.request("r2")) } == .notFound)
        #expect(code { try store.undo(.actor("nobody", since: .latest)) } == .notFound)
    }

    @Test func `links and objects that were added to an inserted object are conflicts`() throws {
        let (store, note) = try made()
        try store.undo(number(3))
        try store.write { try $0.insert("Item", ["key": "x"], links: ["note": [note]]) }
        #expect(conflicts { try store.undo(number(2)) } == ["Note/1 (1).items: transaction 2 left [], now [Item/1 (x)]"])
        try store.undo(number(2), policy: .force)
        #expect(!store.graph.contains(note))
        #expect(conflicts { try store.undo(number(2)) } == ["Note/1 (1): transaction 2 left the object, now nothing"])
    }

    @Test func `a deleted object comes back under its id, also after a reopening`() throws {
        let (store, note) = try made()
        let item = try store.write { try $0.insert("Item", ["key": "x"], links: ["note": [note]]) }.result
        let digest = store.graph.digest()
        let deletion = try store.write { try $0.delete(note) }.receipt.transaction
        try store.close()
        let again = try Store.open(volume, durability: .synced)
        try again.undo(.transaction(try #require(deletion)))
        #expect(again.graph.digest() == digest && again.graph.contains(item))
        #expect(try again.write { try $0.insert("Note", ["id": 2]) }.result.serial == 2)
        #expect(try Verification(volume).isSound)
    }

    @Test func `labels move back, and a new label is removed`() throws {
        let (store, _) = try made()
        try store.label("a", TransactionNumber(rawValue: 2))
        try store.label("a", TransactionNumber(rawValue: 3), existing: .move)
        try store.undo(number(5))
        #expect(store.graph.labels.mapValues(\.rawValue) == ["a": 2])
        try store.undo(.transactions(TransactionNumber(rawValue: 4)...TransactionNumber(rawValue: 6)))
        #expect(store.graph.labels.isEmpty)
        try store.label("a", TransactionNumber(rawValue: 2))
        #expect(store.graph.labels.mapValues(\.rawValue) == ["a": 2])
        #expect(conflicts { try store.undo(number(4)) }.isEmpty)
        #expect(try Verification(volume).isSound)
    }

    @Test func `schema changes, retired transactions and stores in memory are refused with a remedy`() throws {
        let (store, _) = try made()
        #expect(code { try store.undo(number(1)) } == .invalidInput)
        #expect(code { try store.undo(number(9)) } == .notFound)
        try store.checkpoint()
        try store.write { try $0.insert("Note", ["id": 2]) }
        try store.compact(.checkpoints(1))
        #expect(code { try store.undo(number(2)) } == .notFound)
        #expect(code { try Store.inMemory(schema: Notes.schema).undo(number(2)) } == .invalidInput)
    }

    @Test(arguments: [4, 16])
    func `an undo of the newest transaction replays no more for a longer log`(count: Int64) throws {
        let (store, note) = try made()
        for number in 10..<10 + 10 * count { try store.write { try $0.insert("Note", ["id": .int(number)]) } }
        try store.checkpoint()
        let last = try store.write { try $0.set(note, "title", to: "Rome") }.receipt.transaction
        try store.undo(.transaction(try #require(last)))
        #expect(store.past?.replayedCount == 1)
    }

    @Test func `a revert restores values, links and deleted objects as they were`() throws {
        let (store, note) = try made()
        let item = try store.write { try $0.insert("Item", ["key": "x"], links: ["note": [note]]) }.result
        let then = store.graph
        try store.write {
            try $0.set(note, "title", to: "Rome")
            try $0.unlink(note, "items", item)
            try $0.insert("Item", ["key": "y"], links: ["note": [note]])
        }
        try store.revert(note, to: .transaction(then.transaction))
        #expect(try store.graph[note, "title"] == "Lyon" && store.graph.members("items", of: note) == [item])
        try store.write { try $0.delete(note) }
        let (receipt, missing) = try store.revert(note, to: .transaction(then.transaction), author: Author(actor: "jane"))
        #expect(try receipt.hasChanges && store.graph[note, "title"] == "Lyon")
        #expect(missing.contains(item) == !store.graph.contains(item))
        #expect(code { try store.revert(note, to: .transaction(TransactionNumber(rawValue: 1))) } == .notFound)
    }
}
