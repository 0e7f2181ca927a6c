import Cambium
import Glibc

/// Measures live queries: the cost of many of them for commits, and the cost of one change in results of different sizes.
struct LiveQueries {
    private let settings: Settings
    private static let seed: UInt64 = 23
    private static let queryCount = 1000
    private static let personCount = 10_000
    private static let commitCount = 20_000
    private static let concernedCount = 200
    private static let changeCount = 2000

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        try Threads.wait { try await commits() }
        try sizes()
    }

    private static var definition: SchemaDefinition {
        SchemaDefinition {
            EntityDefinition("Person") {
                AttributeDefinition("age", .int32)
                AttributeDefinition("score", .double)
            }
            EntityDefinition("Place") { AttributeDefinition("number", .int64) }
        }
    }

    private func fill(_ store: Store, _ count: Int, _ random: inout SplitMix) throws {
        let blockCount = 100_000
        for start in stride(from: 0, to: count, by: blockCount) {
            try store.write { transaction in
                for _ in start..<min(start + blockCount, count) {
                    let values: KeyValuePairs<String, Value> = ["age": .int(Int64(random.below(90))), "score": .double(random.fraction())]
                    try transaction.insert("Person", values)
                }
            }
        }
    }

    // MARK: Many queries

    private func commits() async throws {
        let store = try Store.inMemory(schema: Schema(Self.definition))
        var random = SplitMix(seed: Self.seed)
        try fill(store, Self.personCount, &random)
        let place = try insertPlace(store)
        let person = try person(store, serial: 1)
        try change(store, place, "number", 100)
        let alone = try seconds(store, place)

        var observers = try (0..<Self.queryCount).map { number in
            let query = try Query(
                "Person", where: "score > $low", ["low": Operand(integerLiteral: Int64(-number))], sort: "-score", limit: 20)
            return store.live(query).makeAsyncIterator()
        }
        for index in observers.indices {
            try check(try await observers[index].next()?.isWhole == true, "a live query begins with its whole result")
        }
        let watched = try seconds(store, place)
        settings.emit("C9.commit in memory without live queries", alone / Double(Self.commitCount) * 1e6, "µs")
        settings.emit("C9.1,000 live queries, none concerned: added per commit", (watched - alone) / Double(Self.commitCount) * 1e6, "µs")

        var sum = 0.0
        for number in 0..<Self.concernedCount {
            try set(store, person, "score", .double(2 + Double(number)))
            let start = now()
            for index in observers.indices {
                var observer = observers[index]
                let update = try await observer.next()
                if index == 0 { try check(update.map { $0.inserted.count + $0.updated.count }, is: 1, "a difference of the first query") }
            }
            sum += now() - start
        }
        let perQuery = sum / Double(Self.concernedCount * Self.queryCount)
        settings.emit("C9.1,000 live queries, each concerned: per query and commit", perQuery * 1e6, "µs")
        try store.close()
    }

    /// Returns the median duration of five series of `commitCount` commits. Each commit changes a place.
    private func seconds(_ store: Store, _ place: ObjectID) throws -> Double {
        try (0..<5).map { _ in try timed { try change(store, place, "number", Self.commitCount) }.seconds }.sorted()[2]
    }

    private func change(_ store: Store, _ id: ObjectID, _ name: String, _ count: Int) throws {
        for number in 0..<count { try set(store, id, name, .int(Int64(number))) }
    }

    private func set(_ store: Store, _ id: ObjectID, _ name: String, _ value: Value) throws {
        try store.write { try $0.set(id, name, to: value) }
    }

    private func insertPlace(_ store: Store) throws -> ObjectID {
        try store.write { try $0.insert("Place", ["number": .int(-1)]) }.result
    }

    private func person(_ store: Store, serial: UInt64) throws -> ObjectID {
        ObjectID(root: try store.schema.required("Person").root, serial: serial)
    }

    // MARK: Results of different sizes

    private func sizes() throws {
        let all = try Query("Person", where: "score < 0.01", sort: "score")
        let window = try Query("Person", where: "score < 0.5", sort: "score", limit: 50)
        for count in settings.isSmall ? [10_000, 100_000] : [10_000, 1_000_000, 10_000_000] {
            let store = try Store.inMemory(schema: Schema(Self.definition))
            var random = SplitMix(seed: Self.seed)
            try fill(store, count, &random)
            for (name, query) in [("1% of", all), ("first 50 of", window)] {
                let seconds = try follow(store, query, &random)
                settings.emit("C9.live query, \(name) \(count) objects, per change", seconds * 1e6, "µs")
            }
            try store.close()
        }
    }

    /// Changes the sort keys of random objects of a result, and returns the median duration of bringing the result up to date.
    private func follow(_ store: Store, _ query: Query, _ random: inout SplitMix) throws -> Double {
        var graph = store.graph
        var result = try LiveResult(query, in: graph)
        _ = try result.whole(in: graph)
        let ids = result.ids
        let greatest = try graph.schema.required("Person").requiredAttribute("score")
        let scores = ids.compactMap { id in graph.value(of: greatest, of: id) }
        var seconds: [Double] = []
        for _ in 0..<Self.changeCount {
            try set(store, ids[random.below(ids.count)], "score", scores[random.below(scores.count)])
            let after = store.graph
            seconds.append(try timed { _ = try result.advance([TouchedObjects(after.changes(since: graph))], to: after) }.seconds)
            graph = after
        }
        try check(result.ids == graph.find(query), "the live result")
        return seconds.sorted()[Self.changeCount / 2]
    }
}

extension SplitMix {
    /// Returns a number of at least 0 and less than 1.
    fileprivate mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
