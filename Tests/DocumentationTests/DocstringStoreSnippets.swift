// swift-format-ignore-file: ReplaceForEachWithForLoop

// The log is not a sequence, so a loop cannot replace `forEach`.
import Cambium
import Foundation

/// The examples of the docstrings about stores, transactions and the history, word for word. The code is compiled only.
enum DocstringStoreSnippets {
    static func create(_ schema: Schema) throws {
        let store = try Store.create(at: "notes", schema: schema, durability: .synced)
        try store.write(Author(actor: "jane")) { transaction in
            try transaction.insert("Note", ["title": "Paris"])
        }
        print(store.graph.objectCount)
        try store.close()
    }

    static func open(_ schema: Schema) throws -> Store {
        let store = try Store.open(at: "notes", creating: schema)
        return store
    }

    static func recover() throws {
        let store = try Store.open(at: "notes")
        for note in store.recovery.notes { print("recovery: \(note)") }
        print(store.recovery.transactionCount, "transactions replayed")
    }

    static func openBuffered(_ schema: Schema) throws {
        let store = try Store.open(at: "orders", creating: schema, durability: .buffered(every: .seconds(1)))
        try store.write(durability: .synced) { _ = try $0.insert("Order", ["number": 1]) }
    }

    static func limitMemory() throws -> [Store] {
        let budget = MemoryBudget(byteCount: 256 << 20)
        let notes = try Store.open(at: "notes", memory: budget)
        let orders = try Store.open(at: "orders", memory: budget)
        return [notes, orders]
    }

    static func replaceEnvironment(_ schema: Schema) throws -> Store {
        let noon = Timestamp(microsecondsSince1970: 1_774_958_400_000_000)
        let environment = StoreEnvironment(now: { noon }, randomBytes: { Array(repeating: 7, count: $0) })
        let store = try Store.inMemory(schema: schema, environment: environment)
        return store
    }

    // MARK: Transactions

    static func link(_ store: Store, _ red: ObjectID) throws {
        try store.write(Author(actor: "jane")) { transaction in
            let note = try transaction.insert("Note", ["title": "Paris"])
            try transaction.link(note, "tags", red)
        }
    }

    static func insert(
        _ transaction: inout WriteTransaction, _ note: ObjectID, _ red: ObjectID, _ urgent: ObjectID
    ) throws -> ObjectID {
        let item = try transaction.insert("Item", ["name": "tickets"], links: ["note": [note], "tags": [red, urgent]])
        return item
    }

    static func handleError(_ store: Store, _ note: ObjectID) throws {
        do {
            try store.write { try $0.set(note, "title", to: "Rome") }
        } catch let error as CambiumError where error.code == .notFound {
            print(error.message)
        }
    }

    static func deny(_ store: Store, _ shelf: ObjectID) throws {
        do {
            try store.write { try $0.delete(shelf) }
        } catch let error as CambiumError where error.code == .ruleViolated {
            for violation in (error.underlying as? RuleViolations)?.violations ?? [] { print(violation) }
        }
    }

    static func explain(_ error: CambiumError) {
        for violation in (error.underlying as? RuleViolations)?.violations ?? [] {
            if case .duplicate(let attributes, let entity) = violation.rule { print(violation.object, entity, attributes) }
        }
    }

    static func readReceipt(_ store: Store, _ note: ObjectID) throws {
        let receipt = try store.write { try $0.set(note, "title", to: "Rome") }.receipt
        print(receipt.hasChanges, receipt.logByteCount, try receipt.graph[note, "title"].text)
    }

    static func nameAuthor(_ store: Store, _ customer: ObjectID) throws {
        let clerk = Author(actor: "jane", message: "the customer moved", requestID: "ticket-118")
        try store.write(clerk) { try $0.set(customer, "city", to: "Rome") }
    }

    static func wait(_ store: Store) async throws {
        let (note, ticket) = try store.enqueue { try $0.insert("Note", ["title": "Paris"]) }
        let receipt = try await ticket.receipt
        print(note, receipt.logByteCount)
    }

    static func repeatRequest(_ store: Store) throws {
        do {
            try store.write(Author(requestID: "order-7301")) { _ = try $0.insert("Order", ["number": 7301]) }
        } catch let error as CambiumError where error.code == .repeated {
            if let first = error.underlying as? RepeatedRequest { print("done in transaction \(first.transaction)") }
        }
    }

    static func hash(_ store: Store, _ note: ObjectID, _ key: String) throws {
        let author = Author(actor: "jane", requestID: key, requestParts: ["set", "Note/1", "title=Paris"])
        try store.write(author) { try $0.set(note, "title", to: "Paris") }
    }

    static func readMetrics(_ store: Store) {
        let metrics = store.metrics
        if let hold = metrics.longestHolds.first { print(hold.use, hold.duration) }
    }

    static func openWithLimit(_ path: String) throws -> Store {
        var environment = StoreEnvironment.system
        environment.slowQueryDuration = .milliseconds(20)
        let store = try Store.open(at: path, environment: environment)
        return store
    }

    static func lease(_ store: Store) throws -> Int {
        let lease = store.lease(for: .seconds(60))
        let count = try lease.read { $0.objectCount }
        return count
    }

    // MARK: Moments

    static func yesterday(_ store: Store) throws -> Graph {
        let yesterday = try store.graph(at: .time(Timestamp(Date.now - 86_400)))
        return yesterday
    }

    static func yesterday(of store: Store) throws -> Graph {
        let yesterday = Timestamp(Date.now - 86_400)
        let graph = try store.graph(at: .time(yesterday))
        return graph
    }

    static func compareMoments(_ store: Store) throws {
        let march = try store.graph(at: .label("end of March"))
        let second = try store.graph(at: .transaction(TransactionNumber(rawValue: 2)))
        print(march.objectCount, second.objectCount)
    }

    static func compareWithPrevious(_ store: Store) throws {
        let last = store.graph.transaction
        let before = try store.graph(at: .transaction(TransactionNumber(rawValue: last.rawValue - 1)))
        print(last, store.graph.changes(since: before).count)
    }

    static func moveLabel(_ store: Store) throws {
        try store.label("approved", existing: .move, author: Author(actor: "jane"))
    }

    static func readOnly() throws {
        let yesterday = try ReadOnlyStore(at: "notes", point: .time(Timestamp(Date.now - 86_400)))
        print(yesterday.graph.transaction, yesterday.graph.objectCount)
    }

    static func follow() async throws {
        let follower = try StoreFollower(of: "notes")
        for try await graph in follower.graphs() { print(graph.objectCount) }
    }

    static func listTransactions() throws {
        try TransactionLog(of: "notes").forEach { entry in
            print(entry.number, entry.time, entry.author.actor ?? "-", entry.author.message ?? "")
        }
    }

    static func listNewest() throws {
        var newest: [TransactionLog.Entry] = []
        try TransactionLog(of: "notes").read(from: TransactionNumber(rawValue: 500)) { entry in
            newest.append(entry)
            return newest.count < 20
        }
    }

    // MARK: Maintenance

    static func measureDisk(_ store: Store) throws {
        let usage = try store.diskUsage()
        print(usage.logByteCount + usage.pageByteCount)
    }

    static func apply() throws {
        let report = try Store.apply(from: "notes", to: "mirror")
        print(report.appliedCount, report.presentCount, report.lastTransaction)
    }

    static func setPolicy(_ store: Store) throws {
        let lastYear = Timestamp(microsecondsSince1970: 1_700_000_000_000_000)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 100, historyPercent: 50, dayCount: 3650))
        try store.compact(.since(.time(lastYear)))
    }

    static func checkpoint(_ store: Store) throws {
        let receipt = try store.checkpoint()
        print(receipt.transaction, receipt.byteCount)
    }

    static func compact(_ store: Store) throws {
        try store.compact(.since(.label("end of March")), archive: "notes-archive")
    }

    static func previewCompaction(_ store: Store) throws {
        let expected = try store.compact(.checkpoints(8), effect: .preview)
        print(expected.retiredEnd, expected.logByteCount)
    }

    static func backUp() throws {
        let backup = try Store.backUp(at: "notes", to: "notes-copy")
        print(backup.transaction, backup.byteCount)
    }

    static func backUpEverything() throws {
        try Store.backUp(at: "notes", to: "notes-copy")
    }

    static func repair() throws {
        let repair = try Store.repair(at: "notes", to: "notes-repaired")
        for finding in repair.findings { print(finding) }
    }

    static func verify() throws {
        let verification = try Store.verify(at: "notes")
        print(verification.isSound, verification.transactionCount, verification.root)
        for finding in verification.findings { print(finding) }
    }

    static func listFindings() throws {
        print(try Store.verify(at: "notes").findings)
    }

    static func verifyRoot(_ written: String) throws {
        if let root = TreeHash(hex: written) { print(try Store.verify(at: "notes", againstRoot: root).isSound) }
    }

    static func compareDigests(_ store: Store, _ mirror: Store) {
        let digest = store.graph.digest()
        print(digest, digest == mirror.graph.digest())
    }
}
