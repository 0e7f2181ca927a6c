import Cambium

/// Exports all objects of the imported store as JSON Lines, to a closure that counts the bytes. The first export refers to objects by their
/// ids, and the second export by their identities.
struct Exports {
    private let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        let store = try Store.open(at: settings.store("synth\(settings.synth.rawValue)"))
        defer { try? store.close() }
        let graph = store.graph
        try measure(graph, ExportOptions(), "")
        var named = ExportOptions()
        named.references = .identity
        try measure(graph, named, "identities")
    }

    private func measure(_ graph: Graph, _ options: ExportOptions, _ variant: String, roundCount: Int = 3) throws {
        var times: [Double] = []
        var byteCount = 0
        for _ in 0..<roundCount {
            var (lineCount, count) = (0, 0)
            let start = now()
            try graph.export(nil, options) { bytes in count += bytes.count }
            times.append(now() - start)
            try graph.export(nil, options) { bytes in for byte in bytes where byte == 0x0A { lineCount += 1 } }
            try check(lineCount, is: settings.synth.objectCount, "lines exported")
            byteCount = count
        }
        let time = times.sorted()[roundCount / 2]
        settings.emit("export as JSON Lines", Double(settings.synth.objectCount) / time, "objects/s", variant: variant)
        settings.emit("export as JSON Lines |bytes", Double(byteCount) / time / 1e6, "MB/s", variant: variant)
    }
}
