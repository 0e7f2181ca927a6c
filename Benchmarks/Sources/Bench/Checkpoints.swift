import Cambium
import Glibc
import Synchronization

/// Makes checkpoints of the imported store while another thread changes it.
struct Checkpoints {
    private let settings: Settings
    private var path: String { settings.store("synth\(settings.synth.rawValue)") }

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        let copy = settings.store("checkpoints")
        try Tree(copy).remove()
        try Tree(path).copy(to: copy)
        try Tree("\(copy)/roots").remove()
        let store = try Store.open(at: copy)
        let (seconds, whole) = try timed { try store.checkpoint() }
        settings.emit("C6.checkpoint of all", Double(whole.byteCount) / 1e6, "MB")
        settings.emit("C6.checkpoint of all", Double(whole.byteCount) / 1e6 / seconds, "MB/s")
        try RowRuns(store.graph, settings).change(store, to: -7)
        let part = try store.checkpoint()
        settings.emit("C6.checkpoint after 1% changed in runs, share of all", Double(part.byteCount) / Double(whole.byteCount), "x")
        try latency(store, try Items(store))
        try store.close()
        try Tree(copy).remove()
    }

    private final class Shared: Sendable {
        let isDone = Atomic(false)
        let time = Atomic<UInt64>(0)
    }

    /// Measures the 99.9th percentile of commit times, without and with concurrent checkpoints.
    private func latency(_ store: Store, _ items: Items) throws {
        let quiet = try commits(store, items, seconds: 4)
        let result = Shared()
        try Threads.run(2) { thread in
            if thread == 0 {
                defer { result.isDone.store(true, ordering: .relaxed) }
                result.time.store(try commits(store, items, seconds: 4).bitPattern, ordering: .relaxed)
            } else {
                // Checkpoints without a pause would measure how often the log changes its segment, not how storing slows a writer down.
                while !result.isDone.load(ordering: .relaxed) {
                    try store.checkpoint()
                    usleep(500_000)
                }
            }
        }
        let busy = Double(bitPattern: result.time.load(ordering: .relaxed))
        settings.emit("C6.commit p99.9", quiet * 1e6, "us", variant: "")
        settings.emit("C6.commit p99.9", busy * 1e6, "us", variant: "while checkpoints are made")
        settings.emit("C6.commit p99.9 while checkpoints are made, over without", busy / quiet, "x")
    }

    private func commits(_ store: Store, _ items: Items, seconds: Double) throws -> Double {
        var times: [Double] = []
        let start = now()
        var index = 0
        while now() - start < seconds {
            let before = now()
            try items.update(store, index)
            times.append(now() - before)
            index += 1
        }
        times.sort()
        return times[times.count * 999 / 1000]
    }
}
