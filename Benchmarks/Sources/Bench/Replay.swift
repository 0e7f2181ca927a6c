import Cambium

/// Opens the imported store without its checkpoints, so that its log is replayed.
struct Replay {
    private let settings: Settings
    private var path: String { settings.store("synth\(settings.synth.rawValue)") }

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        let residentBefore = try Process.residentByteCount()
        var store: Store? = try opened("warm")
        let growth = try Process.residentByteCount() - residentBefore
        let objectCount = Double(settings.synth.objectCount)
        let pages = Double(try store.required("the store").memory.pageByteCount)
        settings.emit("C7.memory per object (1e6 synth)", growth / objectCount, "B")
        settings.emit("C7.memory per object (1e6 synth)", pages / objectCount, "B", variant: "(its pages alone)")
        try store?.close()
        store = nil
        try Tree(path).evict()
        try opened("cold").close()
    }

    private func opened(_ cache: String) throws -> Store {
        try Tree("\(path)/roots").remove()
        let start = now()
        let store = try Store.open(at: path)
        let opened = now() - start
        let row = try store.schema.required("row")
        let place = store.graph.place(row, identity: "65e70c088efb6791")
        let count = try place.map { store.graph.column(try row.requiredAttribute("count")).int(at: $0) }
        let queried = now() - start
        try check(count, is: settings.synth.probeCount, "the count of the requested row")
        try SynthSchema(store.schema).validate(store.graph, settings.synth)
        settings.emit("C6.restart: 1e6 objects all in memory", queried * 1e3, "ms", variant: cache)
        if cache == "warm" { settings.emit("C6.replay of the import", Double(settings.synth.objectCount) / opened, "objects/s") }
        return store
    }
}

/// Opens a store whose log contains a million transactions with one small change each.
struct SmallTransactions {
    private let settings: Settings
    private let transactionCount: Int
    private var path: String { settings.store("transactions") }

    init(_ settings: Settings) {
        self.settings = settings
        transactionCount = settings.isSmall ? 100_000 : 1_000_000
    }

    func run() throws {
        let logByteCount = try write()
        try showPast()
        try Tree("\(path)/roots").remove()
        let (seconds, store) = try timed { try Store.open(at: path) }
        try check(store.recovery.transactionCount, is: transactionCount + 2, "transactions in the log")
        try check(store.graph.objectCount, is: SynthSize.small.objectCount, "objects")
        let items = try Items(store)
        try items.checkLast(store.graph, transactionCount - 1)
        try store.close()
        try Tree(path).remove()
        settings.emit("C6.replay of small transactions", Double(transactionCount) / seconds, "transactions/s")
        settings.emit("C6.replay of small transactions |log", Double(logByteCount) / Double(transactionCount), "B")
    }

    /// Measures graphs of random earlier moments, each from the nearest checkpoint. Then measures a sequence of moments that are ten
    /// transactions apart.
    private func showPast(pointCount: Int = 200) throws {
        let checkpoints = try Statistics(of: path)
        settings.emit("C6.past of small transactions |checkpoints", Double(checkpoints.checkpoints.count), "")
        settings.emit("C6.past of small transactions |stored", Double(checkpoints.storedByteCount), "B")
        var random = SplitMix(seed: 11)
        let past = EarlierGraphs(of: path, viewCountMax: 0)
        try measurePast("C6.state at a random past point", pointCount) {
            try past.graph(at: .transaction(TransactionNumber(rawValue: UInt64(3 + random.below(transactionCount)))))
        }
        let kept = EarlierGraphs(of: path)
        var number = UInt64(transactionCount / 2)
        try measurePast("C6.state ten transactions later", pointCount) {
            number += 10
            return try kept.graph(at: .transaction(TransactionNumber(rawValue: number)))
        }
    }

    private func measurePast(_ workload: String, _ pointCount: Int, _ body: () throws -> Graph) throws {
        var times: [Double] = []
        for _ in 0..<pointCount {
            let (seconds, graph) = try timed(body)
            try check(graph.objectCount, is: SynthSize.small.objectCount, "objects at a moment")
            times.append(seconds * 1e3)
        }
        times.sort()
        settings.emit("\(workload), p50", times[pointCount / 2], "ms")
        settings.emit("\(workload), p95", times[pointCount * 95 / 100], "ms")
    }

    private func write() throws -> Int {
        try Tree(path).remove()
        let definition = try SynthSchema()
        let store = try Store.create(at: path, schema: definition.schema, durability: .buffered(every: .seconds(1)))
        _ = try definition.import(settings.input(.small), into: store)
        let items = try Items(store)
        var logByteCount = 0
        for index in 0..<transactionCount { logByteCount += try items.update(store, index).logByteCount }
        try store.close()
        return logByteCount
    }
}
