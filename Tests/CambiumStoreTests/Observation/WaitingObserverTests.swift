import Cambium
import CambiumBytes
import CambiumTesting
import Dispatch
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Observers that wait for a transaction, while the store is written, closed or fails.
@Suite struct WaitingObserverTests {
    @Test(arguments: [Durability.synced, .buffered(every: .seconds(1000))], [ChangeDelivery.every, .coalesced])
    func `a waiting consumer gets a transaction as soon as it is committed`(
        _ durability: Durability, _ delivery: ChangeDelivery
    ) async throws {
        let store = try Store.notes(durability: durability)
        var changes = store.changes(delivery).makeAsyncIterator()
        for number in 1...20 {
            async let committed: Void = {
                await store.arrivalOfObservers()
                try store.addNote(number)
            }()
            #expect(try await changes.next()?.changes.count == 1)
            try await committed
        }
        #expect(store.writer.bell.count == 0)
        try store.close()
    }

    @Test func `a closed store ends the sequences of waiting consumers`() async throws {
        let store = try Store.notes()
        let consumers = (0..<3).map { _ in
            Task { try await store.changes().all().count }
        }
        await store.arrivalOfObservers(3)
        try store.close()
        for consumer in consumers { #expect(try await consumer.value == 0) }
        #expect(try await store.changes().all().isEmpty)
    }

    @Test func `a cancelled task stops waiting, and leaves nothing in the store`() async throws {
        let store = try Store.notes()
        let consumer = Task { try await store.changes().all().count }
        await store.arrivalOfObservers()
        consumer.cancel()
        await #expect(throws: CancellationError.self) { try await consumer.value }
        try store.addNote(1)
        #expect(store.writer.bell.count == 0)
        #expect(store.writer.recent.count == 0)
        try store.close()
    }

    @Test func `a cancelled task gets no more transactions, even if there are some`() async throws {
        let store = try Store.notes()
        try store.addNote(1)
        let consumer = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.changes(from: .none).all().count
        }
        await #expect(throws: CancellationError.self) { try await consumer.value }
        try store.close()
    }

    @Test func `a cancelled task does not wait for the replays of other consumers`() async throws {
        let store = try Store.notes()
        try store.addNote(1)
        let otherReplay = DispatchSemaphore(value: 0)
        let hasWaited = Guarded(false)
        store.observationQueue.async {
            if otherReplay.wait(timeout: .now() + 20) == .timedOut { hasWaited.withLock { $0 = true } }
        }
        let consumer = Task { try await store.changes(from: .none).all().count }
        for _ in 0..<1000 { await Task.yield() }
        consumer.cancel()
        await #expect(throws: CancellationError.self) { try await consumer.value }
        #expect(hasWaited.withLock { !$0 })
        otherReplay.signal()
        try store.close()
    }

    @Test func `a transaction that waits for the disk is not delivered`() async throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        let deliveredCount = Guarded(0)
        let consumer = Task {
            var counts: [Int] = []
            for try await transaction in store.changes() {
                deliveredCount.withLock { $0 += 1 }
                counts.append(transaction.changes.count)
            }
            return counts
        }
        await store.arrivalOfObservers()
        volume.isShut.store(true, ordering: .relaxed)
        let first = try store.enqueue { _ = try $0.insert("Note", ["id": 1]) }.ticket
        await arrival(at: volume.arrivals)
        // The bell may have rung for the staged transaction, so the observer looks for news and waits again.
        await store.arrivalOfObservers()
        #expect(deliveredCount.withLock { $0 } == 0)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        _ = try await first.receipt
        try store.close()
        #expect(try await consumer.value == [1])
    }

    @Test func `transactions whose sync fails are never delivered`() async throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        let consumers = [ChangeDelivery.every, .coalesced].map { delivery in
            Task { try await store.changes(delivery).all().count }
        }
        await store.arrivalOfObservers(2)
        volume.isBroken.store(true, ordering: .relaxed)
        for number in 1...3 { #expect(throws: CambiumError.self) { try store.addNote(number) } }
        #expect(throws: CambiumError.self) { try store.close() }
        for consumer in consumers { #expect(try await consumer.value == 0) }
        #expect(store.writer.recent.count == 0)
    }

    @Test func `a transaction that takes the number of one that was rolled back is delivered in its place`() async throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .microseconds(1)))
        let changes = store.changes()
        volume.isShut.store(true, ordering: .relaxed)
        let first = try store.enqueue(durability: .synced) { _ = try $0.insert("Note", ["id": 1]) }.ticket
        await arrival(at: volume.arrivals)
        volume.isShut.store(false, ordering: .relaxed)
        let lost = try store.enqueue(durability: .synced) { _ = try $0.insert("Note", ["id": 2]) }.ticket
        volume.isFull.store(true, ordering: .relaxed)
        #expect(throws: CambiumError.self) { try store.addNote(3) }
        volume.isFull.store(false, ordering: .relaxed)
        let last = try store.enqueue(durability: .synced) { _ = try $0.insert("Note", ["id": 4]) }.ticket
        volume.gate.signal()
        #expect(await errorCode { _ = try await lost.receipt } == .ioFailure)
        let receipts = [try await first.receipt, try await last.receipt]
        try store.close()
        let found = try await changes.all()
        #expect(found.map(\.transaction) == receipts.compactMap(\.transaction))
        #expect(found.compactMap { $0.changes.first?.attributes.first { $0.attribute.name == "id" }?.after } == [1, 4])
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `two consumers see the same history while two tasks write`(seed: UInt64) async throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume, durability: seed % 2 == 0 ? .synced : .buffered(every: .seconds(1000)))
        let first = store.graph.transaction
        let consumers = [ChangeDelivery.every, .coalesced].map { delivery in
            Task { try await Self.dawdling(through: store.changes(from: first, delivery), seed: seed) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for number in 0..<40 {
                        try await store.write { _ = try $0.insert("Note", ["id": .int(Int64(2 * number + writer))]) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try store.close()
        for consumer in consumers {
            let found = try await consumer.value
            var before = try store.graph(at: .transaction(first)).digest()
            for next in found {
                #expect(next.changes.before.digest() == before)
                #expect(next.changes.count == next.transactionCount)
                before = next.graph.digest()
            }
            #expect(before == store.graph.digest())
            #expect(found.reduce(0) { $0 + $1.transactionCount } == 80)
        }
        #expect(try await consumers[0].value.map(\.transactionCount) == Array(repeating: 1, count: 80))
    }

    /// Returns all deliveries, and lets other tasks run a random number of times after each.
    private static func dawdling(
        through changes: some AsyncSequence<CommittedChanges, any Error>, seed: UInt64
    ) async throws -> [CommittedChanges] {
        var random = SplitMix64(seed: seed)
        var found: [CommittedChanges] = []
        for try await next in changes {
            found.append(next)
            for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
        }
        return found
    }
}
