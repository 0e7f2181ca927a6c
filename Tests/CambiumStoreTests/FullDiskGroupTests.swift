import Cambium
import CambiumBytes
import CambiumGraph
import Dispatch
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumRecords
@testable import CambiumStore

/// The disk is full while other transactions wait for it. The store has no commit that was reported as failed, and it has all other ones.
@Suite struct FullDiskGroupTests {
    private func insert(_ store: Store, _ number: Int, _ level: Durability? = nil) throws {
        try store.write(durability: level) { try $0.insert("Note", ["id": .int(Int64(number))]) }
    }

    private func numbers(_ graph: Graph) throws -> [Int64] {
        let note = try graph.schema.required("Note")
        let id = graph.column(try note.requiredAttribute("id"))
        return graph.objects(of: note).compactMap { graph.place(of: $0).flatMap { id.int(at: $0) } }.sorted()
    }

    /// Runs `body` on a dedicated thread. Waiting for the result joins the thread.
    private func inBackground(_ body: @escaping @Sendable () throws -> Void) -> @Sendable () -> CambiumError.Code? {
        let outcome = Guarded<CambiumError.Code?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let box = Box(outcome: outcome, isDone: isDone)
        Thread {
            do { try body() } catch { box.outcome.withLock { $0 = (error as? CambiumError)?.code } }
            box.isDone.signal()
        }.start()
        return {
            box.isDone.wait()
            return box.outcome.withLock { $0 }
        }
    }

    private final class Box: Sendable {
        let outcome: Guarded<CambiumError.Code?>
        let isDone: DispatchSemaphore

        init(outcome: consuming Guarded<CambiumError.Code?>, isDone: DispatchSemaphore) {
            self.outcome = outcome
            self.isDone = isDone
        }
    }

    /// Makes a store with one note, and with another note whose sync is in progress.
    private func syncing(_ level: Durability?) throws -> (GatedVolume, Store, first: @Sendable () -> CambiumError.Code?) {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .microseconds(1)))
        try insert(store, 1)
        volume.isShut.store(true, ordering: .relaxed)
        let first = inBackground { try self.insert(store, 2, level) }
        volume.arrivals.wait()
        volume.isShut.store(false, ordering: .relaxed)
        return (volume, store, first)
    }

    private func finish(_ volume: GatedVolume, _ store: Store, _ expected: [Int64]) throws {
        #expect(try numbers(store.graph) == expected)
        #expect(store.pageFindings.isEmpty)
        try insert(store, 99)
        try store.close()
        let found = try Store.open(MemoryVolume(contents: volume.memory.contents), durability: nil)
        #expect(try numbers(found.graph) == expected + [99] && found.graph.digest() == store.graph.digest())
        #expect(try Verification(volume.memory).isSound)
    }

    @Test func `a commit written before the disk was full survives and is reported as done`() throws {
        let (volume, store, first) = try syncing(nil)
        // The second transaction is written at once and waits for its own sync.
        let begun = DispatchSemaphore(value: 0)
        let second = inBackground {
            try store.write { transaction in
                begun.signal()
                try transaction.insert("Note", ["id": .int(3)])
            }
        }
        begun.wait()
        // This transaction begins after the second one was written and while it waits.
        let failure = code {
            try store.write { transaction in
                volume.isFull.store(true, ordering: .relaxed)
                try transaction.insert("Note", ["id": .int(4)])
            }
        }
        #expect(failure == .ioFailure)
        volume.isFull.store(false, ordering: .relaxed)
        volume.gate.signal()
        #expect(first() == nil && second() == nil)
        try finish(volume, store, [1, 2, 3])
    }

    @Test func `a full disk rolls back staged transactions, but not those that are being synced`() throws {
        let (volume, store, first) = try syncing(.synced)
        let staged = try store.enqueue(durability: .synced) { try $0.insert("Note", ["id": .int(3)]) }.ticket
        volume.isFull.store(true, ordering: .relaxed)
        #expect(code { try insert(store, 4) } == .ioFailure)
        volume.isFull.store(false, ordering: .relaxed)
        let after = try store.enqueue(durability: .synced) { try $0.insert("Note", ["id": .int(5)]) }.ticket
        volume.gate.signal()
        #expect(first() == nil)
        #expect([staged, after].map(outcome) == [.ioFailure, nil])
        try finish(volume, store, [1, 2, 5])
    }

    @Test func `a transaction that has read a state that a full disk rolled back fails`() throws {
        let (volume, store, first) = try syncing(.synced)
        let staged = try store.enqueue(Author(requestID: "a"), durability: .synced) { try $0.insert("Note", ["id": .int(3)]) }.ticket
        // These transactions change nothing, and the state that they have read is not written yet.
        let reading = try store.enqueue(durability: .synced) { _ in }.ticket
        let begun = DispatchSemaphore(value: 0)
        let blocked = inBackground { try store.write(durability: .synced) { _ in begun.signal() } }
        begun.wait()
        volume.isFull.store(true, ordering: .relaxed)
        #expect(code { try insert(store, 4) } == .ioFailure)
        volume.isFull.store(false, ordering: .relaxed)
        // This transaction has read the state that remains.
        let after = try store.enqueue(durability: .synced) { _ in }.ticket
        volume.gate.signal()
        #expect(first() == nil && blocked() == .ioFailure)
        #expect([staged, reading, after].map(outcome) == [.ioFailure, .ioFailure, nil])
        // The request was not applied, so it may be repeated.
        try store.write(Author(requestID: "a"), durability: .synced) { try $0.insert("Note", ["id": .int(3)]) }
        try finish(volume, store, [1, 2, 3])
    }

    @Test func `a label that a full disk rolled back can name another transaction`() throws {
        let (volume, store, first) = try syncing(.synced)
        let staged = try store.enqueue(durability: .synced) { try $0.record(.label("a", TransactionNumber(rawValue: 1))) }.ticket
        // The store looks up the staged label here.
        #expect(code { try store.label("a", TransactionNumber(rawValue: 2)) } == .ruleViolated)
        volume.isFull.store(true, ordering: .relaxed)
        #expect(code { try insert(store, 4) } == .ioFailure)
        volume.isFull.store(false, ordering: .relaxed)
        volume.gate.signal()
        #expect(first() == nil && outcome(staged) == .ioFailure)
        #expect(try store.label("a", TransactionNumber(rawValue: 2)).rawValue == 2)
        try finish(volume, store, [1, 2])
    }

    @Test func `refs to objects of a transaction that a full disk rolled back are no longer valid`() throws {
        let (volume, store, first) = try syncing(.synced)
        let (known, staged) = try store.enqueue(durability: .synced) { transaction in
            try transaction.insert("Note", ["id": .int(3)])
            return transaction.sharedOutcome()
        }
        // Later transactions build on this transaction, so they may use its refs.
        #expect(known.isCommitted)
        volume.isFull.store(true, ordering: .relaxed)
        #expect(code { try insert(store, 4) } == .ioFailure)
        volume.isFull.store(false, ordering: .relaxed)
        #expect(!known.isCommitted)
        volume.gate.signal()
        #expect(first() == nil && outcome(staged) == .ioFailure)
        try finish(volume, store, [1, 2])
    }

    private func outcome(_ ticket: Ticket) -> CambiumError.Code? {
        let box = Box(outcome: Guarded(nil), isDone: DispatchSemaphore(value: 0))
        ticket.whenSettled { result in
            if case .failure(let error) = result { box.outcome.withLock { $0 = error.code } }
            box.isDone.signal()
        }
        box.isDone.wait()
        return box.outcome.withLock { $0 }
    }
}
