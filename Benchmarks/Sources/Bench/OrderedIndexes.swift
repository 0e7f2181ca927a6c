import Cambium

/// Measures ordered indexes: the tree alone, and the cost of an index for transactions and migrations of a store.
struct OrderedIndexes {
    private let settings: Settings
    private static let workload = "C9.ordered index, 1e6 numbers"
    private static let seed: UInt64 = 1
    private static let updateCount = 20_000

    init(_ settings: Settings) { self.settings = settings }

    private var count: Int { settings.isSmall ? 100_000 : 1_000_000 }

    func run() throws {
        let found = IndexMeasurement(keyCount: count, seed: Self.seed) { work in timed(work).seconds }
        let rowSum = UInt64(count) * UInt64(count - 1) / 2
        try check(found.rowSum == rowSum, "a walk sees each row once")
        settings.emit("\(Self.workload): random insert", found.insertSeconds / Double(found.insertCount) * 1e9, "ns")
        settings.emit("\(Self.workload): bulk, sorting included", found.bulkSeconds / Double(count) * 1e9, "ns")
        settings.emit("\(Self.workload): range scan", Double(count) / found.scanSeconds / 1e6, "M rows/s")
        settings.emit("\(Self.workload): bytes per row", found.bytesPerRow, "B")
        try updates()
        for count in settings.isSmall ? [10_000, 100_000] : [10_000, 10_000_000] { try manyIndexes(count) }
    }

    /// Measures commits that insert one object, or change one number of it, in memory with ten indexes.
    private func manyIndexes(_ count: Int) throws {
        let names = (0..<10).map { "number\($0)" }
        var definition = SchemaDefinition { EntityDefinition("Thing", indexes: names.map { [$0] }) }
        definition.entities[0].attributes = names.map { AttributeDefinition($0, .int64) }
        let store = try Store.inMemory(schema: Schema(definition))
        let thing = try store.schema.required("Thing")
        var random = SplitMix(seed: Self.seed)
        var ids: [ObjectID] = []
        func insert(_ transaction: inout WriteTransaction) throws {
            ids.append(try transaction.insert(thing, thing.attributes.map { ($0, .int(Int64(bitPattern: random.next()))) }))
        }
        let blockCount = 100_000
        for start in stride(from: 0, to: count, by: blockCount) {
            try store.write { for _ in start..<min(start + blockCount, count) { try insert(&$0) } }
        }
        let inserting = try (0..<3).map { _ in
            try timed { for _ in 0..<Self.updateCount / 10 { try store.write { try insert(&$0) } } }.seconds
        }
        let updating = try update(store, ids, names[0], &random)
        settings.emit(
            "C9.commit with ten indexes, \(count) objects: insert", inserting.sorted()[1] / Double(Self.updateCount / 10) * 1e6, "µs")
        settings.emit("C9.commit with ten indexes, \(count) objects: one number", updating / Double(Self.updateCount) * 1e6, "µs")
        try store.close()
    }

    /// Measures updates of one object each in memory, without and with an index, and the migration between the two.
    private func updates() throws {
        let store = try Store.inMemory(schema: Schema(definition(indexes: [])))
        var random = SplitMix(seed: Self.seed)
        var ids: [ObjectID] = []
        try store.write { transaction in
            for _ in 0..<count {
                let values: KeyValuePairs<String, Value> = ["number": .int(Int64(bitPattern: random.next())), "other": .int(0)]
                ids.append(try transaction.insert("Thing", values))
            }
        }
        let plain = try update(store, ids, "number", &random)
        let (building, _) = try timed { try store.migrate(to: definition(indexes: [["number"]])) }
        let indexed = try update(store, ids, "number", &random)
        let other = try update(store, ids, "other", &random)
        settings.emit("C9.migration to an index over 1e6 numbers", building * 1e3, "ms")
        for (name, seconds) in [("of no index", plain), ("of an indexed number", indexed), ("of another number", other)] {
            settings.emit("C9.update in memory \(name), own txn", seconds / Double(Self.updateCount) * 1e9, "ns")
        }
        try store.close()
    }

    private func definition(indexes: [[String]]) -> SchemaDefinition {
        SchemaDefinition {
            EntityDefinition("Thing", indexes: indexes) {
                AttributeDefinition("number", .int64)
                AttributeDefinition("other", .int64)
            }
        }
    }

    private func update(_ store: Store, _ ids: [ObjectID], _ name: String, _ random: inout SplitMix) throws -> Double {
        var seconds: [Double] = []
        for _ in 0..<3 {
            seconds.append(
                try timed {
                    for _ in 0..<Self.updateCount {
                        let (id, value) = (ids[Int(random.next() % UInt64(ids.count))], Int64(bitPattern: random.next()))
                        try store.write { try $0.set(id, name, to: .int(value)) }
                    }
                }.seconds)
        }
        return seconds.sorted()[1]
    }
}
