import Cambium

/// Saves, fetches and reads records, beside the same work by names and handles.
struct Records {
    private let settings: Settings
    private let count: Int

    init(_ settings: Settings) { (self.settings, count) = (settings, settings.isSmall ? 10_000 : 100_000) }

    /// A record of the five common types, written by hand as the macro writes it.
    struct Player: EntityRecord {
        var id: Int
        var name: String
        var score: Double
        var isActive: Bool
        var level: Int?
        var ref: Ref<Player>?

        static let recordSchema = RecordSchema<Player>("Player") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("name", \.name)
            RecordProperty("score", \.score)
            RecordProperty("isActive", \.isActive)
            RecordProperty("level", \.level)
        }

        init(_ number: Int) {
            id = number
            name = "player \(number) of the game"
            score = Double(number) * 0.5
            isActive = number % 3 == 0
            level = number % 4 == 0 ? nil : number % 100
        }

        init(from row: inout RecordReader) throws {
            id = try row.read(0)
            name = try row.read(1)
            score = try row.read(2)
            isActive = try row.read(3)
            level = try row.read(4)
            ref = row.ref()
        }

        mutating func write(to row: inout RecordWriter) throws {
            try row.write(0, &id)
            try row.write(1, &name)
            try row.write(2, &score)
            try row.write(3, &isActive)
            try row.write(4, &level)
        }
    }

    func run() throws {
        let schema = try Schema(of: Player.self)
        let players = (0..<count).map { Player($0) }
        for _ in 0..<3 {
            let dynamic = try store("dynamic", schema)
            let inserts = try timed { try insert(players, dynamic) }.seconds
            let typed = try store("typed", schema)
            var saved = players
            let saves = try timed { _ = try typed.save(&saved) }.seconds
            try check(typed.graph.objectCount, is: count, "players saved")
            try check(typed.graph.digest(), is: dynamic.graph.digest(), "the digest of both stores")
            settings.emit("records: insert by names, one transaction", Double(count) / inserts, "objects/s")
            settings.emit("records: save, one transaction", Double(count) / saves, "records/s")
            try reads(typed.graph)
            try dynamic.close()
            try typed.close()
        }
    }

    private func store(_ name: String, _ schema: Schema) throws -> Store {
        let path = settings.store("records-\(name)")
        try Tree(path).remove()
        return try Store.create(at: path, schema: schema)
    }

    private func insert(_ players: [Player], _ store: Store) throws {
        let entity = try store.schema.required("Player")
        let attributes = entity.attributes
        try store.write { transaction in
            for player in players {
                let values: [(Attribute, Value)] = [
                    (attributes[0], .int(Int64(player.id))), (attributes[1], .string(player.name)), (attributes[2], .double(player.score)),
                    (attributes[3], .bool(player.isActive)), (attributes[4], player.level.map { .int(Int64($0)) } ?? .null),
                ]
                _ = try transaction.insert(entity, values.filter { !$0.1.isNull })
            }
        }
    }

    private func reads(_ graph: Graph) throws {
        let fetch = try timed { try graph.fetch(Player.self) }
        try check(fetch.result.last?.id, is: count - 1, "the last player")
        settings.emit("records: fetch all", Double(count) / fetch.seconds, "records/s")

        var random = SplitMix(seed: 3)
        let ids = (0..<count).map { _ in random.below(count) }
        let points = try timed { try ids.reduce(0) { $0 + (try graph.find(Player.self, identity: $1)?.id ?? 0) } }
        try check(points.result, is: ids.reduce(0, +), "the sum of the ids")
        settings.emit("records: point read", Double(count) / points.seconds, "records/s")
        var players = try graph.finder(Player.self)
        let found = try timed { try ids.reduce(0) { $0 + (try players.find($1)?.id ?? 0) } }
        try check(found.result, is: points.result, "the sum of the ids")
        settings.emit("records: point read", Double(count) / found.seconds, "records/s", variant: "with a finder")

        let repeats = 20
        let handle = graph.column(try graph.schema.required("Player").requiredAttribute("score"))
        let places = Array(try graph.places(of: Player.self))
        let byHandle = timed { (0..<repeats).reduce(0.0) { sum, _ in places.reduce(sum) { $0 + (handle.double(at: $1) ?? 0) } } }
        let column = try graph.column(\Player.score)
        let byKeyPath = timed { (0..<repeats).reduce(0.0) { sum, _ in places.reduce(sum) { $0 + (column[$1] ?? 0) } } }
        try check(byHandle.result, is: byKeyPath.result, "the sum of the scores")
        settings.emit("records: one property by handle", Double(count * repeats) / byHandle.seconds, "values/s")
        settings.emit("records: one property by key path", Double(count * repeats) / byKeyPath.seconds, "values/s")
    }
}
