import Cambium
import Dispatch
import TestFixtures
import Testing

/// Calls inside the closure of a write that would wait for that write.
@Suite struct MisuseTests {
    private static let calls: [(name: String, call: @Sendable (Store) throws -> Void)] = [
        ("write", { try $0.write { _ in } }),
        ("enqueue", { _ = try $0.enqueue { _ in } }),
        ("importRows", { _ = try $0.importing("Note", "{\"id\":5}") }),
        ("checkpoint", { try $0.checkpoint() }),
        ("label", { try $0.label("here") }),
        ("compact", { try $0.compact(.all) }),
        ("migrate", { try $0.migrate(to: Notes.schema.definition) }),
        ("previewMigration", { _ = try $0.previewMigration(to: Notes.schema.definition) }),
        ("recordDigest", { try $0.recordDigest() }),
        ("setCheckpointPolicy", { try $0.setCheckpointPolicy(CheckpointPolicy()) }),
        ("Statistics(of:)", { _ = try Statistics(of: $0) }),
        ("close", { try $0.close() }),
    ]

    @Test func `a call that waits for the writer throws inside the closure of a write, and the write continues`() throws {
        let store = try Store.notes()
        for (number, (name, call)) in Self.calls.enumerated() {
            try store.write { transaction in
                do {
                    try call(store)
                    Issue.record("\(name) returned")
                } catch let error as CambiumError {
                    #expect(error.code == .misuse && error.message.hasPrefix("'\(name)' was called inside"), "\(name): \(error)")
                }
                try transaction.insert("Note", ["id": .int(Int64(number))])
            }
        }
        #expect(store.graph.objectCount == Self.calls.count)
        try store.close()
    }

    @Test func `a write that is cancelled before it begins never begins`() async throws {
        let store = try Store.notes()
        let (isBusy, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            try await store.write { transaction in
                isBusy.signal()
                mayEnd.wait()
                try transaction.insert("Note", ["id": .int(1)])
            }
        }
        await arrival(at: isBusy)
        let second = Task { try await store.write { try $0.insert("Note", ["id": .int(2)]) } }
        second.cancel()
        mayEnd.signal()
        _ = try await first.value
        await #expect(throws: CancellationError.self) { _ = try await second.value }
        #expect(store.graph.objectCount == 1 && store.graph.transaction.rawValue == 2)
        try store.close()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a cancelled write that waits for another writer ends while the other writer continues`() async throws {
        let store = try Store.notes()
        let first = await OpenWrite(store)
        let second = Task { try await store.write { try $0.insert("Note", ["id": .int(2)]) } }
        while store.metrics.waitingWriterCount == 0 { await Task.yield() }
        second.cancel()
        await #expect(throws: CancellationError.self) { _ = try await second.value }
        await first.end()
        try await store.write { _ in }
        #expect(store.graph.objectCount == 1 && store.graph.transaction.rawValue == 2)
        try store.close()
    }
}
