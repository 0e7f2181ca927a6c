import Cambium

/// Opens the imported store from its checkpoint: from the page cache, from the disk, and after a process ended without closing it.
struct Opening {
    private let settings: Settings
    private var path: String { settings.store("synth\(settings.synth.rawValue)") }
    private var compressedPath: String { settings.store("lz4") }
    private static let workload = "C6.restart: first query"

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        try makeCheckpoint()
        try measure("warm") {}
        try measure("cold") { try Tree(path).evict() }
        try measure("cold, and all of it summed", all: true) { try Tree(path).evict() }
        try compressed()
        try afterKill()
    }

    /// Measures openings of a store whose chunks must be decompressed.
    private func compressed() throws {
        let path = compressedPath
        try Tree(path).remove()
        try Tree(self.path).copy(to: path)
        var store = try Store.open(at: path)
        try store.setCheckpointPolicy(CheckpointPolicy(compression: .lz4))
        try store.close()
        store = try Store.open(at: path)
        let start = now()
        let receipt = try store.checkpoint()
        settings.emit("C6.checkpoint of all, LZ4", Double(receipt.byteCount) / 1e6 / (now() - start), "MB/s written")
        try store.close()
        settings.emit("C1.import synth \(settings.synth.rawValue) |disk", try Tree(path).megabytes(), "MB", variant: "LZ4")
        try measure("LZ4, warm", at: path) {}
        try measure("LZ4, cold", at: path) { try Tree(path).evict() }
        try Tree(path).remove()
    }

    private func makeCheckpoint() throws {
        let store = try Store.open(at: path)
        try store.checkpoint()
        try store.close()
    }

    /// Opens the store and reads one object by its identity, several times. Prints the median.
    private func measure(_ variant: String, at path: String? = nil, all: Bool = false, roundCount: Int = 9, _ prepare: () throws -> Void)
        throws
    {
        var times: [Double] = []
        for _ in 0..<roundCount {
            try prepare()
            let start = now()
            let store = try Store.open(at: path ?? self.path)
            try probe(store, all: all)
            times.append(now() - start)
            try check(store.recovery.transactionCount, is: 0, "replayed transactions")
            try store.close()
        }
        settings.emit(Self.workload, times.sorted()[roundCount / 2] * 1e3, "ms", variant: variant)
    }

    private func probe(_ store: Store, all: Bool = false) throws {
        let graph = store.graph
        let row = try graph.schema.required("row")
        let place = graph.place(row, identity: "65e70c088efb6791")
        // A field reads one object. A column is made for loops over many objects, and looks at all groups.
        let count = try place.map { graph.value(of: graph.field(try row.requiredAttribute("count")), at: $0) }
        try check(count, is: .int(settings.synth.probeCount), "the count of the requested row")
        if all { try SynthSchema(graph.schema).validate(graph, settings.synth) }
    }

    /// Measures the opening of a store whose process was killed while it changed objects, so that the log continues after the last
    /// checkpoint.
    private func afterKill() throws {
        let copy = settings.store("killed")
        try Tree(copy).remove()
        try Tree(path).copy(to: copy)
        do {
            let store = try Store.open(at: copy, durability: .buffered(every: .seconds(1)))
            let items = try Items(store)
            // Automatic checkpoints never leave a longer log than this number of changes makes. To simulate the kill, the files of the open
            // store are copied.
            for index in 0..<(settings.isSmall ? 10_000 : 90_000) { try items.update(store, index) }
            let killed = settings.store("killed.copy")
            try Tree(killed).remove()
            try Tree(copy).copy(to: killed)
            try store.close()
            let start = now()
            let again = try Store.open(at: killed)
            let elapsed = now() - start
            settings.emit("C6.open after kill -9", elapsed * 1e3, "ms", variant: "\(again.recovery.transactionCount) transactions replayed")
            try items.checkLast(again.graph, Int(again.recovery.transactionCount) == 0 ? 0 : (settings.isSmall ? 9999 : 89_999))
            try again.close()
            try Tree(killed).remove()
        }
        try Tree(copy).remove()
    }
}
