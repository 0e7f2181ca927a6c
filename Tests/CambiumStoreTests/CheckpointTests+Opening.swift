import Cambium
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

extension CheckpointTests {
    // MARK: Opening

    @Test func `a store opens with its newest checkpoint and replays only the transactions after it`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<300)
        let receipt = try store.checkpoint()
        #expect(receipt.transaction.rawValue == 2 && receipt.byteCount > 65_536)
        try add(store, 300..<310)
        try store.close()
        let again = try reopen(volume)
        #expect(again.recovery.checkpoint.rawValue == 2 && again.recovery.transactionCount == 1 && again.recovery.notes == [])
        #expect(again.graph.export == store.graph.export && again.graph.digest() == store.graph.digest())
        #expect(again.graph.transaction.rawValue == 3 && again.graph.invariantFindings() == [])
        try add(again, 310..<320)
        try again.close()
        #expect(try Verification(volume).isSound)
        #expect(try ReadOnlyStore(volume).graph.digest() == again.graph.digest())
    }

    @Test func `a checkpoint of an unchanged graph writes nothing`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.checkpoint()
        let before = volume.contents
        #expect(try store.checkpoint().byteCount == 0 && volume.contents == before)
        try store.close()
        let again = try reopen(volume)
        #expect(try again.checkpoint().byteCount == 0)
    }

    @Test func `a checkpoint after a small change writes few bytes`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<5000)
        let whole = try store.checkpoint().byteCount
        try store.write { try $0.set(ObjectID(root: Notes.schema.required("Note").number, serial: 7), "title", to: .string("new")) }
        let part = try store.checkpoint().byteCount
        #expect(part < 2 * 65_536 + 10_000 && whole > 4 * part, "\(whole) and then \(part) bytes")
    }

    @Test func `surplus checkpoints are dropped, and their chunks are reused`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
        for round in 0..<40 {
            try add(store, round * 10..<(round + 1) * 10)
            try store.checkpoint()
        }
        #expect(try roots(volume) == [41, 40])
        let pages = try #require(volume.contents.first { $0.key.hasPrefix("pages-") })
        #expect(pages.value.count <= 12 * 65_536, "\(pages.value.count / 65_536) chunks")
        try store.close()
        #expect(try reopen(volume).graph.export == store.graph.export)
    }

    @Test func `objects of a store that was opened from pages can be changed and deleted`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<400)
        try store.checkpoint()
        try store.close()
        let again = try reopen(volume)
        let note = try again.schema.required("Note")
        try again.write { transaction in
            for number in stride(from: 0, to: 400, by: 3) {
                let found = transaction.find(note, identity: [.int(Int64(number))])
                let id = try #require(found)
                if number % 2 == 0 { try transaction.delete(id) } else { try transaction.set(id, "title", to: .string("changed")) }
            }
        }
        #expect(try again.graph.invariantFindings() == [] && again.graph.count(of: "Note") == 333)
        try again.checkpoint()
        try again.close()
        let last = try reopen(volume)
        #expect(last.recovery.transactionCount == 0 && last.graph.digest() == again.graph.digest())
        #expect(last.graph.export == again.graph.export)
    }

    @Test func `requests from before a checkpoint are remembered`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.write(Author(requestID: "one")) { try $0.insert("Note", ["id": .int(1)]) }
        try store.checkpoint()
        try store.write(Author(requestID: "two")) { try $0.insert("Note", ["id": .int(2)]) }
        try store.close()
        let again = try reopen(volume)
        for request in ["one", "two"] {
            #expect(code { try again.write(Author(requestID: request)) { try $0.insert("Note", ["id": .int(3)]) } } == .repeated)
        }
        try again.write(Author(requestID: "three")) { try $0.insert("Note", ["id": .int(3)]) }
        try again.checkpoint()
        try again.close()
        let last = try reopen(volume)
        for request in ["one", "two", "three"] {
            #expect(code { try last.write(Author(requestID: request)) { _ in } } == .repeated)
        }
    }

    @Test func `the clock may be earlier than at the checkpoint`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.checkpoint()
        try store.close()
        var environment = fixedEnvironment(seed: 4)
        environment.now = { Timestamp(microsecondsSince1970: 1_600_000_000_000_000) }
        let again = try Store.open(volume, durability: nil, environment: environment)
        try add(again, 3..<6)
        try again.close()
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.findings == [])
    }
}
