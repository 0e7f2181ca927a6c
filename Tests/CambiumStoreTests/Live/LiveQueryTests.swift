import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Live queries of a store: their updates, their waking, and what they hold.
@Suite struct LiveQueryTests {
    /// A consumer of a live query, with the objects to which its updates lead.
    private struct Consumer<Updates: AsyncIteratorProtocol> where Updates.Element == LiveUpdate {
        var updates: Updates
        var ids: [ObjectID] = []

        init<Live: AsyncSequence>(_ live: Live) where Live.AsyncIterator == Updates { updates = live.makeAsyncIterator() }

        @discardableResult
        mutating func next() async throws -> LiveUpdate? {
            let update = try await updates.next()
            update?.apply(to: &ids)
            return update
        }
    }

    @Test func `a consumer gets the result, and then each difference`() async throws {
        let store = try Store.notes()
        try store.addNote(1)
        let query = try Query("Note", where: "id > 0", sort: "-id")
        var consumer = Consumer(store.live(query))
        #expect(try await consumer.next()?.isWhole == true)
        try store.addNote(2)
        let second = try #require(try await consumer.next())
        #expect(!second.isWhole && second.inserted.map(\.index) == [0] && second.transaction == store.graph.transaction)
        try store.setTitle(of: consumer.ids[1], to: "new")
        #expect(try await consumer.next()?.updated.map(\.index) == [1])
        let deleted = consumer.ids[0]
        try store.commit { try $0.delete(deleted) }
        #expect(try await consumer.next()?.deleted.map(\.index) == [0])
        #expect(try consumer.ids == store.graph.find(query))
        try store.close()
        #expect(try await consumer.next() == nil)
        #expect(try await consumer.next() == nil)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `the updates lead to new evaluations while transactions are committed`(seed: UInt64) async throws {
        let history = try ObservedHistory(MemoryVolume(), seed: seed)
        var random = SplitMix64(seed: seed)
        let queries = [
            try Query("Note", where: "title beginswith \"title\"", sort: "title"), try Query("Note", where: "related.@count > 0"),
            try Query("Note", sort: "-id", limit: 3), try Query("Note", where: "any related.title == \"new\"", sort: "title,-id", limit: 2),
        ]
        var consumers = queries.map { Consumer(history.store.live($0)) }
        for index in consumers.indices { try await consumers[index].next() }
        for _ in 0..<25 {
            try history.advance(Int.random(in: 1...3, using: &random))
            await history.store.arrivalOfChanges()
            for index in consumers.indices where random.isTrue(2, outOf: 3) && history.store.hasNews(queries[index], consumers[index].ids) {
                try await consumers[index].next()
                #expect(try consumers[index].ids == history.store.graph.find(queries[index]))
            }
        }
        try history.store.close()
        for index in consumers.indices {
            while try await consumers[index].next() != nil {}
            #expect(try consumers[index].ids == history.store.graph.find(queries[index]))
        }
    }

    @Test func `a transaction wakes only the queries that it concerns`() async throws {
        let store = try Store.notes()
        var notes = Consumer(store.live(try Query("Note")))
        var items = Consumer(store.live(try Query("Item")))
        _ = (try await notes.next(), try await items.next())
        try store.addNote(1)
        await store.arrivalOfChanges()
        #expect(store.liveQueries.pendingCount == 1)
        #expect(try await notes.next()?.inserted.count == 1)
        #expect(store.liveQueries.pendingCount == 0)
        try store.close()
        #expect(try await items.next() == nil)
    }

    @Test func `a waiting consumer is woken`() async throws {
        let store = try Store.notes()
        let consumer = Task {
            var counts: [Int] = []
            for try await update in store.live(try Query("Note")) { counts.append(update.count) }
            return counts
        }
        for number in 1...5 {
            while store.liveQueries.waitingCount == 0 { await Task.yield() }
            try store.addNote(number)
            await store.arrivalOfChanges()
        }
        while store.liveQueries.waitingCount == 0 { await Task.yield() }
        try store.close()
        #expect(try await consumer.value == [0, 1, 2, 3, 4, 5])
    }

    @Test func `a consumer that stops gets the whole result after too many transactions`() async throws {
        let store = try Store.notes()
        var consumer = Consumer(store.live(try Query("Note", sort: "id")))
        try await consumer.next()
        for number in 0...LiveRegistry.graphCountMax {
            try store.addNote(number)
            await store.arrivalOfChanges()
        }
        #expect(store.liveQueries.pendingCount == 0)
        #expect(await store.heldVersionCount() == 0)
        #expect(try await consumer.next()?.isWhole == true)
        #expect(consumer.ids.count == LiveRegistry.graphCountMax + 1)
        try store.addNote(-1)
        #expect(try await consumer.next()?.inserted.map(\.index) == [0])
        try store.close()
    }

    @Test func `a change of the schema delivers the whole result again`() async throws {
        let store = try Store.notes()
        try store.addNote(1)
        var consumer = Consumer(store.live(try Query("Note", sort: "title")))
        try await consumer.next()
        var definition = Notes.definition
        definition.entities[0].attributes.append(AttributeDefinition("color", .string, .optional))
        try store.migrate(to: definition)
        #expect(try await consumer.next()?.isWhole == true)
        let id = consumer.ids[0]
        try store.commit { try $0.set(id, "color", to: "red") }
        #expect(try await consumer.next()?.updated.map(\.index) == [0])
        try store.close()
    }

    @Test func `a query whose name is dropped ends with an error`() async throws {
        let store = try Store.notes()
        var consumer = Consumer(store.live(try Query("Note", where: "rating > 3")))
        try await consumer.next()
        var definition = Notes.definition
        definition.entities[0].attributes.removeAll { $0.name == "rating" }
        try store.migrate(to: definition)
        await #expect(throws: CambiumError.self) { try await consumer.next() }
        #expect(try await consumer.next() == nil)
        #expect(store.liveQueries.count == 0)
        try store.close()
    }

    @Test func `a cancelled or dropped consumer leaves nothing in the store`() async throws {
        let store = try Store.notes()
        let task = Task {
            for try await _ in store.live(try Query("Note")) {}
        }
        while store.liveQueries.waitingCount == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        func consume() async throws {
            var consumer = Consumer(store.live(try Query("Note")))
            try await consumer.next()
            #expect(store.liveQueries.count == 1)
        }
        try await consume()
        #expect(store.liveQueries.count == 0)
        while store.writer.bell.count > 0 { await Task.yield() }
        try store.addNote(1)
        #expect(await store.heldVersionCount() == 0)
        try store.close()
    }

    @Test func `a query that cannot be bound throws at the first update`() async throws {
        let store = try Store.notes()
        var consumer = Consumer(store.live(try Query("Nothing")))
        await #expect(throws: CambiumError.self) { try await consumer.next() }
        #expect(store.liveQueries.count == 0)
        try store.close()
    }
}

extension Store {
    /// Runs a transaction. In an asynchronous test, `write` would be the asynchronous method.
    fileprivate func commit(_ body: (inout WriteTransaction) throws -> Void) throws { try write { try body(&$0) } }

    /// Waits until the changes of all transactions were recorded for live queries.
    fileprivate func arrivalOfChanges() async {
        while let noted = liveQueries.noted, noted < graph.transaction { await Task.yield() }
    }

    /// Returns the number of earlier versions that are held, when tasks that are about to release them had time to do so.
    fileprivate func heldVersionCount() async -> Int {
        for _ in 0..<100_000 where memory.pinnedVersionCount > 0 { await Task.yield() }
        return memory.pinnedVersionCount
    }

    /// Whether the result of a query differs from known objects.
    fileprivate func hasNews(_ query: Query, _ ids: [ObjectID]) -> Bool { (try? graph.find(query)) != ids }
}
