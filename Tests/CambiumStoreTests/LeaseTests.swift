import Cambium
import CambiumBytes
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

@Suite struct LeaseTests {
    private func made(_ clock: StillClock = StillClock(), count: Int = 500) throws -> Store {
        let store = try Store.inMemory(schema: Notes.schema, environment: clock.environment())
        try store.write { transaction in
            for number in 0..<count { try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")]) }
        }
        return store
    }

    /// Changes every note, in one transaction for each round.
    private func change(_ store: Store, rounds: Int = 1) throws {
        let note = try store.schema.required("Note")
        for _ in 0..<rounds {
            let title = Value.string("after \(1000 + store.graph.transaction.rawValue)")
            try store.write { transaction in
                for id in store.graph.objects(of: note) { try transaction.set(id, "title", to: title) }
            }
        }
    }

    @Test func `memory that readers pin is counted, and freed when they release their graphs`() throws {
        let store = try made()
        try change(store)
        let (before, pages) = (store.memory, store.memory.pageByteCount)
        #expect(before.pinnedVersionCount == 0 && before.pinnedByteCount == 0)
        var held: [Graph] = []
        for count in 1...20 {
            held.append(store.graph)
            try change(store)
            #expect(store.memory.pinnedVersionCount == count)
            #expect(store.memory.pinnedByteCount == store.memory.pageByteCount - pages && store.memory.pinnedByteCount > count * 10_000)
        }
        #expect(try Statistics(of: store).pins?.versionCount == 20 && Statistics(of: store).pins?.byteCount == store.memory.pinnedByteCount)
        held.removeAll()
        #expect(store.memory.pinnedVersionCount == 0 && store.memory.pinnedByteCount == 0 && store.memory.pageByteCount == pages)
    }

    @Test func `reading through an expired lease fails, and the memory that it pinned is freed`() throws {
        let clock = StillClock()
        let store = try made(clock)
        try change(store)
        let pages = store.memory.pageByteCount
        let old = store.lease()
        clock.advance(100)
        try change(store)
        let young = store.lease()
        clock.advance(10)
        try change(store)
        #expect(try old.read { $0.objectCount } == 500 && store.memory.pinnedVersionCount == 2)
        #expect(try Statistics(of: store).pins?.leaseCount == 2)
        #expect(store.expireLeases(olderThan: .seconds(60)) == 1)
        #expect(old.isExpired && !young.isExpired)
        #expect(code { try old.read { _ in } } == .expired)
        #expect(try young.read { $0.transaction } == young.transaction && store.memory.pinnedVersionCount == 1)
        #expect(store.expireLeases() == 1 && store.expireLeases() == 0)
        #expect(code { try young.read { _ in } } == .expired)
        #expect(store.memory.pinnedVersionCount == 0 && store.memory.pageByteCount == pages)
    }

    @Test func `a lease expires at its end time, and the next transaction releases its version`() throws {
        let clock = StillClock()
        let store = try made(clock)
        let leases = (1...3).map { store.lease(for: .seconds($0 * 10)) }
        try change(store)
        #expect(store.memory.pinnedVersionCount == 1)
        clock.advance(15)
        #expect(code { try leases[0].read { _ in } } == .expired)
        try leases[1].read { #expect($0.objectCount == 500) }
        clock.advance(100)
        // No caller uses the leases again. The next transaction releases the version.
        try change(store)
        #expect(store.memory.pinnedVersionCount == 0)
        #expect(leases.allSatisfy { $0.isExpired })
        let longest = store.lease(for: .seconds(Int64.max))
        clock.advance(1_000_000)
        #expect(!longest.isExpired)
        #expect(store.lease(for: .zero).isExpired)
    }

    @Test func `a lease ends if the clock is set back by more than its duration`() throws {
        let clock = StillClock()
        let store = try made(clock, count: 3)
        let (lease, unlimited) = (store.lease(for: .seconds(60)), store.lease())
        clock.advance(-60)
        #expect(!lease.isExpired)
        clock.advance(-1)
        // No caller uses the lease. The next transaction ends it.
        try change(store)
        #expect(try Statistics(of: store).pins?.leaseCount == 1)
        #expect(lease.isExpired && !unlimited.isExpired)
    }

    @Test func `all leases can be ended after the clock was set back`() throws {
        let clock = StillClock()
        let store = try made(clock, count: 3)
        let lease = store.lease()
        clock.advance(-3600)
        #expect(store.expireLeases(olderThan: .seconds(60)) == 0 && !lease.isExpired)
        #expect(store.expireLeases() == 1 && lease.isExpired)
    }

    @Test func `a read that is in progress when its lease expires still sees its graph`() throws {
        let store = try made()
        let lease = store.lease()
        let digest = store.graph.digest()
        try change(store)
        try lease.read { graph in
            #expect(store.expireLeases() == 1 && lease.isExpired)
            try change(store, rounds: 3)
            #expect(graph.digest() == digest && store.memory.pinnedVersionCount == 1)
        }
        #expect(store.memory.pinnedVersionCount == 0)
    }

    @Test func `leases that are ended or dropped leave nothing`() throws {
        let store = try made(count: 3)
        for round in 0..<300 {
            let lease = store.lease(for: .seconds(1000))
            try change(store)
            if round % 2 == 0 { lease.end() }
        }
        let pins = try #require(try Statistics(of: store).pins)
        #expect(pins.leaseCount == 0 && pins.versionCount == 0 && pins.byteCount == 0 && pins.oldestLeaseTime == nil)
    }

    @Test func `leases expire under readers on many threads, and each reader sees one graph or gets an error`() throws {
        let store = try made(count: 50)
        try change(store)
        let readCount = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<60 {
                do {
                    if thread == 0 {
                        try change(store)
                        store.expireLeases()
                        continue
                    }
                    let lease = store.lease()
                    for _ in 0..<20 {
                        try lease.read { graph in
                            let note = try graph.schema.required("Note")
                            let title = try note.requiredAttribute("title")
                            #expect(Set(graph.objects(of: note).map { graph.value(of: title, of: $0) }).count == 1)
                        }
                        readCount.add(1, ordering: .relaxed)
                    }
                } catch let error as CambiumError where error.code == .expired {
                    continue
                } catch { Issue.record("\(error)") }
            }
        }
        #expect(readCount.load(ordering: .relaxed) > 0)
        #expect(store.memory.pinnedVersionCount == 0 && store.graph.invariantFindings() == [])
    }
}
