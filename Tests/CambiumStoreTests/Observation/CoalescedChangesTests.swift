import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// Observers that get one difference for all transactions since the last delivery.
@Suite struct CoalescedChangesTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `each delivery leads from the last one to the newest graph`(seed: UInt64) async throws {
        let history = try ObservedHistory(MemoryVolume(), seed: seed)
        var random = SplitMix64(seed: seed)
        var changes = history.store.changes(.coalesced).makeAsyncIterator()
        var last = history.first
        for _ in 0..<20 {
            try history.advance(Int.random(in: 1...8, using: &random))
            if history.store.graph.transaction == last { continue }
            let found = try #require(try await changes.next())
            #expect(found.transaction == history.store.graph.transaction)
            #expect(found.transactionCount == Int(found.transaction.rawValue - last.rawValue))
            #expect(found.changes.lines == history.lines(from: last, to: found.transaction))
            last = found.transaction
        }
        try history.store.close()
        #expect(try await changes.next() == nil)
    }

    @Test func `a consumer resumes after any transaction`() async throws {
        let volume = MemoryVolume()
        let history = try ObservedHistory(volume)
        try history.advance(20)
        try history.store.checkpoint()
        try history.advance(10)
        try history.store.close()
        let newest = history.store.graph.transaction
        let reopened = try Store.reopened(volume)
        try reopened.close()
        for graph in history.graphs.dropLast() {
            for store in [history.store, reopened] {
                let found = try await store.changes(from: graph.transaction, .coalesced).all()
                #expect(found.map(\.transaction) == [newest])
                #expect(found.first?.changes.lines == history.lines(from: graph.transaction, to: newest), "from \(graph.transaction)")
            }
        }
    }

    @Test func `after transactions were retired, a consumer that begins with the first one gets the whole graph`() async throws {
        let history = try ObservedHistory(MemoryVolume())
        for _ in 0..<3 {
            try history.advance(10)
            try history.store.checkpoint()
        }
        try history.advance(2)
        let newest = history.store.graph
        #expect(try history.store.compact(.checkpoints(1)).retiredEnd > history.first)
        try history.store.close()
        let found = try await history.store.changes(from: .none, .coalesced).all()
        #expect(found.map(\.transaction) == [newest.transaction])
        #expect(found.first?.transactionCount == Int(newest.transaction.rawValue))
        #expect(found.first?.changes.before.objectCount == 0)
        #expect(found.first?.changes.count == newest.objectCount)
        #expect(found.first?.changes.allSatisfy { $0.kind == .inserted } == true)
    }

    @Test func `a consumer of a store in memory gets the transactions since the call`() async throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let changes = store.changes(.coalesced)
        for number in 1...5 { try store.addNote(number) }
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next()?.changes.count == 5)
        try store.addNote(6)
        try store.close()
        #expect(try await iterator.next()?.changes.count == 1)
        #expect(try await iterator.next() == nil)
    }
}
