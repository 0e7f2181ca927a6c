import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph

/// Packing of a store in memory, which makes no checkpoints.
@Suite struct PackingSchedulerTests {
    private let clock = StillClock()

    /// Makes a store in memory of whose memos one in 41 remains.
    private func thinned() throws -> Store {
        let store = try Store.inMemory(schema: Notes.schema, environment: clock.environment())
        let memo = try store.schema.required("Memo")
        let text = try memo.requiredAttribute("text")
        try store.write { transaction in
            for number in 0..<4400 { _ = try transaction.insert(memo, [(text, .string("memo \(number)"))]) }
        }
        let doomed = store.graph.objects(of: memo).filter { $0.serial % 41 != 0 }
        try store.write { try $0.delete(doomed) }
        return store
    }

    /// Commits a transaction that changes no object.
    private func touch(_ store: Store, _ request: String) throws { try store.write(Author(requestID: request)) { _ in } }

    @Test func `a store in memory gathers sparse rows five minutes after its first commit`() throws {
        let store = try thinned()
        clock.advance(299)
        try touch(store, "early")
        let (digest, before) = (store.graph.digest(), store.memory.pageByteCount)
        #expect(store.metrics.packingStepCount == 0)
        clock.advance(1)
        try touch(store, "late")
        while store.metrics.packedRowCount == 0 {}
        #expect(store.memory.pageByteCount < before * 3 / 4, "\(store.memory.pageByteCount) of \(before)")
        #expect(store.graph.digest() == digest && store.graph.invariantFindings() == [] && store.pageFindings == [])
    }

    @Test func `a store in memory without sparse rows takes no step of packing`() throws {
        let store = try Store.inMemory(schema: Notes.schema, environment: clock.environment())
        for round in 0..<4 {
            clock.advance(301)
            try touch(store, "request \(round)")
        }
        #expect(store.metrics.packingStepCount == 0)
        try store.close()
    }
}
