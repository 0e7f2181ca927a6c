import Cambium
import CambiumBytes
import CambiumTesting
import Dispatch
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Observers that get each transaction.
@Suite struct EveryTransactionTests {
    private func number(_ value: Int) -> TransactionNumber { TransactionNumber(rawValue: UInt64(value)) }

    /// Returns a sentence about the first delivery that is wrong, or `nil` if each transaction after `last` was delivered once, in order.
    private func flaw(_ found: [CommittedChanges], after last: TransactionNumber, _ history: ObservedHistory) -> String? {
        var last = last
        for next in found {
            if next.transaction != last.next || next.transactionCount != 1 { return "\(next.transaction) follows \(last)" }
            if next.changes.lines != history.lines(from: last, to: next.transaction) { return "\(next.transaction) has other changes" }
            if next.graph.digest() != history.graph(next.transaction).digest() { return "\(next.transaction) has another graph" }
            last = next.transaction
        }
        return last == history.graphs.last?.transaction ? nil : "the last delivery is \(last)"
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `each transaction is delivered once, in order, with its changes`(seed: UInt64) async throws {
        let history = try ObservedHistory(MemoryVolume(), seed: seed)
        try history.advance(30)
        var changes = history.store.changes(from: history.first).makeAsyncIterator()
        var found = try await changes.next(history.graphs.count - 1)
        for _ in 0..<30 {
            let count = history.graphs.count
            try history.advance(1 + Int(seed))
            found += try await changes.next(history.graphs.count - count)
        }
        #expect(flaw(found, after: history.first, history) == nil)
        try history.store.close()
        #expect(try await changes.next() == nil)
    }

    @Test func `a consumer resumes after any transaction, also if the store was opened again`() async throws {
        let volume = MemoryVolume()
        let history = try ObservedHistory(volume)
        try history.advance(20)
        try history.store.checkpoint()
        try history.advance(20)
        try history.store.close()
        let reopened = try Store.reopened(volume)
        try reopened.close()
        for store in [history.store, reopened] {
            for graph in history.graphs {
                let found = try await store.changes(from: graph.transaction).all()
                #expect(flaw(found, after: graph.transaction, history) == nil, "from \(graph.transaction)")
            }
        }
    }

    @Test func `a consumer that begins before the first transaction gets the schema first`() async throws {
        let history = try ObservedHistory(MemoryVolume())
        try history.advance(5)
        try history.store.close()
        let found = try await history.store.changes(from: .none).all()
        #expect(found.first?.transaction == number(1))
        #expect(found.first?.changes.changesSchema == true)
        #expect(flaw(Array(found.dropFirst()), after: number(1), history) == nil)
        let whole = try await history.store.changes(from: .none, .coalesced).all()
        #expect(whole.map(\.transaction) == [history.store.graph.transaction])
        #expect(whole.first?.changes.count == history.store.graph.objectCount)
    }

    @Test func `only new transactions are delivered by default`() async throws {
        for store in [try Store.notes(), try Store.inMemory(schema: Notes.schema)] {
            try store.addNote(1)
            let changes = store.changes()
            try store.addNote(2)
            try store.addNote(3)
            try store.close()
            #expect(try await changes.all().map(\.transaction) == [number(3), number(4)])
        }
    }

    @Test func `the metadata of a delivery is that of the log, replayed or not`() async throws {
        let volume = MemoryVolume()
        let history = try ObservedHistory(volume)
        let live = history.store.changes()
        try history.advance(20)
        try history.store.noteRequest("a")
        try history.store.close()
        var logged: [TransactionMetadata] = []
        try TransactionLog(volume).forEach(from: number(2)) { logged.append($0.metadata) }
        #expect(try await live.all().map(\.metadata) == logged)
        let reopened = try Store.reopened(volume)
        try reopened.close()
        let replayed = try await reopened.changes(from: number(1)).all()
        #expect(replayed.map(\.metadata) == logged)
        #expect(replayed.last?.changes.isEmpty == true)
    }

    @Test func `a consumer that lags by thousands of transactions loses nothing`() async throws {
        let store = try Store.notes(durability: .buffered(every: .seconds(1000)))
        let note = try #require(try store.addNote(1).graph.objects(of: "Note").first)
        var changes = store.changes().makeAsyncIterator()
        // The store keeps at most 4096 transactions for a consumer, so this consumer needs a replay.
        let count = LongTests.areWanted ? 10_000 : 5000
        for number in 1...count { try store.setTitle(of: note, to: "\(number)") }
        let found = try await changes.next(count)
        #expect(found.map(\.transaction.rawValue) == Array(3...UInt64(count) + 2))
        let titles = found.compactMap { $0.changes.first?.attributes.first?.after }
        #expect(titles == (1...count).map { .string("\($0)") })
        // The consumer has caught up, so it no longer needs a replay.
        try store.addNote(2)
        #expect(try await changes.next()?.graph.digest() == store.graph.digest())
        try store.close()
    }

    @Test func `a cancelled consumer ends the replay that leads to its last transaction`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for id in 1...5 { try store.addNote(id) }
        let cancellation = Cancellation()
        let id = try StoreSettings.read(volume).store
        #expect(try CatchUp(volume, of: id, after: number(4), budget: .standard, cancellation).next() == nil)
        cancellation.cancel()
        #expect(throws: CancellationError.self) { _ = try CatchUp(volume, of: id, after: number(4), budget: .standard, cancellation) }
        try store.close()
    }

    @Test func `a store in memory refuses a consumer that has fallen back too far`() async throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let note = try #require(try store.addNote(1).graph.objects(of: "Note").first)
        var changes = store.changes().makeAsyncIterator()
        for number in 1...4_100 { try store.setTitle(of: note, to: "\(number)") }
        #expect(await errorCode { _ = try await changes.next() } == .expired)
        #expect(try await changes.next() == nil)
        #expect(await errorCode { _ = try await store.changes(from: number(1)).first { _ in true } } == .expired)
    }

    @Test func `a consumer that begins while another thread writes misses nothing, also in a store in memory`() async throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let note = try #require(try store.addNote(1).graph.objects(of: "Note").first)
        let written = Atomic(0)
        let limit = Atomic(0)
        let isDone = Atomic(false)
        let change = DispatchSemaphore(value: 0)
        let writer = DedicatedThread {
            while !isDone.load(ordering: .relaxed) {
                let number = written.load(ordering: .relaxed)
                if number >= limit.load(ordering: .relaxed) {
                    change.wait()
                    continue
                }
                do { try store.setTitle(of: note, to: "\(number)") } catch { Issue.record("\(error)") }
                written.store(number + 1, ordering: .relaxed)
            }
        }
        // The writer is never so far ahead that the store drops the versions of a consumer.
        func letWrite() {
            limit.store(written.load(ordering: .relaxed) + 1000, ordering: .relaxed)
            change.signal()
        }
        var failureCount = 0
        for _ in 0..<200 {
            letWrite()
            var changes = store.changes().makeAsyncIterator()
            letWrite()
            let failure = await errorCode { _ = try await changes.next() }
            if failure != nil { failureCount += 1 }
        }
        isDone.store(true, ordering: .relaxed)
        change.signal()
        writer?.join()
        #expect(failureCount == 0)
        try store.close()
    }

    @Test func `a migration is delivered as a change of the schema`() async throws {
        let history = try ObservedHistory(MemoryVolume())
        try history.advance(5)
        var definition = Notes.definition
        definition.entities[0].attributes.append(AttributeDefinition("color", .string, .optional))
        let before = history.store.graph.transaction
        let live = history.store.changes()
        try history.store.migrate(to: definition)
        try history.store.addNote(1000)
        try history.store.close()
        for found in [try await live.all(), try await history.store.changes(from: before).all()] {
            #expect(found.map(\.changes.changesSchema) == [true, false])
            #expect(found.map(\.changes.count) == [0, 1])
        }
    }

    @Test func `transactions that were retired are refused, and later ones are delivered`() async throws {
        let history = try ObservedHistory(MemoryVolume())
        for _ in 0..<4 {
            try history.advance(10)
            try history.store.checkpoint()
        }
        let kept = history.graphs[30].transaction
        try history.store.compact(.since(.transaction(kept)))
        try history.store.close()
        for delivery in [ChangeDelivery.every, .coalesced] {
            let found = await errorCode { _ = try await history.store.changes(from: number(3), delivery).all() }
            #expect(found == .expired, "\(delivery)")
        }
        #expect(await errorCode { _ = try await history.store.changes(from: .none).all() } == .expired)
        #expect(flaw(try await history.store.changes(from: kept).all(), after: kept, history) == nil)
    }

    @Test func `a transaction that does not exist yet is refused`() async throws {
        let store = try Store.notes()
        for delivery in [ChangeDelivery.every, .coalesced] {
            #expect(await errorCode { _ = try await store.changes(from: number(2), delivery).first { _ in true } } == .notFound)
        }
        try store.close()
    }
}
