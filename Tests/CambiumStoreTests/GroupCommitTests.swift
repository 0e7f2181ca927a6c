import Cambium
import CambiumBytes
import CambiumGraph
import CambiumTesting
import Dispatch
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct GroupCommitTests {
    private func insert(_ store: Store, _ number: Int) throws -> Receipt {
        try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) }.receipt
    }

    private func frames(_ volume: any Volume) throws -> [Int: Int] {
        var counts: [Int: Int] = [:]
        _ = try LogReader(volume).scan { counts[$0.frameOffset, default: 0] += 1 }
        return counts
    }

    @Test func `writers that wait together share a frame and a sync, and their transactions appear together`() throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        volume.isShut.store(true, ordering: .relaxed)
        let threads = DispatchGroup()
        let receipts = Guarded<[Receipt]>([])
        func begin(_ number: Int) {
            DispatchQueue.global().async(group: threads) {
                do {
                    let receipt = try insert(store, number)
                    receipts.withLock { $0.append(receipt) }
                } catch { Issue.record("writer \(number): \(error)") }
            }
        }
        begin(0)
        volume.arrivals.wait()
        // All of these transactions arrive while the sync of the first one is in progress.
        let syncCount = volume.syncCount.load(ordering: .relaxed)
        let tickets = try (1...20).map { number in
            try store.enqueue { try $0.insert("Note", ["id": .int(Int64(number))]) }.ticket
        }
        #expect(store.graph.objectCount == 0)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        threads.wait()
        let settled = DispatchSemaphore(value: 0)
        for ticket in tickets { ticket.whenSettled { _ in settled.signal() } }
        for _ in tickets { settled.wait() }
        #expect(receipts.withLock { $0.count } == 1 && store.graph.objectCount == 21)
        #expect(volume.syncCount.load(ordering: .relaxed) == syncCount + 1)
        try store.close()
        #expect(try frames(volume.memory).values.sorted().suffix(3) == [1, 1, 20])
        #expect(try Verification(volume.memory).isSound)
    }

    @Test func `transactions of many threads are committed durably and once`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        DispatchQueue.concurrentPerform(iterations: 16) { writer in
            for number in 0..<25 {
                do {
                    let receipt = try insert(store, writer * 25 + number)
                    #expect(receipt.transaction != nil && receipt.logByteCount > 0)
                    #expect(store.graph.transaction >= receipt.transaction ?? .none)
                } catch { Issue.record("\(error)") }
            }
        }
        #expect(store.graph.objectCount == 400 && store.graph.transaction.rawValue == 401)
        // All transactions survive a power failure.
        let found = try Store.open(MemoryVolume(contents: volume.image(seed: 1)), durability: nil)
        #expect(found.graph.export == store.graph.export && found.graph.digest() == store.graph.digest())
        try store.close()
    }

    @Test func `tasks commit without blocking a thread`() async throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        let receipts = try await withThrowingTaskGroup(of: Receipt.self) { tasks in
            for number in 0..<200 {
                tasks.addTask { try await store.write { try $0.insert("Note", ["id": .int(Int64(number))]) }.receipt }
            }
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(receipts.compactMap(\.transaction)).count == 200 && store.graph.objectCount == 200)
        let ticket = try store.enqueue { try $0.insert("Note", ["id": .int(1000)]) }.ticket
        let receipt = try await ticket.receipt
        #expect(receipt.graph.objectCount == 201 && store.graph.objectCount == 201)
        // A transaction that changes nothing still waits until the state that it has read is durable.
        let note = try store.schema.required("Note")
        let id = try #require(store.graph.place(note, identity: [.int(1000)]).map(store.graph.id))
        let nothing = try await store.write { try $0.set(id, "title", to: .string("")) }
        #expect(nothing.receipt.transaction == nil)
        try store.close()
    }

    @Test func `a full disk fails the commit and nothing else`() throws {
        for durability in [Durability.synced, .buffered(every: .seconds(3600))] {
            let volume = FaultyVolume()
            let store = try Store.create(volume, schema: Notes.schema, durability: durability)
            _ = try insert(store, 1)
            let (export, digest) = (store.graph.export, store.graph.digest())
            for round in 0..<5 {
                // After the first failure no preallocated space is left, so a write that preallocates precedes the write of the frame.
                let preallocates = durability == .synced && round > 0
                volume.fail(at: volume.operationCount + (preallocates ? 1 : 0), with: ENOSPC)
                #expect(code { _ = try insert(store, 2) } == .ioFailure, "round \(round)")
                #expect(store.graph.export == export && store.writer.timeline.head.digest() == digest)
                #expect(store.pageFindings.isEmpty)
            }
            _ = try insert(store, 2)
            #expect(store.graph.objectCount == 2)
            try store.close()
            let found = try Store.open(MemoryVolume(contents: volume.image(seed: 7)), durability: nil)
            #expect(found.graph.export == store.graph.export && found.recovery.notes.isEmpty)
            #expect(try Verification(volume).isSound)
        }
    }

    @Test func `a failed sync rolls back every transaction that is not durable, and the store writes nothing more`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        _ = try insert(store, 1)
        let export = store.graph.export
        // The first operation is the write of the frame, the second one its sync.
        volume.fail(at: volume.operationCount + 1, with: EIO)
        #expect(code { _ = try insert(store, 2) } == .outcomeUnknown)
        #expect(store.graph.export == export && store.writer.timeline.head.export == export)
        #expect(store.pageFindings.isEmpty)
        #expect(code { _ = try insert(store, 3) } == .notWritable)
        #expect(code { try store.close() } == .outcomeUnknown)
        #expect(store.graph.export == export)
    }

    @Test func `a store in memory has no log, but otherwise behaves like any other store`() throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let receipt = try insert(store, 1)
        #expect(receipt.transaction?.rawValue == 2 && receipt.logByteCount == 0 && store.graph.objectCount == 1)
        #expect(code { _ = try store.write(durability: .synced) { try $0.insert("Note", ["id": .int(2)]) } } == .invalidInput)
        #expect(code { _ = try insert(store, 1) } == .ruleViolated)
        try store.close()
        #expect(code { _ = try insert(store, 2) } == .notWritable)
    }

    @Test func `a request within the window is applied once, even across processes`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        func insert(_ store: Store, _ number: Int, _ request: String) throws -> RepeatedRequest? {
            do {
                try store.write(Author(requestID: request)) { try $0.insert("Note", ["id": .int(Int64(number))]) }
                return nil
            } catch let error as CambiumError where error.code == .repeated {
                return error.underlying as? RepeatedRequest
            }
        }
        #expect(try insert(store, 1, "a") == nil)
        #expect(try insert(store, 2, "a")?.transaction.rawValue == 2)
        #expect(store.graph.objectCount == 1)
        // A request that failed was not applied and may be repeated.
        volume.fail(at: volume.operationCount, with: ENOSPC)
        #expect(code { _ = try insert(store, 2, "b") } == .ioFailure)
        #expect(code { _ = try insert(store, 1, "c") } == .ruleViolated)
        #expect(try insert(store, 2, "b") == nil && insert(store, 3, "c") == nil)
        #expect(throws: CambiumError.self) { try store.enqueue(Author(requestID: "c")) { try $0.insert("Note", ["id": .int(9)]) } }
        try store.close()
        let reopened = try Store.open(MemoryVolume(contents: volume.image(seed: 1)), durability: nil)
        #expect(try ["a", "b", "c"].map { try insert(reopened, 9, $0)?.transaction.rawValue } == [2, 3, 4])
        #expect(reopened.graph.objectCount == 3)
    }

    @Test func `the window of requests drops the oldest request`() throws {
        let store = try Store.inMemory(schema: Notes.schema, environment: fixedEnvironment())
        let timeline = store.writer.timeline
        timeline.requestCountMax = 3
        for number in 2...11 { try store.write(Author(requestID: "request \(number)")) { try $0.insert("Memo") } }
        let graph = store.graph
        for number in 2...11 {
            let wanted: UInt64? = number > 8 ? UInt64(number) : nil
            #expect(graph.request("request \(number)")?.transaction.rawValue == wanted)
        }
        #expect(throws: CambiumError.self) { try store.write(Author(requestID: "request 11")) { try $0.insert("Memo") } }
        #expect(store.graph.requests.map(\.name) == ["request 9", "request 10", "request 11"])
        #expect(PageChecker.findings(in: timeline) == [])
        timeline.requestCountMax = 0
        try store.write(Author(requestID: "none")) { try $0.insert("Memo") }
        #expect(store.graph.request("none") == nil && store.graph.requests.count == 3)
    }

    @Test func `a graph that a reader in another process has seen is durable`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .seconds(3600)))
        for number in 1...5 { _ = try insert(store, number) }
        let lost = volume.image(seed: 3)
        let seen = try ReadOnlyStore(volume).graph.export
        #expect(seen == store.graph.export)
        let found = try Store.open(MemoryVolume(contents: volume.image(seed: 3)), durability: nil).graph.export
        let before = try Store.open(MemoryVolume(contents: lost), durability: nil).graph.export
        // Before the graph was read, the same power failure lost something.
        #expect(found == seen && before != seen)
    }

    @Test func `an unused ticket delays no other commit, and a ticket can be awaited twice`() async throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        for number in 0..<20 { _ = try store.enqueue { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        _ = try await store.write { try $0.insert("Note", ["id": .int(100)]) }
        #expect(store.graph.objectCount == 21)
        let ticket = try store.enqueue { try $0.insert("Note", ["id": .int(101)]) }.ticket
        #expect(try await ticket.receipt.transaction == ticket.receipt.transaction)
        let other = try await store.write { try $0.insert("Note", ["id": .int(102)]) }.receipt
        #expect(other.graph.objectCount == 23)
        try store.close()
        #expect(try Store.open(MemoryVolume(contents: volume.image(seed: 2)), durability: nil).graph.export == store.graph.export)
    }

    @Test func `kept tickets pin no versions, and each receipt has a graph with its transaction`() async throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        volume.isShut.store(true, ordering: .relaxed)
        var tickets: [Ticket] = []
        for number in 1...100 {
            tickets.append(try store.enqueue { try $0.insert("Note", ["id": .int(Int64(number))]) }.ticket)
            if number == 1 { volume.arrivals.wait() }
        }
        // Three versions may be pinned: the one that readers see, the one that is being synced and the one with which the next group
        // begins.
        #expect(store.memory.pinnedVersionCount <= 3)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        var seen: [TransactionNumber] = []
        for ticket in tickets {
            let receipt = try await ticket.receipt
            let number = try #require(receipt.transaction)
            #expect(receipt.graph.transaction >= number && store.graph.transaction >= receipt.graph.transaction)
            seen.append(receipt.graph.transaction)
        }
        #expect(Set(seen).count == 2)
        // At most the version of the first transaction's group is still pinned.
        #expect(store.memory.pinnedVersionCount <= 1)
        // A caller that waits for one transaction gets the graph directly after it.
        let exact = try await store.write { try $0.insert("Note", ["id": .int(101)]) }.receipt
        #expect(exact.graph.transaction == exact.transaction && exact.graph.objectCount == 101)
        #expect(store.pageFindings.isEmpty)
        try store.close()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a kept ticket does not keep a released store open`() async throws {
        let volume = MemoryVolume()
        let ticket: Ticket
        do {
            let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
            ticket = try store.enqueue { try $0.insert("Note", ["id": .int(1)]) }.ticket
        }
        #expect(try await ticket.receipt.transaction != nil)
        // The block that has synced the transaction may not have ended yet. Until it ends, opening fails.
        var reopened: Store?
        while reopened == nil {
            reopened = try? Store.open(volume, durability: nil)
            await Task.yield()
        }
        try reopened?.close()
        #expect(try await ticket.receipt.graph.objectCount == 1)
    }

    @Test func `threads that repeatedly find the disk full lose no acknowledged commit and leak no pages`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        let acknowledged = Guarded<Set<Int64>>([])
        let failureCount = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { writer in
            for number in 0..<40 {
                let id = Int64(writer * 40 + number)
                if number % 4 == 0 { volume.fail(at: volume.operationCount, with: ENOSPC) }
                do {
                    _ = try store.write { try $0.insert("Note", ["id": .int(id)]) }
                    acknowledged.withLock { _ = $0.insert(id) }
                } catch {
                    failureCount.wrappingAdd(1, ordering: .relaxed)
                }
            }
        }
        // After a refused sync the store accepts no writes. Either outcome is right, but every acknowledged note must be there.
        let expected = acknowledged.withLock { $0 }
        #expect(failureCount.load(ordering: .relaxed) + expected.count == 320)
        #expect(store.graph.objectCount == expected.count && store.pageFindings.isEmpty)
        store.abandon()
        let found = try Store.open(MemoryVolume(contents: volume.contents), durability: nil)
        let note = try found.schema.required("Note")
        let id = found.graph.column(try note.requiredAttribute("id"))
        let there = Set(found.graph.objects(of: note).compactMap { found.graph.place(of: $0).flatMap { id.int(at: $0) } })
        #expect(there.isSuperset(of: expected))
    }
}
