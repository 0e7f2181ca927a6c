import Cambium
import CambiumBytes
import CambiumLog
import Dispatch
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// A store waits for the disk without the writer's lock when it begins a segment.
@Suite struct RotationTests {
    private static let durabilities = [Durability.synced, .buffered(every: .seconds(3600))]

    /// A store whose next transaction begins a segment, and a thread that commits this transaction and waits for the disk.
    private final class Rotating: Sendable {
        let volume = GatedVolume()
        let store: Store
        private let thread = DispatchGroup()
        private let first = Guarded<CambiumError.Code?>(nil)

        init(_ durability: Durability) throws {
            var tuning = LogTuning.tiny
            tuning.sealsSegments = false
            let store = try Store.create(volume, schema: Notes.schema, durability: durability, tuning: tuning)
            self.store = store
            let log = try #require(store.writer.log)
            while log.position < tuning.segmentByteCount { try Self.insert(store) }
            volume.isShut.store(true, ordering: .relaxed)
            let own = self
            DispatchQueue.global().async(group: thread) {
                let code = Failing.of { try Self.insert(store) }
                own.first.withLock { $0 = code }
            }
            volume.arrivals.wait()
        }

        static func insert(_ store: Store) throws { try store.write { try $0.insert("Memo") } }

        /// Lets the disk continue. Returns the error code of the transaction that began the segment, or `nil` if it succeeded.
        func finish() -> CambiumError.Code? {
            volume.isShut.store(false, ordering: .relaxed)
            volume.gate.signal()
            thread.wait()
            return first.withLock { $0 }
        }
    }

    private enum Failing {
        static func of(_ body: () throws -> Void) -> CambiumError.Code? {
            do { try body() } catch { return (error as? CambiumError)?.code }
            return nil
        }
    }

    private func codes(_ tickets: [Ticket]) -> [CambiumError.Code?] {
        let settled = DispatchSemaphore(value: 0)
        let codes = Guarded<[CambiumError.Code?]>([])
        for ticket in tickets {
            ticket.whenSettled { result in
                let code: CambiumError.Code? = if case .failure(let error) = result { error.code } else { nil }
                codes.withLock { $0.append(code) }
                settled.signal()
            }
        }
        for _ in tickets { settled.wait() }
        return codes.withLock { $0 }
    }

    @Test(arguments: durabilities)
    func `other transactions commit while a segment begins, and nothing is lost`(durability: Durability) throws {
        let rotating = try Rotating(durability)
        let store = rotating.store
        let count = store.graph.objectCount
        // If the lock were held, these transactions would wait for the disk.
        let tickets = try (0..<5).map { _ in try store.enqueue { try $0.insert("Memo") }.ticket }
        #expect(store.graph.objectCount == count)
        #expect(try LogDirectory.segments(rotating.volume.memory).count == 1)
        #expect(rotating.finish() == nil)
        #expect(codes(tickets) == [nil, nil, nil, nil, nil])
        #expect(store.graph.objectCount == count + 6)
        #expect(store.pageFindings.isEmpty)
        try store.close()
        #expect(try LogDirectory.segments(rotating.volume.memory).count == 2)
        #expect(try Verification(rotating.volume.memory).isSound)
        #expect(try Store.open(rotating.volume.memory, durability: nil).graph.objectCount == count + 6)
    }

    @Test(arguments: durabilities) func `a disk without space for a segment fails only the transactions that wait for it`(
        durability: Durability
    ) throws {
        let rotating = try Rotating(durability)
        let store = rotating.store
        let count = store.graph.objectCount
        let ticket = try store.enqueue { try $0.insert("Memo") }.ticket
        rotating.volume.isFull.store(true, ordering: .relaxed)
        #expect(rotating.finish() == .ioFailure)
        #expect(codes([ticket]) == [.ioFailure])
        #expect(store.graph.objectCount == count)
        #expect(store.pageFindings.isEmpty)
        rotating.volume.isFull.store(false, ordering: .relaxed)
        try Rotating.insert(store)
        #expect(store.graph.objectCount == count + 1)
        try store.close()
        #expect(try Verification(rotating.volume.memory).isSound)
        #expect(try Store.open(rotating.volume.memory, durability: nil).graph.objectCount == count + 1)
    }

    @Test(arguments: durabilities) func `too many open files fail only the transactions that wait for a segment`(
        durability: Durability
    ) throws {
        let rotating = try Rotating(durability)
        let store = rotating.store
        let count = store.graph.objectCount
        let ticket = try store.enqueue { try $0.insert("Memo") }.ticket
        rotating.volume.isOutOfFiles.store(true, ordering: .relaxed)
        #expect(rotating.finish() == .ioFailure && codes([ticket]) == [.ioFailure])
        #expect(Failing.of { try Rotating.insert(store) } == .ioFailure)
        #expect(store.graph.objectCount == count && store.pageFindings.isEmpty)
        rotating.volume.isOutOfFiles.store(false, ordering: .relaxed)
        try Rotating.insert(store)
        #expect(store.graph.objectCount == count + 1)
        try store.close()
        #expect(try Verification(rotating.volume.memory).isSound)
        #expect(try Store.open(rotating.volume.memory, durability: nil).graph.objectCount == count + 1)
    }

    @Test func `a disk without space for the segment of a compaction leaves the log as it was`() throws {
        let volume = GatedVolume()
        var tuning = LogTuning.tiny
        tuning.sealsSegments = false
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, tuning: tuning)
        try Rotating.insert(store)
        let log = try #require(store.writer.log)
        let last = log.lastTransaction
        volume.isFull.store(true, ordering: .relaxed)
        #expect(Failing.of { try log.endSegment(with: last) } == .ioFailure)
        volume.isFull.store(false, ordering: .relaxed)
        #expect(log.lastTransaction == last)
        try log.endSegment(with: last)
        try Rotating.insert(store)
        try store.close()
        #expect(try LogDirectory.segments(volume.memory).count == 2)
        #expect(try Verification(volume.memory).isSound)
    }

    @Test(arguments: durabilities) func `nothing more is written if the full segment cannot be synced`(durability: Durability) throws {
        let rotating = try Rotating(durability)
        let store = rotating.store
        let count = store.graph.objectCount
        rotating.volume.isBroken.store(true, ordering: .relaxed)
        #expect(rotating.finish() == .ioFailure)
        #expect(Failing.of { try Rotating.insert(store) } == .notWritable)
        #expect(store.graph.objectCount == count)
        #expect(store.pageFindings.isEmpty)
        #expect(try LogDirectory.segments(rotating.volume.memory).count == 1)
    }

    @Test func `no segment is begun after a sync has failed`() throws {
        let volume = GatedVolume()
        var tuning = LogTuning.tiny
        (tuning.sealsSegments, tuning.segmentByteCount) = (false, 1000)
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, tuning: tuning)
        let log = try #require(store.writer.log)
        var frameByteCount = 0
        while log.position + frameByteCount < tuning.segmentByteCount {
            let before = log.position
            try Rotating.insert(store)
            frameByteCount = log.position - before
        }
        volume.isShut.store(true, ordering: .relaxed)
        let first = try store.enqueue { try $0.insert("Memo") }.ticket
        volume.arrivals.wait()
        // The segment is full now, so the next transaction is staged for another segment.
        let second = try store.enqueue { try $0.insert("Memo") }.ticket
        #expect(log.pendingRotation != nil)
        volume.isBroken.store(true, ordering: .relaxed)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        #expect(codes([first, second]) == [.outcomeUnknown, .ioFailure])
        // Later syncs of the same file may succeed although the bytes are lost.
        volume.isBroken.store(false, ordering: .relaxed)
        #expect(Failing.of { try store.close() } == .outcomeUnknown)
        #expect(try LogDirectory.segments(volume.memory).count == 1)
    }
}
