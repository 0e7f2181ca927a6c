import Cambium

/// Reads of the generated data, of one graph in one thread.
struct Reads {
    private let settings: Settings
    private let graph: Graph
    private let synth: SynthSchema
    private let value: Field
    private let count: Field
    private let items: EndHandle
    private let rows: EndHandle
    private static let queryCount = 1_000_000

    init(_ settings: Settings) throws {
        self.settings = settings
        graph = try ReadOnlyStore(at: settings.store("synth\(settings.synth.rawValue)")).graph
        synth = try SynthSchema(graph.schema)
        value = graph.field(try synth.row.requiredAttribute("value"))
        count = graph.field(try synth.row.requiredAttribute("count"))
        items = graph.end(try synth.note.requiredRelationship("items"))
        rows = graph.end(try synth.item.requiredRelationship("rows"))
    }

    func run() throws {
        try pointReads()
        try attributeReads()
        try traversals()
        try scan()
    }

    private func pointReads() throws {
        var random = SplitMix(seed: 11)
        let uid = graph.field(try synth.row.requiredAttribute("uid"))
        let key = graph.field(try synth.row.requiredAttribute("key"))
        let item = graph.end(try synth.row.requiredRelationship("item"))
        let queries = try random.sample(Self.queryCount, of: places(of: synth.row)).map { place in
            try graph.string(of: uid, at: place).required("the uid of a row")
        }
        var (hitCount, sum, byteCount) = (0, 0.0, 0)
        let (seconds, _) = timed {
            for uid in queries {
                guard let place = graph.find(synth.row, identity: uid), graph.target(item, of: place) != nil,
                    let key = graph.string(of: key, at: place), let value = graph.double(of: value, at: place),
                    let count = graph.int(of: count, at: place)
                else { continue }
                hitCount += 1
                byteCount += key.utf8.count
                sum += value + Double(count)
            }
        }
        try check(hitCount, is: queries.count, "rows found")
        try check(sum > 0 && byteCount > hitCount, "the rows have contents")
        settings.emit("C4.point read by identity", Double(queries.count) / seconds, "ops/s")
    }

    private func attributeReads() throws {
        var random = SplitMix(seed: 12)
        let text = graph.field(try synth.item.requiredAttribute("text"))
        let position = graph.field(try synth.item.requiredAttribute("position"))
        let queries = random.sample(Self.queryCount, of: places(of: synth.item))
        var (byteCount, sum) = (0, Int64(0))
        let (textSeconds, _) = timed {
            for place in queries { byteCount += graph.string(of: text, at: place)?.utf8.count ?? 0 }
        }
        try check(byteCount > queries.count, "the items have texts")
        settings.emit("C4.attribute read of a known object", Double(queries.count) / textSeconds, "ops/s")
        let (positionSeconds, _) = timed {
            for _ in 0..<3 { for place in queries { sum += graph.int(of: position, at: place) ?? -1 } }
        }
        try check(sum > 0 && sum <= 27 * Int64(queries.count), "the items have positions")
        settings.emit(
            "C4.attribute read of a known object", 3 * Double(queries.count) / positionSeconds, "ops/s", variant: "(an integer)")
    }

    private func traversals() throws {
        var random = SplitMix(seed: 13)
        let notes = random.sample(100_000, of: places(of: synth.note))
        var (rowCount, sum) = (0, 0.0)
        let (seconds, _) = timed {
            for note in notes {
                for item in graph.members(items, of: note) {
                    for row in graph.members(rows, of: item) {
                        sum += graph.double(of: value, at: row) ?? .nan
                        rowCount += 1
                    }
                }
            }
        }
        try check(rowCount, is: 50 * notes.count, "rows reached")
        try check(sum > 0, "every row has a value")
        settings.emit("C4.traverse note>items>rows", Double(rowCount) / seconds, "rows reached/s")
    }

    private func scan() throws {
        var (rowCount, hitCount, sum, passCount) = (0, 0, Int64(0), 0)
        let start = now()
        var seconds = 0.0
        repeat {
            (rowCount, hitCount, sum) = (0, 0, 0)
            for id in graph.objects(of: synth.row) {
                rowCount += 1
                guard let place = graph.place(of: id), let value = graph.double(of: value, at: place), value < 200,
                    let count = graph.int(of: count, at: place), count >= 500
                else { continue }
                hitCount += 1
                sum += count
            }
            passCount += 1
            seconds = now() - start
        } while seconds < 0.5
        try check(rowCount, is: settings.synth.rowCount, "rows scanned")
        try check(hitCount, is: settings.synth.scanHitCount, "rows that fit")
        try check(sum >= 500 * Int64(hitCount), "the sum of the counts")
        settings.emit("C4.scan with predicate", Double(rowCount * passCount) / seconds, "objects/s")
    }

    private func places(of entity: Entity) -> [ObjectPlace] { graph.objects(of: entity).compactMap { graph.place(of: $0) } }
}
