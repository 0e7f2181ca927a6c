import Cambium

/// Answers the questions of `harness/bench_histories.py`, about the same objects and the same numbers of transactions.
struct Histories {
    private let settings: Settings
    private let objectCount = 10_000
    private let asked = 7

    init(_ settings: Settings) { self.settings = settings }

    func run() throws { for count in [2000, 8000] { try run(count) } }

    private func run(_ transactionCount: Int) throws {
        let path = settings.store("histories")
        try Tree(path).remove()
        let (store, ids) = try make(path, transactionCount)
        func emit(_ workload: String, _ value: Double, _ unit: String) {
            settings.emit("A.\(workload)", subject: "\(settings.subject), \(transactionCount) commits", value, unit)
        }
        func median(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
            try (0..<count).map { run in try timed { try body(run) }.seconds * 1e3 }.sorted()[count / 2]
        }
        try check(try AuditTrail(of: path).history(of: ids[asked]).count, is: 11, "changes of the object")
        // The rival answers all questions with one connection. A new trail reads the log after the newest checkpoint first.
        let trail = AuditTrail(of: path)
        emit("history of one object, new trail", try median(20) { _ in _ = try AuditTrail(of: path).history(of: ids[asked]) }, "ms")
        emit("history of one object, p50", try median(20) { _ in _ = try trail.history(of: ids[asked]) }, "ms")
        emit("blame of an object, new trail", try median(20) { _ in _ = try AuditTrail(of: path).blame(of: ids[asked]) }, "ms")
        emit("blame of an object, p50", try median(20) { _ in _ = try trail.blame(of: ids[asked]) }, "ms")
        let newest = store.graph.transaction.rawValue
        let moments = try median(20) { run in
            let number = TransactionNumber(rawValue: newest - UInt64(run * 7919 % transactionCount))
            _ = try trail.graph(at: .transaction(number))[ids[asked], "price"]
        }
        emit("one object at a random moment, p50", moments, "ms")
        let undos = try median(10) { run in
            let number = TransactionNumber(rawValue: newest - UInt64(5 + 2 * run))
            _ = try store.undo(.transaction(number))
        }
        emit("undo of a small transaction, p50", undos, "ms")
        try store.close()
        try Tree(path).remove()
    }

    /// Inserts the objects in one transaction, and then sets a value in each durable transaction. Ten of the changes are of the object that
    /// is asked for.
    private func make(_ path: String, _ transactionCount: Int) throws -> (Store, [ObjectID]) {
        let schema = try Schema {
            EntityDefinition("Item", identity: ["key"]) {
                AttributeDefinition("key", .string)
                AttributeDefinition("price", .int64, default: 0)
                AttributeDefinition("note", .string, .optional)
            }
        }
        let store = try Store.create(at: path, schema: schema)
        let ids = try store.write { transaction in
            try (0..<objectCount).map { try transaction.insert("Item", ["key": .string("item \($0)"), "price": .int(Int64($0))]) }
        }.result
        let (seconds, _) = try timed {
            for number in 0..<transactionCount {
                let id = ids[number % (transactionCount / 10) == 0 ? asked : 1000 + number % 9000]
                try store.write { try $0.set(id, "price", to: .int(Int64(objectCount + number))) }
            }
        }
        settings.emit(
            "A.small transactions", subject: "\(settings.subject), \(transactionCount) commits", Double(transactionCount) / seconds, "/s")
        return (store, ids)
    }
}
