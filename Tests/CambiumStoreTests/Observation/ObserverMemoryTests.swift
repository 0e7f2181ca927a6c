import Cambium
import CambiumTesting
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// The versions that observers keep.
@Suite struct ObserverMemoryTests {
    private let clock = StillClock()

    private func made(_ volume: (any Volume)? = MemoryVolume()) throws -> Store {
        let environment = clock.environment()
        guard let volume else { return try Store.inMemory(schema: Notes.schema, environment: environment) }
        return try Store.create(volume, schema: Notes.schema, durability: .synced, environment: environment)
    }

    private func advance(_ store: Store, _ count: Int = 10) throws {
        for _ in 0..<count { try store.addNote(Int(store.graph.transaction.rawValue)) }
    }

    @Test func `a store that is not observed keeps no versions`() throws {
        let store = try made()
        try advance(store)
        #expect(store.writer.recent.count == 0)
        #expect(store.memory.pinnedVersionCount == 0)
        try store.close()
    }

    @Test(arguments: [ChangeDelivery.every, .coalesced])
    func `an iterator that is dropped releases its versions`(_ delivery: ChangeDelivery) async throws {
        let store = try made()
        func observe() async throws {
            var changes = store.changes(delivery).makeAsyncIterator()
            try advance(store)
            #expect(try await changes.next() != nil)
            try advance(store)
            #expect(store.memory.pinnedVersionCount == (delivery == .every ? 20 : 1))
        }
        try await observe()
        #expect(store.memory.pinnedVersionCount == 0)
        #expect(store.leases.summary.count == 0)
        try store.close()
    }

    @Test(arguments: [ChangeDelivery.every, .coalesced])
    func `a consumer that stops holds nothing after a minute, and loses nothing`(_ delivery: ChangeDelivery) async throws {
        let store = try made()
        let sequence = store.changes(delivery)
        var changes = sequence.makeAsyncIterator()
        try advance(store)
        var count = try #require(try await changes.next()).transactionCount
        try advance(store)
        #expect(store.memory.pinnedVersionCount > 0)
        clock.advance(61)
        try advance(store, 2)
        #expect(store.memory.pinnedVersionCount == 0)
        #expect(store.writer.recent.count == 0)
        try store.close()
        while let next = try await changes.next() {
            #expect(next.changes.count == next.transactionCount)
            count += next.transactionCount
        }
        #expect(count == 22)
        withExtendedLifetime(sequence) {}
    }

    @Test func `the versions of a consumer can be released at any time`() async throws {
        let store = try made()
        var changes = store.changes(.coalesced).makeAsyncIterator()
        try advance(store)
        #expect(store.expireLeases() > 0)
        #expect(store.memory.pinnedVersionCount == 0)
        #expect(try await changes.next()?.changes.count == 10)
        try store.close()
    }

    @Test func `the pump of live queries survives the end of all leases, also in a store in memory`() async throws {
        let store = try made(nil)
        var known = store.graph
        let observer = store.changes(from: known.transaction, .coalesced, known).makeAsyncIterator().observer
        for _ in 0..<2 {
            #expect(store.expireLeases() > 0)
            try advance(store)
            let committed = try #require(try await observer.next(knowing: known))
            #expect(committed.changes.count == 10)
            known = committed.graph
        }
        try store.close()
    }

    @Test func `a closed store can release the replay of a consumer that stops, and the consumer loses nothing`() async throws {
        let store = try made()
        let first = store.graph.transaction
        try advance(store)
        try store.close()
        var changes = store.changes(from: first).makeAsyncIterator()
        var last = try #require(try await changes.next()).transaction
        #expect(last == first.next && store.leases.summary.count > 0)
        #expect(store.expireLeases() > 0 && store.leases.summary.count == 0)
        while let next = try await changes.next() {
            #expect(next.transaction == last.next)
            last = next.transaction
        }
        #expect(last == store.graph.transaction)
    }

    @Test(arguments: [0, 4] as [UInt64])
    func `a replay for an observer counts against the memory budget of the store, also from the first transaction`(last: UInt64) throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        try advance(store)
        let budget = MemoryBudget(byteCount: 1 << 20)
        let id = try StoreSettings.read(volume).store
        let view = try CatchUp.view(volume, of: id, at: TransactionNumber(rawValue: last), budget, Cancellation())
        #expect(view.timeline.budget === budget)
        try store.close()
    }

    @Test func `a consumer that returns while its loan is being ended still receives each transaction`() throws {
        let store = try made(nil)
        let seat = ObserverSeat(store, .every)
        seat.leave(ObserverSeat.Held())
        let other = WatchedLoan { _ = seat.take() }
        store.leases.add(other)
        clock.advance(61)
        store.leases.expire()
        #expect(other.readCount.load(ordering: .relaxed) == 6)
        #expect(store.writer.recent.isWanted)
        seat.end()
        #expect(!store.writer.recent.isWanted)
    }

    @Test func `the lease of an observer that waits for a delivery has no beginning`() throws {
        let store = try made()
        let seat = ObserverSeat(store, .every)
        seat.leave(ObserverSeat.Held())
        #expect(store.leases.summary.oldestTime == Timestamp(microsecondsSince1970: clock.time))
        _ = seat.take()
        #expect(store.leases.summary.count == 1 && store.leases.summary.oldestTime == nil)
        seat.end()
        try store.close()
    }

    @Test func `a consumer of a store in memory that stays away too long is refused`() async throws {
        for delivery in [ChangeDelivery.every, .coalesced] {
            let store = try made(nil)
            var changes = store.changes(delivery).makeAsyncIterator()
            try advance(store)
            clock.advance(61)
            try advance(store, 2)
            #expect(store.memory.pinnedVersionCount == 0)
            #expect(await errorCode { _ = try await changes.next() } == .expired, "\(delivery)")
        }
    }

    @Test(arguments: [ChangeDelivery.every, .coalesced])
    func `an iterator that an error ended holds nothing, even if it is kept`(_ delivery: ChangeDelivery) async throws {
        let store = try made(nil)
        var changes = store.changes(delivery).makeAsyncIterator()
        try advance(store)
        clock.advance(61)
        try advance(store, 2)
        #expect(await errorCode { _ = try await changes.next() } == .expired)
        try advance(store)
        #expect(store.writer.recent.count == 0 && !store.writer.recent.isWanted)
        #expect(store.memory.pinnedVersionCount == 0)
        #expect(store.leases.summary.count == 0)
        #expect(try await changes.next() == nil)
        try store.close()
    }

    @Test func `the newest versions are limited by their number and by their bytes`() throws {
        let store = try made(nil)
        var graphs = [store.graph]
        for number in 1...9 { graphs.append(try store.addNote(number).graph) }
        func kept(_ recent: RecentVersions, byteCount: Int) -> [Int] {
            recent.beginInterest()
            for (before, after) in zip(graphs, graphs.dropFirst()) {
                recent.add(after, after: before, TransactionMetadata(time: .min))
                recent.track(byteCount: byteCount, supersededFrom: before.transaction)
            }
            return (0..<9).filter { recent.step(after: graphs[$0].transaction) != nil }
        }
        #expect(kept(RecentVersions(), byteCount: 1) == Array(0..<9))
        #expect(kept(RecentVersions(countMax: 4), byteCount: 1) == [6, 7, 8])
        #expect(kept(RecentVersions(byteCountMax: 50), byteCount: 10) == [4, 5, 6, 7, 8])
        #expect(kept(RecentVersions(byteCountMax: 50), byteCount: 100) == [8])
    }

    @Test func `the memory for the newest versions grows with their number`() throws {
        let store = try made(nil)
        var graphs = [store.graph]
        for number in 1...80 { graphs.append(try store.addNote(number).graph) }
        let recent = RecentVersions(countMax: 50)
        for _ in 0..<2 {
            recent.beginInterest()
            var counts: Set<Int> = []
            for (index, (before, after)) in zip(graphs, graphs.dropFirst()).enumerated() {
                recent.add(after, after: before, TransactionMetadata(time: .min))
                counts.insert(recent.allocatedCount)
                let known = (0...index).filter {
                    recent.step(after: graphs[$0].transaction)?.after.transaction == graphs[$0 + 1].transaction
                }
                #expect(known == Array(max(0, index - 48)...index))
            }
            #expect(counts == [16, 32, 50] && recent.count == 50)
            recent.endInterest()
            #expect(recent.allocatedCount == 0)
        }
    }

    @Test func `versions that were rolled back are not kept, and other versions take their places`() throws {
        let store = try made(nil)
        var graphs = [store.graph]
        for number in 1...5 { graphs.append(try store.addNote(number).graph) }
        let recent = RecentVersions(countMax: 4)
        recent.beginInterest()
        func add(_ index: Int) { recent.add(graphs[index], after: graphs[index - 1], TransactionMetadata(time: .min)) }
        for index in 1...5 { add(index) }
        recent.removeAll(after: graphs[3].transaction)
        #expect(recent.step(after: graphs[3].transaction) == nil)
        #expect(recent.step(after: graphs[2].transaction)?.after.transaction == graphs[3].transaction)
        add(4)
        #expect(recent.step(after: graphs[3].transaction)?.after.transaction == graphs[4].transaction)
        recent.removeAll(after: graphs[0].transaction)
        #expect(recent.count == 0)
        add(2)
        #expect(recent.step(after: graphs[1].transaction) != nil)
        recent.endInterest()
        #expect(recent.count == 0 && !recent.isWanted)
    }
}

/// A loan without an end. Calls `body` when its end is read for the fifth time: after other loans were found to be over, and before they
/// are released.
private final class WatchedLoan: Loan {
    let readCount = Atomic(0)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    var beginTime: Timestamp { .max }
    var endTime: Timestamp {
        if readCount.add(1, ordering: .relaxed).newValue == 5 { body() }
        return .max
    }
    func release(where isOver: (any Loan) -> Bool) {}
}
