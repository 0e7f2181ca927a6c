import Cambium
import CambiumLog
import Foundation
import TestFixtures
import Testing

@Suite struct StoreTests {
    /// Makes a store with a few objects of every kind.
    private func filled(_ volume: MemoryVolume) throws -> Store {
        let store = try Store.notes(volume)
        try store.write(Author(actor: "jane", message: "begin")) { transaction in
            let note = try transaction.insert("Note", ["id": .int(1), "title": .string("Paris")])
            for number in 0..<5 {
                let memo = try transaction.insert("Memo", ["text": .string("memo \(number)")])
                try transaction.link(note, "memos", memo, at: 0)
            }
            let item = try transaction.insert("Item", ["key": .string("a")])
            try transaction.link(item, "note", note)
            try transaction.link(item, "tags", transaction.insert("Tag", ["name": .string("red")]))
        }
        return store
    }

    @Test func `a closed store is the same after it is opened again`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        try store.close()
        let reopened = try Store.reopened(volume)
        #expect(reopened.graph.export == store.graph.export)
        #expect(reopened.graph.digest() == store.graph.digest())
        #expect(reopened.graph.transaction == store.graph.transaction)
        #expect(reopened.recovery.notes.isEmpty)
    }

    @Test func `a store that was not closed has every acknowledged transaction`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        #expect(try Store.reopened(volume).graph.export == store.graph.export)
    }

    @Test func `the digest of a store is the same in every build and with every page size`() throws {
        let store = try filled(MemoryVolume())
        #expect(store.graph.digest().description == "2a3ab9cb86303e2613e0af547e7657df")
    }

    @Test func `a transaction that throws changes nothing`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        let before = (store.graph.export, volume.contents)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.write { transaction in
                try transaction.insert("Note", ["id": .int(2)])
                throw Stop()
            }
        }
        #expect(store.graph.export == before.0)
        #expect(volume.contents == before.1)
    }

    @Test func `a transaction that changes nothing writes nothing`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        let before = volume.contents
        let (_, receipt) = try store.write { transaction in
            try transaction.set(try #require(Notes.schema.id("Note/1")).id, "title", to: .string("Paris"))
        }
        #expect(receipt.transaction == nil)
        #expect(volume.contents == before)
    }

    @Test func `one error lists every rule that a transaction breaks`() throws {
        let store = try filled(MemoryVolume())
        let error = #expect(throws: CambiumError.self) {
            try store.write { transaction in
                try transaction.insert("Note", ["id": .int(1)])
                try transaction.insert("Item")
                try transaction.insert("Tag", ["name": .string("red")])
            }
        }
        let violations = try #require(error?.underlying as? RuleViolations).violations
        #expect(violations.count == 3)
        #expect(store.graph.objectCount == 8)
    }

    @Test func `an object that gets several duplicate values is reported once for each unique set`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Card", unique: [["suit", "value"]]) {
                AttributeDefinition("suit", .string)
                AttributeDefinition("value", .int32)
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        try store.write { transaction in
            for value: Int64 in 1...2 { try transaction.insert("Card", ["suit": "a", "value": .int(value)]) }
        }
        let error = #expect(throws: CambiumError.self) {
            try store.write { transaction in
                let card = try transaction.insert("Card", ["suit": "b", "value": 2])
                try transaction.set(card, "suit", to: "a")
                try transaction.set(card, "value", to: 1)
            }
        }
        let violations = try #require(error?.underlying as? RuleViolations).violations
        #expect(violations.map(\.description) == ["Card/3: 'suit', 'value' must be unique, but Card/1 has the same values"])
        // The transaction inserts Card/3, so the user cannot change Card/3 after the error.
        #expect(error?.message == "\(violations[0]). Use other values, or change Card/1.")
    }

    @Test func `a view does not change while the store does`() throws {
        let store = try filled(MemoryVolume())
        let view = store.graph
        let before = view.export
        for number in 10..<200 { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        #expect(view.export == before)
        #expect(store.graph.objectCount == view.objectCount + 190)
    }

    @Test func `readers and writers on many threads see whole transactions only`() async throws {
        let store = try Store.notes()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        let id = Int64(writer * 1000 + number)
                        try await store.write { transaction in
                            let note = try transaction.insert("Note", ["id": .int(id)])
                            try transaction.link(transaction.insert("Item", ["key": .string("\(id)")]), "note", note)
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<200 {
                        let graph = store.graph
                        let counts = try ["Note", "Item"].map { graph.count(of: try graph.schema.required($0)) }
                        #expect(counts[0] == counts[1] && graph.linkCount == counts[0])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(store.graph.objectCount == 400)
    }

    @Test func `a closed store can be read but not written`() throws {
        let store = try filled(MemoryVolume())
        try store.close()
        #expect(code { try store.write { try $0.insert("Note", ["id": .int(9)]) } } == .notWritable)
        #expect(store.graph.objectCount == 8)
    }

    @Test func `a store has one writer at a time`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        #expect(code { _ = try Store.open(volume, durability: nil) } == .locked)
        try store.close()
        #expect(code { try Store.open(volume, durability: nil).close() } == nil)
    }

    @Test func `the error for a locked store states that this process has the store open`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }  // The operating system removes leftovers.
        let store = try Store.create(at: path, schema: Notes.schema)
        let refusal = #expect(throws: CambiumError.self) { _ = try Store.open(at: path) }
        #expect(refusal?.code == .locked && refusal?.message.contains("This process already has the store open") == true)
        try store.close()
        try Store.open(at: path).close()
    }

    @Test func `a transaction cannot ask for less durability than the store promises`() throws {
        let store = try Store.notes()
        #expect(code { try store.write(durability: .buffered(every: .seconds(1))) { _ in } } == .invalidInput)
        let buffered = try Store.notes(durability: .buffered(every: .seconds(60)))
        #expect(code { try buffered.write(durability: .synced) { try $0.insert("Note", ["id": .int(1)]) } } == nil)
    }

    @Test func `a transaction cannot ask for a longer interval between syncs than the store promises`() throws {
        let store = try Store.create(MemoryVolume(), schema: Notes.schema, durability: .buffered(every: .seconds(10)))
        #expect(code { try store.write(durability: .buffered(every: .seconds(11))) { _ in } } == .invalidInput)
        #expect(code { try store.write(durability: .buffered(every: .seconds(10))) { _ in } } == nil)
        #expect(code { try store.write(durability: .buffered(every: .seconds(9))) { _ in } } == nil)
        try store.close()
    }

    @Test func `a digest in the log is compared when it is replayed`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        try store.recordDigest()
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
        let wrong = Op.digest(of: store.graph.transaction, GraphDigest(high: 1, low: 2))
        _ = try store.transact(Author()) { $0.ops.append(wrong) }
        #expect(code { _ = try Store.reopened(volume) } == .corrupted)
    }

    @Test func `a graph is read as of an earlier transaction or time`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        let number = store.graph.transaction
        let past = store.graph.export
        try store.write { try $0.set(try #require(Notes.schema.id("Note/1")).id, "title", to: .string("Lyon")) }
        #expect(try ReadOnlyStore(volume, point: .transaction(number)).graph.export == past)
        #expect(try ReadOnlyStore(volume).graph.export == store.graph.export)
        #expect(code { _ = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 99))) } == .notFound)
        #expect(code { _ = try ReadOnlyStore(volume, point: .time(Timestamp(microsecondsSince1970: 0))) } == .notFound)
    }
}
