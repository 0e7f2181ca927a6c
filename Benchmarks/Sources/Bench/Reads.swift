import Cambium

/// Reads the generated data from one graph in one thread.
struct Reads {
    private let settings: Settings
    private let graph: Graph
    private let synth: SynthSchema
    private let value: Column
    private let count: Column
    private let items: Relation
    private let rows: Relation
    private static let queryCount = 1_000_000
    private static let listCount = 1000

    init(_ settings: Settings) throws {
        self.settings = settings
        graph = try ReadOnlyStore(at: settings.store("synth\(settings.synth.rawValue)")).graph
        synth = try SynthSchema(graph.schema)
        value = graph.column(try synth.row.requiredAttribute("value"))
        count = graph.column(try synth.row.requiredAttribute("count"))
        items = graph.relation(try synth.note.requiredRelationship("items"))
        rows = graph.relation(try synth.item.requiredRelationship("rows"))
    }

    func run() throws {
        try pointReads()
        try attributeReads()
        try traversals()
        try scan()
    }

    private func pointReads() throws {
        var random = SplitMix(seed: 11)
        let uid = graph.column(try synth.row.requiredAttribute("uid"))
        let key = graph.column(try synth.row.requiredAttribute("key"))
        let item = graph.relation(try synth.row.requiredRelationship("item"))
        let queries = try random.sample(Self.queryCount, of: places(of: synth.row)).map { place in
            try uid.string(at: place).required("the uid of a row")
        }
        let finder = try graph.finder(synth.row).required("the identity of rows")
        /// Reads properties of an object, and returns a sum that depends on all of them, so that the compiler cannot omit a read.
        func read(_ place: ObjectPlace?) -> Double {
            guard let place, item.target(of: place) != nil, let keyByteCount = key.withBytes(at: place, { $0?.count }),
                let value = value.double(at: place), let count = count.int(at: place)
            else { return .nan }
            return Double(keyByteCount) + value + Double(count)
        }
        try pointReads(queries, "") { queries.reduce(0) { $0 + read(finder.find($1)) } }
        try pointReads(queries, "(\(Self.listCount) identities at a time)") {
            var sum = 0.0
            for start in stride(from: 0, to: queries.count, by: Self.listCount) {
                let list = Array(queries[start..<min(start + Self.listCount, queries.count)])
                let places = finder.find(list).compactMap(\.self)
                // Reads each property from all objects before the next property, so that the processor overlaps the reads.
                for place in places { sum += item.target(of: place) == nil ? .nan : 0 }
                for place in places { sum += Double(key.withBytes(at: place) { $0?.count ?? 0 }) }
                for place in places { sum += value.double(at: place) ?? .nan }
                for place in places { sum += count.int(at: place).map(Double.init) ?? .nan }
            }
            return sum
        }
    }

    private func pointReads(_ queries: [String], _ variant: String, _ sum: () -> Double) throws {
        let (seconds, sum) = timed(sum)
        try check(sum > Double(queries.count), "every row is found and has contents")
        settings.emit("C4.point read by identity", Double(queries.count) / seconds, "ops/s", variant: variant)
    }

    private func attributeReads() throws {
        var random = SplitMix(seed: 12)
        let text = graph.column(try synth.item.requiredAttribute("text"))
        let position = graph.column(try synth.item.requiredAttribute("position"))
        let queries = random.sample(Self.queryCount, of: places(of: synth.item))
        try attributeRead(queries, "") { byteSum(text, $0) }
        try attributeRead(queries, "(as a String)") { $0.reduce(0) { $0 + (text.string(at: $1)?.utf8.count ?? 0) } }
        try attributeRead(queries, "(an integer)") { $0.reduce(0) { $0 + Int(position.int(at: $1) ?? 0) } }
    }

    private func attributeRead(_ queries: [ObjectPlace], _ variant: String, _ body: ([ObjectPlace]) -> Int) throws {
        var sum = 0
        let (seconds, _) = timed { for _ in 0..<3 { sum += body(queries) } }
        try check(sum > queries.count, "the items have contents")
        settings.emit("C4.attribute read of a known object", 3 * Double(queries.count) / seconds, "ops/s", variant: variant)
    }

    /// Returns the sum of the length and the first byte of each text. The first byte forces a read of the text.
    private func byteSum(_ text: Column, _ places: [ObjectPlace]) -> Int {
        places.reduce(0) { sum, place in sum + text.withBytes(at: place) { $0.map { $0.count + Int($0.first ?? 0) } ?? 0 } }
    }

    private func traversals() throws {
        var random = SplitMix(seed: 13)
        let notes = random.sample(100_000, of: places(of: synth.note))
        var (rowCount, sum) = (0, 0.0)
        let (seconds, _) = timed {
            for note in notes {
                items.forEach(of: note) { item in
                    rows.forEach(of: item) { row in
                        sum += value.double(at: row) ?? .nan
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
                guard let place = graph.place(of: id), let value = value.double(at: place), value < 200,
                    let count = count.int(at: place), count >= 500
                else { continue }
                hitCount += 1
                sum += count
            }
            passCount += 1
            seconds = now() - start
        } while seconds < 0.5
        try check(rowCount, is: settings.synth.rowCount, "rows scanned")
        try check(hitCount, is: settings.synth.scanHitCount, "rows that match")
        try check(sum >= 500 * Int64(hitCount), "the sum of the counts")
        settings.emit("C4.scan with predicate", Double(rowCount * passCount) / seconds, "objects/s")
    }

    private func places(of entity: Entity) -> [ObjectPlace] { graph.objects(of: entity).compactMap { graph.place(of: $0) } }
}
