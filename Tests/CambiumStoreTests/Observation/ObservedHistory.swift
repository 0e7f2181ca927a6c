import Cambium
import CambiumTesting
import TestFixtures

@testable import CambiumLog
@testable import CambiumStore

/// A store whose transactions are random, and the graph after each of them.
final class ObservedHistory {
    let store: Store
    /// The graph before the first transaction of the history, and then the graph after each transaction.
    private(set) var graphs: [Graph]
    private var random: SplitMix64

    init(_ store: Store, seed: UInt64 = 1) {
        (self.store, random) = (store, SplitMix64(seed: seed))
        graphs = [store.graph]
    }

    /// Makes a history on a volume in memory.
    convenience init(_ volume: MemoryVolume, durability: Durability = .synced, seed: UInt64 = 1) throws {
        var tuning = LogTuning.tiny
        tuning.pastByteCountMin = 65_536
        self.init(
            try Store.create(
                volume, schema: Notes.schema, durability: durability, environment: fixedEnvironment(seed: seed), tuning: tuning),
            seed: seed)
    }

    var first: TransactionNumber { graphs[0].transaction }

    /// Commits some random transactions.
    func advance(_ count: Int = 1) throws {
        for _ in 0..<count {
            let number = Int64(graphs.count)
            let author = Author(actor: "actor \(number % 3)", message: random.isTrue(1, outOf: 2) ? "message \(number)" : nil)
            let ids = try Array(store.graph.objects(of: store.schema.required("Note")))
            let (picked, other) = (random.pick(ids), random.pick(ids))
            let kind = random.next() % 4
            let receipt = try store.write(author) { transaction -> Void in
                if kind == 1, let picked {
                    try transaction.set(picked, "title", to: .string("title \(number)"))
                } else if kind == 2, let picked, let other {
                    try transaction.link(picked, "related", other)
                } else if kind == 3, ids.count > 5, let picked {
                    try transaction.delete(picked)
                } else {
                    try transaction.insert("Note", ["id": .int(number), "title": "new"])
                }
            }.receipt
            // A link that exists already changes nothing.
            if receipt.transaction != nil { graphs.append(receipt.graph) }
        }
    }

    func graph(_ number: TransactionNumber) -> Graph { graphs[Int(number.rawValue - first.rawValue)] }

    /// The changes between two transactions, one line for each object.
    func lines(from last: TransactionNumber, to number: TransactionNumber) -> [String] {
        graph(number).changes(since: graph(last)).lines
    }
}

extension AsyncIteratorProtocol where Element == CommittedChanges {
    /// Returns the next deliveries.
    mutating func next(_ count: Int) async throws -> [CommittedChanges] {
        var found: [CommittedChanges] = []
        while found.count < count, let next = try await next() { found.append(next) }
        return found
    }
}

extension AsyncSequence where Element == CommittedChanges {
    /// Returns all deliveries up to the closing of the store.
    func all() async throws -> [CommittedChanges] {
        var found: [CommittedChanges] = []
        for try await next in self { found.append(next) }
        return found
    }
}

extension Store {
    /// Waits until this number of consumers waits for the next transaction.
    func arrivalOfObservers(_ count: Int = 1) async {
        while writer.bell.count < count { await Task.yield() }
    }
}

/// Returns the code of the error that a call throws, or `nil` if it does not throw a `CambiumError`.
func errorCode(of body: () async throws -> Void) async -> CambiumError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? CambiumError)?.code
    }
}
