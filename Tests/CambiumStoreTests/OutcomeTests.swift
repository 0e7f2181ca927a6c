import Cambium
import CambiumBytes
import CambiumTesting
import Dispatch
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumRecords
@testable import CambiumStore

/// A commit is done or not done, or its outcome is unknown.
@Suite struct OutcomeTests {
    private let author = Author(requestID: "q")

    private func insert(_ store: Store, _ number: Int, _ author: Author = Author()) throws {
        try store.write(author) { try $0.insert("Note", ["id": .int(Int64(number))]) }
    }

    private func broken(_ durability: Durability = .synced) throws -> (FaultyVolume, Store) {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: durability)
        try insert(store, 1)
        return (volume, store)
    }

    private func reopened(_ volume: FaultyVolume) throws -> Store {
        try Store.open(MemoryVolume(contents: volume.contents), durability: nil)
    }

    @Test func `a failed sync leaves the outcome unknown, and the next opening finds the transaction`() throws {
        let (volume, store) = try broken()
        volume.fail(at: volume.operationCount + 1, with: EIO)
        #expect(code { try insert(store, 2, author) } == .outcomeUnknown)
        #expect(store.graph.objectCount == 1 && code { try insert(store, 3) } == .notWritable)
        #expect(code { try store.close() } == .outcomeUnknown)
        let again = try reopened(volume)
        #expect(again.graph.objectCount == 2)
        // A repetition of the request is reported as already applied.
        #expect(code { try insert(again, 2, author) } == .repeated)
        #expect(again.graph.objectCount == 2)
    }

    @Test(arguments: [EIO, ENOSPC])
    func `the outcome of a refused frame is unknown unless the frame was cut off again`(number: Int32) throws {
        let (volume, store) = try broken(.buffered(every: .seconds(3600)))
        volume.fail(at: volume.operationCount, with: number)
        #expect(code { try insert(store, 2, author) } == (number == EIO ? .outcomeUnknown : .ioFailure))
        #expect(store.graph.objectCount == 1)
        if number == ENOSPC { try insert(store, 2, author) }
        let again = try reopened(volume)
        // The transaction is never applied twice, whatever became of the first attempt.
        if again.graph.objectCount == 1 { try insert(again, 2, author) }
        #expect(again.graph.objectCount == 2)
    }

    @Test func `a transaction that was not yet written when a sync failed is not applied`() throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        volume.isShut.store(true, ordering: .relaxed)
        let first = try store.enqueue { try $0.insert("Note", ["id": .int(1)]) }.ticket
        volume.arrivals.wait()
        // These transactions join the next group, which is never written.
        let second = try store.enqueue { try $0.insert("Note", ["id": .int(2)]) }.ticket
        let reading = try store.enqueue { _ in }.ticket
        volume.isBroken.store(true, ordering: .relaxed)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        #expect([first, second, reading].map(outcome) == [.outcomeUnknown, .ioFailure, .ioFailure])
        store.abandon()
        let again = try Store.open(MemoryVolume(contents: volume.memory.contents), durability: nil)
        #expect(again.graph.objectCount == 1)
    }

    @Test func `a transaction that changes nothing never has an unknown outcome`() throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        volume.isShut.store(true, ordering: .relaxed)
        let first = try store.enqueue { try $0.insert("Note", ["id": .int(1)]) }.ticket
        volume.arrivals.wait()
        let reading = try store.enqueue { _ in }.ticket
        volume.isBroken.store(true, ordering: .relaxed)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        #expect([first, reading].map(outcome) == [.outcomeUnknown, .ioFailure])
        #expect(code { try store.write { _ in } } == .notWritable)
        #expect(code { try store.close() } == .outcomeUnknown)
    }

    @Test func `a checkpoint whose sync fails has a known outcome`() throws {
        let (volume, store) = try broken(.buffered(every: .seconds(3600)))
        volume.fail(at: volume.operationCount, with: EIO)
        #expect(code { _ = try store.checkpoint() } == .ioFailure)
        #expect(code { _ = try store.checkpoint() } == .notWritable)
        #expect(code { try store.close() } == .outcomeUnknown)
    }

    /// Returns a store in which a second transaction was staged, and never written, because the sync of the first one failed. Also returns
    /// the tickets of both transactions, and the object that reports to refs whether the second one was committed.
    private func failedSync() throws -> (store: Store, tickets: [Ticket], known: TransactionOutcome) {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        volume.isShut.store(true, ordering: .relaxed)
        let first = try store.enqueue { try $0.insert("Note", ["id": .int(1)]) }.ticket
        volume.arrivals.wait()
        let (known, second) = try store.enqueue { transaction in
            try transaction.insert("Note", ["id": .int(2)])
            return transaction.sharedOutcome()
        }
        // Later transactions build on the second transaction, so they may use its refs until the sync fails.
        #expect(known.isCommitted)
        volume.isBroken.store(true, ordering: .relaxed)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        #expect([first, second].map(outcome) == [.outcomeUnknown, .ioFailure])
        return (store, [first, second], known)
    }

    @Test func `refs to objects of a transaction that was not yet written when a sync failed are no longer valid`() throws {
        let (store, _, known) = try failedSync()
        #expect(!known.isCommitted)
        store.abandon()
    }

    @Test func `a ticket of a transaction that was lost with a failed sync reports the same error after the store is closed`() throws {
        let (store, tickets, _) = try failedSync()
        #expect(code { try store.close() } != nil)
        #expect(tickets.map(outcome) == [.outcomeUnknown, .ioFailure])
    }

    @Test func `closing reports an unknown outcome even if a transaction was staged when the sync failed`() throws {
        let (store, _, _) = try failedSync()
        #expect(code { try store.close() } == .outcomeUnknown)
    }

    @Test func `a store whose disk failed removes no file of a store that is opened after it`() throws {
        let volume = GatedVolume()
        var tuning = LogTuning()
        (tuning.largeByteCount, tuning.checkpointsInBackground) = (60, false)
        var failed: Store? = try Store.create(volume, schema: Notes.schema, durability: .synced, tuning: tuning)
        weak var log: LogWriter?
        log = failed?.writer.log
        if let store = failed { try fail(store, volume) }
        // The repetition of the lost transaction has the same number, and its file has the same name.
        let again = try Store.open(volume, durability: nil, tuning: tuning)
        try again.write { try insertLarge(&$0) }
        failed = nil
        while log != nil {}
        #expect(try Verification(volume.memory).isSound)
        #expect(again.graph.objectCount == 2)
        try again.close()
    }

    /// Commits a transaction whose sync fails. A large transaction is staged during that sync, and is never written. Closes the store.
    private func fail(_ store: Store, _ volume: GatedVolume) throws {
        volume.isShut.store(true, ordering: .relaxed)
        let first = try store.enqueue { try $0.insert("Note", ["id": .int(1)]) }.ticket
        volume.arrivals.wait()
        volume.isShut.store(false, ordering: .relaxed)
        let second = try store.enqueue { try insertLarge(&$0) }.ticket
        volume.isBroken.store(true, ordering: .relaxed)
        volume.gate.signal()
        #expect([first, second].map(outcome) == [.outcomeUnknown, .ioFailure])
        #expect(code { try store.close() } != nil)
        volume.isBroken.store(false, ordering: .relaxed)
    }

    /// Inserts an object whose op is so long that it gets a separate file.
    private func insertLarge(_ transaction: inout WriteTransaction) throws {
        try transaction.insert("Note", ["id": .int(2), "title": .string(String(repeating: "long ", count: 40))])
    }

    @Test func `closing reports that buffered transactions may not be durable`() throws {
        let (volume, store) = try broken(.buffered(every: .seconds(3600)))
        volume.fail(at: volume.operationCount, with: EIO)
        #expect(code { try store.close() } == .outcomeUnknown)
        let (_, sound) = try broken(.buffered(every: .seconds(3600)))
        #expect(code { try sound.close() } == nil)
    }

    @Test func `a task that awaits a failing sync gets an error with an unknown outcome`() async throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        volume.isShut.store(true, ordering: .relaxed)
        async let written = store.write(author) { try $0.insert("Note", ["id": .int(1)]) }
        await arrival(at: volume.arrivals)
        volume.isBroken.store(true, ordering: .relaxed)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        do {
            _ = try await written
            Issue.record("The write was acknowledged.")
        } catch let error as CambiumError {
            #expect(error.code == .outcomeUnknown && (error.underlying as? CambiumError)?.code == .ioFailure)
        }
    }

    private func outcome(_ ticket: Ticket) -> CambiumError.Code? {
        let found = Outcome()
        ticket.whenSettled { result in
            if case .failure(let error) = result { found.code.withLock { $0 = error.code } }
            found.isDone.signal()
        }
        found.isDone.wait()
        return found.code.withLock { $0 }
    }

    private final class Outcome: Sendable {
        let code = Guarded<CambiumError.Code?>(nil)
        let isDone = DispatchSemaphore(value: 0)
    }
}
