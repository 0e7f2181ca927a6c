import Cambium
import Glibc
import Synchronization

/// Measures the longest hold of the writer's lock. The store remembers a million requests. Several threads change it, make checkpoints and
/// compact it at the same time.
struct Holds {
    private let settings: Settings
    private var path: String { settings.store("synth\(settings.synth.rawValue)") }
    private static let workload = "C3.longest hold of the writer's lock in mixed load"
    private static let durability = Durability.buffered(every: .seconds(1))
    /// The number of objects that a transaction of the second thread inserts or deletes.
    private static let objectCount = 64
    /// The number of transactions of the second thread whose objects exist at the same time. Older objects are deleted.
    private static let liveCount = 1000

    init(_ settings: Settings) { self.settings = settings }

    private var requestCount: Int { settings.isSmall ? 10_000 : 1_000_000 }
    private var seconds: Double { settings.isSmall ? 6 : 60 }

    func run() throws {
        let copy = settings.store("holds")
        try Tree(copy).remove()
        try Tree(path).copy(to: copy)
        try fill(copy)
        let store = try Store.open(at: copy, durability: Self.durability)
        try load(store)
        let metrics = store.metrics
        for hold in metrics.longestHolds {
            settings.emit("\(Self.workload) |\(hold.use.rawValue)", hold.duration / .microseconds(1), "us")
        }
        let longest = try metrics.longestHolds.first.required("a hold of the lock")
        settings.emit(Self.workload, longest.duration / .milliseconds(1), "ms")
        settings.emit("\(Self.workload) |transactions", Double(metrics.commitCount) / seconds, "txns/s")
        settings.emit("\(Self.workload) |checkpoints", Double(metrics.checkpointCount), "checkpoints")
        settings.emit("\(Self.workload) |steps of packing", Double(metrics.packingStepCount), "steps")
        try check(metrics.failedCheckpointCount, is: 0, "checkpoints that failed")
        try store.close()
        try Tree(copy).remove()
    }

    /// Commits as many requests as the store remembers.
    private func fill(_ copy: String) throws {
        let store = try Store.open(at: copy, durability: Self.durability)
        let items = try Items(store)
        for index in 0..<requestCount {
            try store.write(Author(requestID: "filled \(index)")) { try items.update(&$0, index) }
        }
        try store.close()
    }

    /// Changes objects with requests, inserts and deletes objects, and makes checkpoints and compactions, all at the same time.
    private func load(_ store: Store) throws {
        let items = try Items(store)
        let row = try store.schema.required("row")
        let (uid, key) = (try row.requiredAttribute("uid"), try row.requiredAttribute("key"))
        let (value, count) = (try row.requiredAttribute("value"), try row.requiredAttribute("count"))
        let end = now() + seconds
        try Threads.run(3) { thread in
            var round = 0
            var inserted: [[ObjectID]] = []
            var next = 0
            while now() < end {
                switch thread {
                case 0:
                    try store.write(Author(requestID: "loaded \(round)")) { try items.update(&$0, round) }
                case 1:
                    try store.write { transaction in
                        inserted.append(
                            try (0..<Self.objectCount).map { place in
                                let name = Value.string("loaded \(round) \(place)")
                                return try transaction.insert(row, [(uid, name), (key, name), (value, .double(1)), (count, .int(2))])
                            })
                        if inserted.count - next > Self.liveCount {
                            for id in inserted[next] { try transaction.delete(id) }
                        }
                    }
                    if inserted.count - next > Self.liveCount {
                        inserted[next] = []
                        next += 1
                    }
                default:
                    if round % 8 == 7 { _ = try store.compact(.checkpoints(2)) } else { try store.checkpoint() }
                    usleep(1_000_000)
                }
                round += 1
            }
        }
    }
}
