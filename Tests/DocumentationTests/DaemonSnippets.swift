import Cambium
import Dispatch
import Foundation
import Testing

/// The code of Docs/Guides/Daemon.md, word for word.
@Suite struct DaemonSnippets {
    private func open(_ path: String) throws -> Store {
        let schema = try Schema {
            EntityDefinition("Order", identity: ["number"]) {
                AttributeDefinition("number", .int64)
                AttributeDefinition("state", .string, default: "new", allowed: ["new", "paid", "sent"])
            }
        }
        let store = try Store.open(at: path, creating: schema)
        for note in store.recovery.notes { print("recovery: \(note)") }
        return store
    }

    private func write(_ store: Store) async throws -> ObjectID {
        let order = try await store.write(Author(actor: "shop", requestID: "order-7301")) { transaction in
            try transaction.insert("Order", ["number": 7301])
        }.result
        return order
    }

    private func repeatWrite(_ store: Store) async throws {
        do {
            try await store.write(Author(actor: "shop", requestID: "order-7301")) { transaction in
                _ = try transaction.insert("Order", ["number": 7301])
            }
        } catch let error as CambiumError where error.code == .repeated {
            if let first = error.underlying as? RepeatedRequest { print("done before, in transaction \(first.transaction)") }
        }
    }

    func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    private func label(_ store: Store) async throws -> TransactionNumber {
        let labeled = try await onThread { try store.label("opened", existing: .move) }
        return labeled
    }

    private func enqueue(_ store: Store) async throws {
        var tickets: [Ticket] = []
        for number in 8000..<8100 {
            let (_, ticket) = try store.enqueue(Author(actor: "feed")) { transaction in
                _ = try transaction.insert("Order", ["number": .int(Int64(number))])
            }
            tickets.append(ticket)
        }
        for ticket in tickets { _ = try await ticket.receipt }
    }

    private func openBuffered(_ logPath: String, _ schema: Schema) throws {
        let relaxed = try Store.open(at: logPath, creating: schema, durability: .buffered(every: .seconds(1)))
        try relaxed.write(durability: .synced) { _ = try $0.insert("Order", ["number": 1]) }
        try relaxed.close()
    }

    private func follow(_ path: String, _ isDone: (Graph) -> Bool) async throws -> Graph {
        let follower = try StoreFollower(of: path)
        var last = follower.graph
        for try await graph in follower.graphs() {
            for object in graph.changes(since: last) { print(object.kind, graph.name(of: object.id) ?? "deleted") }
            last = graph
            if isDone(graph) { break }
        }
        return last
    }

    private func look(_ store: Store) -> StoreMetrics {
        if let error = store.checkpointFailure { print("checkpoint: \(error)") }
        if let error = store.sealingFailure { print("sealing: \(error)") }
        let metrics = store.metrics
        print(metrics.commitCount, metrics.syncCount, metrics.waitingCommitCount, metrics.pinnedByteCount)
        return metrics
    }

    private func retire(_ store: Store) throws {
        try store.setCheckpointPolicy(CheckpointPolicy(dayCount: 3650))
        let yearAgo = Timestamp(Date(timeIntervalSinceNow: -365 * 86_400))
        let compaction = try store.compact(.since(.time(yearAgo)))
        print(compaction.firstMoment, compaction.dailyMoments.count)
    }

    private func end(_ store: Store) throws {
        try store.close()
        print(store.graph.transaction)
    }

    @Test func `a daemon opens, writes, follows, reports and closes as the guide shows`() async throws {
        try await withFolder { folder in
            let store = try open("\(folder)/orders")
            let order = try await write(store)
            try await repeatWrite(store)
            #expect(store.graph.objectCount == 1)
            #expect(try await label(store) == store.graph.labels["opened"])
            #expect(try store.graph[order, "state"].text == "new")
            try await enqueue(store)
            #expect(try store.lease(for: .seconds(60)).read { $0.objectCount } == 101)
            let seen = try await follow("\(folder)/orders") { $0.transaction == store.graph.transaction }
            #expect(seen.objectCount == 101)
            #expect(look(store).commitCount == 102)
            try retire(store)
            try end(store)
            // Closing releases the lock, and opening finds everything.
            #expect(try open("\(folder)/orders").graph.objectCount == 101)
        }
    }

    @Test func `a buffered store contains everything that it has acknowledged`() async throws {
        try await withFolder { folder in
            let store = try open("\(folder)/orders")
            try openBuffered("\(folder)/events", store.schema)
            #expect(try ReadOnlyStore(at: "\(folder)/events").graph.objectCount == 1)
        }
    }
}
