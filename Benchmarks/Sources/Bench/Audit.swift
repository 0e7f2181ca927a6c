import Cambium
import CambiumLog
import Glibc

/// Measures histories, blame, undo, earlier moments, searches and proofs over one log of small transactions.
struct Audit {
    private let settings: Settings
    private var path: String { settings.store("audit") }
    private var objectCount: Int { settings.isSmall ? 10_000 : 100_000 }
    private var transactionCount: Int { settings.isSmall ? 100_000 : 1_000_000 }

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        try Tree(path).remove()
        let ids = try make()
        try measureIndex()
        let store = try Store.open(at: path, durability: .buffered(every: .seconds(1)))
        try measureReads(store, ids)
        try measureUndo(store, ids)
        try store.close()
        try measureProofs(ids)
        try measureTiles(ids)
        try measureCommits()
    }

    private func schema() throws -> Schema {
        try Schema {
            EntityDefinition("Item", identity: ["key"]) {
                AttributeDefinition("key", .string)
                AttributeDefinition("price", .int64, default: 0)
                AttributeDefinition("note", .string, .optional)
            }
        }
    }

    private func insertItems(into store: Store) throws -> [ObjectID] {
        try store.write { transaction in
            try (0..<objectCount).map { try transaction.insert("Item", ["key": .string("item \($0)"), "price": .int(Int64($0))]) }
        }.result
    }

    /// Commits small transactions to a store that extends a touch index and to one that does not, in turns.
    private func measureCommits() throws {
        let count = transactionCount * 3 / 10
        var rates: [[Double]] = [[], []]
        for _ in 0..<5 {
            for hasIndex in [true, false] {
                let path = settings.store("audit-commits")
                try Tree(path).remove()
                let volume = SystemVolume(root: path)
                try volume.createDirectory("")
                var tuning = LogTuning.standard
                if !hasIndex { tuning.touchedTransactionCountMin = .max }
                let store = try Store.create(volume, schema: schema(), durability: .buffered(every: .seconds(1)), tuning: tuning)
                let ids = try insertItems(into: store)
                var random = SplitMix(seed: 4)
                let (seconds, _) = try timed {
                    for index in 0..<count {
                        let id = ids[random.below(ids.count)]
                        try store.write { try $0.set(id, "price", to: .int(Int64(index))) }
                    }
                }
                rates[hasIndex ? 0 : 1].append(Double(count) / seconds)
                try store.close()
                guard (access("\(path)/touches", F_OK) == 0) == hasIndex else { throw Failure("the touch index is wrong") }
                try Tree(path).remove()
            }
        }
        let medians = rates.map { $0.sorted()[2] }
        settings.emit("A.commits with the touch index, share of those without", medians[0] / medians[1], "")
    }

    /// Inserts the objects in one transaction, and then changes a random one in each transaction.
    private func make() throws -> [ObjectID] {
        let store = try Store.create(at: path, schema: schema(), durability: .buffered(every: .seconds(1)))
        let ids = try insertItems(into: store)
        var random = SplitMix(seed: 1)
        var times: [Double] = []
        times.reserveCapacity(transactionCount + 1)
        times.append(now())
        for index in 0..<transactionCount {
            let id = ids[random.below(ids.count)]
            try store.write(Author(actor: index % 10 == 0 ? "jane" : "nora")) { try $0.set(id, "price", to: .int(Int64(index))) }
            times.append(now())
        }
        settings.emit("A.small transactions, buffered", Double(transactionCount) / (times[transactionCount] - times[0]), "/s")
        // Checkpoints are made at the same time, one for each MiB of the log.
        let waits = zip(times, times.dropFirst()).map { $1 - $0 }.sorted()
        settings.emit("A.small transactions, buffered, p50", waits[transactionCount / 2] * 1e6, "µs")
        settings.emit("A.small transactions, buffered, p99.9", waits[transactionCount / 1000 * 999] * 1e6, "µs")
        try store.checkpoint()
        try store.close()
        return ids
    }

    private func measureIndex() throws {
        let folder = Tree("\(path)/touches")
        settings.emit("A.touch index, bytes a touch", try folder.megabytes() * 1e6 / Double(transactionCount), "B")
        try folder.remove()
        let store = try Store.open(at: path)
        let (seconds, _) = try timed { try store.checkpoint() }
        settings.emit("A.touch index, build", seconds, "s")
        try store.close()
    }

    private func percentile(_ times: [Double], _ percent: Int) -> Double {
        times.sorted()[min(times.count - 1, times.count * percent / 100)]
    }

    private func measureReads(_ store: Store, _ ids: [ObjectID]) throws {
        var random = SplitMix(seed: 2)
        var (histories, blames, entryCount): ([Double], [Double], Int) = ([], [], 0)
        for _ in 0..<100 {
            let id = ids[random.below(ids.count)]
            let history = try timed { try AuditTrail(of: path).history(of: id).count }
            histories.append(history.seconds)
            entryCount += history.result
            blames.append(try timed { try AuditTrail(of: path).blame(of: id) }.seconds)
        }
        settings.emit("A.history of one object, changes", Double(entryCount) / 100, "")
        settings.emit("A.history of one object, p50", percentile(histories, 50) * 1e3, "ms")
        settings.emit("A.history of one object, p95", percentile(histories, 95) * 1e3, "ms")
        settings.emit("A.blame of an object, p50", percentile(blames, 50) * 1e3, "ms")
        settings.emit("A.blame of an object, p95", percentile(blames, 95) * 1e3, "ms")
        var moments: [Double] = []
        for _ in 0..<200 {
            let number = TransactionNumber(rawValue: UInt64(2 + random.below(transactionCount)))
            moments.append(try timed { try AuditTrail(of: path).graph(at: .transaction(number)) }.seconds)
        }
        settings.emit("A.state at a random moment, p50", percentile(moments, 50) * 1e3, "ms")
        settings.emit("A.state at a random moment, p95", percentile(moments, 95) * 1e3, "ms")
        let trail = AuditTrail(of: path)
        let wanted = Int64(transactionCount - 1)
        let scan = try timed { try trail.firstTransaction(where: "price == \(wanted)", entity: "Item") }
        settings.emit("A.first transaction of a condition, scan", scan.seconds, "s")
        let bisection = try timed { try AuditTrail(of: path).firstTransaction(where: "price == \(wanted)", entity: "Item", by: .bisection) }
        settings.emit("A.first transaction of a condition, bisection", bisection.seconds, "s")
        guard scan.result?.step.entry.number == bisection.result?.step.entry.number else { throw Failure("the searches differ") }
    }

    private func measureUndo(_ store: Store, _ ids: [ObjectID]) throws {
        var random = SplitMix(seed: 3)
        let newest = store.graph.transaction.rawValue
        var times: [Double] = []
        for _ in 0..<50 {
            let number = TransactionNumber(rawValue: newest - UInt64(random.below(10_000)))
            times.append(try timed { try store.undo(.transactions(number...number), policy: .skip) }.seconds)
        }
        settings.emit("A.undo of a small transaction, p50", percentile(times, 50) * 1e3, "ms")
    }

    private func measureProofs(_ ids: [ObjectID]) throws {
        _ = try Store.prove("price", of: ids[1], at: path)
        var times: [Double] = []
        for index in 0..<20 { times.append(try timed { try Store.prove("price", of: ids[7 * index], at: path) }.seconds) }
        settings.emit("A.proof of a value, p50", percentile(times, 50) * 1e3, "ms")
        settings.emit("A.proof of a value, size", Double(try Store.prove("price", of: ids[0], at: path).description.utf8.count), "B")
        let verified = try timed { try Store.verify(at: path) }
        guard verified.result.isSound else { throw Failure("the store is not sound: \(verified.result.findings)") }
        settings.emit("A.verify, small transactions", Double(transactionCount) / verified.seconds, "/s")
        try measureVerifier(try Store.prove("price", of: ids[0], at: path), root: verified.result.root)
    }

    /// Checks a proof with the verifier of the standard library of Python, which a process runs.
    private func measureVerifier(_ proof: ProofFile, root: String) throws {
        let file = settings.store("audit.proof")
        try File.write(Array(proof.description.utf8), to: file)
        let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let script = "/\(folder)/Docs/Formats/verify.py"
        var times: [Double] = []
        for _ in 0..<10 { times.append(try timed { try Subprocess.run(["python3", script, "proof", file, "--root", root]) }.seconds) }
        settings.emit("A.verify.py, a process", percentile(times, 50) * 1e3, "ms")
    }

    /// Writes the log as static files, and again after each of some transactions.
    private func measureTiles(_ ids: [ObjectID]) throws {
        let folder = settings.store("audit-tiles")
        try Tree(folder).remove()
        let first = try timed { try Store.writeTiles(of: path, to: folder) }
        settings.emit("A.tiles of all transactions", first.seconds, "s")
        settings.emit("A.tiles of all transactions, files", Double(first.result.fileCount), "")
        let store = try Store.open(at: path)
        var times: [Double] = []
        for index in 0..<20 {
            try store.write { try $0.set(ids[index], "price", to: .int(-1)) }
            times.append(try timed { try Store.writeTiles(of: path, to: folder) }.seconds)
        }
        try store.close()
        settings.emit("A.tiles after one more transaction, p50", percentile(times, 50) * 1e3, "ms")
        try Tree(folder).remove()
    }
}
