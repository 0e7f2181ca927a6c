import Cambium
import CambiumGraph
import CambiumTesting
import Dispatch
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Digests in the log that are computed while other threads write.
@Suite struct DigestTests {
    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers {
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
                for place in 0..<3 {
                    try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(place)")]))
                }
                try transaction.link(note, "items", transaction.insert("Item", ["key": .string("item \(number)")]))
            }
        }
    }

    private func note(_ store: Store, _ number: Int) throws -> ObjectID {
        let graph = store.graph
        return graph.id(of: try #require(graph.place(try graph.schema.required("Note"), identity: [.int(Int64(number))])))
    }

    /// Returns the transactions that have a digest, each with the transaction that the digest names.
    private func digests(_ volume: any Volume) throws -> [TransactionNumber: TransactionNumber] {
        var found: [TransactionNumber: TransactionNumber] = [:]
        try TransactionLog(volume).forEach { entry in
            for op in try entry.ops() { if case .digest(let number, _) = op { found[entry.number] = number } }
        }
        return found
    }

    @Test func `a digest includes a transaction that commits while it is computed`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<300)
        let known = KnownDigest { store.graph }
        try add(store, 300..<310)
        try store.write { transaction in
            let memos = try transaction.schema.required("Note").requiredRelationship("memos")
            let members = try #require(transaction.members(memos, of: try note(store, 7)))
            try transaction.move(try note(store, 7), memos, members[2], to: 0)
            try transaction.set(try note(store, 8), "title", to: .string("another title"))
            try transaction.delete(try note(store, 9))
        }
        let receipt = try store.pipeline.record(known, Author())
        let number = try #require(receipt.transaction)
        #expect(try digests(volume) == [number: TransactionNumber(rawValue: number.rawValue - 1)])
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
        #expect(try Verification(volume).findings == [])
    }

    @Test func `a digest includes a migration that commits while it is computed`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<100)
        let known = KnownDigest { store.graph }
        var definition = Notes.definition
        definition.entities[0].attributes.append(AttributeDefinition("done", .bool, default: true))
        try store.migrate(to: definition)
        _ = try store.pipeline.record(known, Author())
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    @Test func `digests during writes name the transaction before them, and a replay confirms them`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume, durability: .buffered(every: .seconds(60)))
        try add(store, 0..<200)
        let threads = TwoThreads()
        let errors = threads.run(
            {
                // The test proves something only if the other thread has begun.
                while threads.count.load(ordering: .relaxed) < 10, !threads.isDone.load(ordering: .acquiring) {}
                for _ in 0..<20 { try store.recordDigest() }
                threads.isDone.store(true, ordering: .releasing)
            },
            {
                while !threads.isDone.load(ordering: .acquiring) {
                    let number = threads.count.add(1, ordering: .relaxed).newValue
                    let graph = store.graph
                    let values = [Value.int(Int64(number % 200))]
                    guard let place = graph.place(try graph.schema.required("Note"), identity: values) else { continue }
                    try store.write { try $0.set(graph.id(of: place), "title", to: .string("round \(number)")) }
                }
            })
        #expect(errors == [])
        try store.close()
        let digests = try digests(volume)
        #expect(digests.count == 20 && digests.allSatisfy { $0.key == $0.value.next })
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    @Test func `a digest is computed without the writer's lock`() throws {
        let store = try Store.notes()
        try add(store, 0..<10)
        try store.write { transaction in
            try transaction.insert("Note", ["id": .int(11)])
            // A wait would wait for this transaction itself.
            #expect(KnownDigest { store.graph }.digest == transaction.draft.original.digest())
        }
    }

    @Test func `a store that accepts no more writes computes no digest`() throws {
        let volume = FaultyVolume()
        let poisoned = try Store.create(volume, schema: Notes.schema, durability: .synced)
        volume.fail(at: volume.operationCount + 1, with: 5)
        #expect(throws: CambiumError.self) { try add(poisoned, 0..<1) }
        let closed = try Store.notes()
        try closed.close()
        for store in [poisoned, closed] {
            var readCount = 0
            let refusal = code {
                _ = try store.pipeline.recordDigest(Author()) {
                    readCount += 1
                    return store.graph
                }
            }
            #expect(refusal == .notWritable && readCount == 0)
        }
    }

    @Test func `a compaction commits no transaction and no digest`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<100)
        try store.checkpoint()
        let number = store.graph.transaction
        try store.compact(.since(.latest))
        try store.compact(.checkpoints(1))
        #expect(store.graph.transaction == number)
        #expect(try Verification(volume).transactionCount == Int(number.rawValue))
    }
}
