import Cambium

/// Measures the changes between two graphs of the imported data.
struct GraphChanges {
    private let settings: Settings
    private static let workload = "C8.changes since"
    private static let pairCount = 2000
    private static let roundCount = 10
    private static let equalCount = 1_000_000

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        let definition = try SynthSchema()
        let store = try Store.inMemory(schema: definition.schema)
        _ = try definition.import(settings.input(settings.synth), into: store)
        try check(store.graph.objectCount, is: settings.synth.objectCount, "objects")
        try smallTransactions(store)
        try runs(store)
        try equalGraphs(store.graph)
        try store.close()
        try openings()
    }

    private func smallTransactions(_ store: Store) throws {
        let items = try Items(store)
        var graphs = [store.graph]
        for index in 0..<Self.pairCount { graphs.append(try items.update(store, index).graph) }
        var (objectCount, valueCount) = (0, 0)
        let (seconds, _) = timed {
            for index in 0..<Self.pairCount { objectCount += graphs[index + 1].changes(since: graphs[index]).count }
        }
        let (all, _) = timed {
            for index in 0..<Self.pairCount {
                for object in graphs[index + 1].changes(since: graphs[index]) { valueCount += object.attributes.count }
            }
        }
        try check(objectCount, is: Self.pairCount, "changed objects")
        // One of the two values of an item often stays the same.
        try check(valueCount > Self.pairCount && valueCount < 2 * Self.pairCount, "one or two values of each object have changed")
        settings.emit("\(Self.workload): one small transaction", seconds / Double(Self.pairCount) * 1e6, "µs")
        settings.emit("\(Self.workload): one small transaction", all / Double(Self.pairCount) * 1e6, "µs", variant: "and reading them")
    }

    private func runs(_ store: Store) throws {
        let rows = try RowRuns(store.graph, settings)
        let before = store.graph
        try rows.change(store, to: -7)
        let after = store.graph
        var seconds: [Double] = []
        for _ in 0..<Self.roundCount {
            let (time, count) = timed { after.changes(since: before).count }
            try check(count, is: rows.objectCount, "changed rows")
            seconds.append(time)
        }
        let (all, sum) = timed { after.changes(since: before).reduce(0) { $0 + $1.attributes.count } }
        try check(sum, is: rows.objectCount, "changed values")
        settings.emit("\(Self.workload): 1% changed in runs", seconds.sorted()[Self.roundCount / 2] * 1e3, "ms")
        settings.emit("\(Self.workload): 1% changed in runs", all * 1e3, "ms", variant: "and reading them")
    }

    private func equalGraphs(_ graph: Graph) throws {
        var count = 0
        let (seconds, _) = timed { for _ in 0..<Self.equalCount { count += graph.changes(since: graph).count } }
        try check(count, is: 0, "changed objects")
        settings.emit("\(Self.workload): equal graphs", seconds / Double(Self.equalCount) * 1e9, "ns")
    }

    /// Compares graphs of two openings of the store that the step `import` left on disk.
    private func openings() throws {
        let copy = settings.store("changes")
        try Tree(copy).remove()
        try Tree(settings.store("synth\(settings.synth.rawValue)")).copy(to: copy)
        var store = try Store.open(at: copy, durability: .synced)
        try store.checkpoint()
        let before = store.graph
        try store.close()
        store = try Store.open(at: copy, durability: .synced)
        let after = try Items(store).update(store, 0).graph
        let (first, count) = timed { after.changes(since: before).count }
        try check(count, is: 1, "changed objects")
        settings.emit("\(Self.workload): two openings", first * 1e6, "µs", variant: "for the first time")
        let (seconds, _) = timed { for _ in 0..<1000 { _ = after.changes(since: before) } }
        settings.emit("\(Self.workload): two openings", seconds * 1e3, "µs")
        try store.close()
        try Tree(copy).remove()
    }
}
