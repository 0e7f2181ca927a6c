import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

/// Cursors, histories and blame of small stores. Random programs compare them with a search through all transactions
/// (`StoreRun.checkAudit`).
@Suite struct AuditTrailTests {
    private func number(_ value: UInt64) -> TransactionNumber { TransactionNumber(rawValue: value) }

    /// Makes a store whose transaction 2 inserts a note.
    private func made(tuning: LogTuning = .tiny) throws -> (store: Store, volume: MemoryVolume, note: ObjectID) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        return (store, volume, try store.write { try $0.insert("Note", ["id": 1, "title": "a"]) }.result)
    }

    private func kinds(_ entries: [HistoryEntry]) -> [String] {
        entries.map { entry in
            switch entry.change {
            case .inserted: "\(entry.transaction) inserted"
            case .deleted: "\(entry.transaction) deleted"
            case .cloned(let source, _): "\(entry.transaction) cloned from \(source)"
            case .attribute(let value): "\(entry.transaction) \(value.name)"
            case .relationship(let members): "\(entry.transaction) \(members.name)"
            case .stub, .renamed, .schema, .label: "\(entry.transaction) other"
            case .retired: "\(entry.transaction) retired"
            }
        }
    }

    @Test func `a copy that a migration gave a new id is no clone of the migration`() throws {
        var definition = SchemaDefinition {
            EntityDefinition("A") { AttributeDefinition("text", .string, .optional) }
            EntityDefinition("B") { AttributeDefinition("text", .string, .optional) }
        }
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Schema(definition), durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        _ = try store.write { try $0.insert("A") }
        let id = try store.write { try $0.insert("B", ["text": "a"]) }.result
        _ = try store.write { try $0.clone(id) }
        definition.entities.append(EntityDefinition("Top", .abstract))
        (definition["A"].parent, definition["B"].parent) = ("Top", "Top")
        try store.migrate(to: definition, movedIDs: .renewed)
        let copy = try #require(Array(store.graph.objects(of: "B")).last)
        #expect(store.graph.source(of: copy) != nil)
        let trail = AuditTrail(volume)
        let found = try kinds(trail.history(of: copy))
        #expect(found == ["5 inserted"])
        #expect(try trail.checkHistory(of: copy).gaps.isEmpty)
    }

    // MARK: Cursors

    @Test func `a cursor returns each transaction with the graphs before and after it`() throws {
        let (store, volume, note) = try made()
        for title in ["b", "c"] { try store.setTitle(of: note, to: title) }
        var cursor = try AuditTrail(volume).transactions(from: number(2), through: number(3))
        var found: [String] = []
        while let step = try cursor.next() { found += step.changes.summary.map { "\(step.entry.number) \($0)" } }
        #expect(found == ["2 + Note/1", "3 ~ Note/1.title: a -> b"] && cursor.position == number(3))
        #expect(try AuditTrail(volume).transaction(number(1)).before.schema.entities.isEmpty)
        let newest = try store.audit().transaction(number(4))
        #expect(newest.after.digest() == store.graph.digest())
    }

    @Test func `a cursor that begins with a retired transaction names the oldest one`() throws {
        let (store, volume, note) = try made()
        for title in ["b", "c", "d"] { try store.setTitle(of: note, to: title) }
        try store.checkpoint()
        try store.setTitle(of: note, to: "e")
        try store.checkpoint()
        try store.compact(.since(.transaction(number(5))))
        let trail = AuditTrail(volume)
        let oldest = try trail.oldest()
        #expect(oldest > number(1) && oldest <= number(6))
        let error = #expect(throws: CambiumError.self) { _ = try trail.transactions(from: number(1)).position }
        #expect(error?.code == .expired && error?.underlying as? RetiredTransactions == RetiredTransactions(oldest: oldest))
        #expect(throws: CambiumError.self) { try trail.transaction(number(1)) }
        #expect(try kinds(trail.history(of: note)).last == "\(oldest.rawValue - 1) retired")
    }

    @Test func `a compaction while a cursor reads ends in an error, and not in a gap`() throws {
        let (store, volume, note) = try made()
        for title in ["b", "c", "d"] { try store.setTitle(of: note, to: title) }
        var cursor = try AuditTrail(volume).transactions()
        try store.checkpoint()
        try store.setTitle(of: note, to: "e")
        try store.checkpoint()
        try store.compact(.since(.transaction(number(6))))
        var code: CambiumError.Code?
        do { while let step = try cursor.next() { #expect(step.entry.number == cursor.position) } } catch let error as CambiumError {
            code = error.code
        }
        #expect(code == .expired)
    }

    @Test func `a follower receives each transaction once, and moves to newer checkpoints`() throws {
        let (store, volume, note) = try made()
        var (numbers, titles): ([UInt64], [String]) = ([], ["b", "c", "d", "e", "f"])
        try AuditTrail(volume).follow(from: number(2)) {
            if let title = titles.popLast() {
                try store.setTitle(of: note, to: title)
                try store.checkpoint()
            }
        } _: { step in
            numbers.append(step.entry.number.rawValue)
            return step.entry.number < number(7)
        }
        #expect(numbers == Array(2...7))
    }

    // MARK: Histories

    @Test func `an object that came back under its id has the history of both lives`() throws {
        let (store, volume, note) = try made()
        let empty = try store.write { try $0.insert("Note", ["id": 9]) }.result
        try store.write { try $0.delete(note) }
        try store.setTitle(of: empty, to: "x")
        let entity = try store.schema.required("Note")
        let id = try entity.requiredAttribute("id").number
        let title = try entity.requiredAttribute("title").number
        let values = [Assignment(id, .int(1)), Assignment(title, .string("again"))]
        try store.write { try $0.record(.insert(note, entity: entity.number, values)) }
        try store.setTitle(of: note, to: "b")
        try store.write { try $0.delete(note) }
        let expected = ["8 deleted", "7 title", "6 inserted", "4 deleted", "2 inserted"]
        for trail in [AuditTrail(volume), try store.audit()] {
            #expect(try kinds(trail.history(of: note)) == expected)
            #expect(try trail.checkHistory(of: note).isComplete)
        }
    }

    @Test func `a history has cascades, the other end of links, and objects of the same transaction`() throws {
        let (store, volume, note) = try made()
        let item = try store.write { transaction -> ObjectID in
            let item = try transaction.insert("Item", ["key": "k"])
            try transaction.link(note, "items", item)
            return item
        }.result
        try store.write { try $0.delete(note) }
        let trail = AuditTrail(volume)
        #expect(try kinds(trail.history(of: note)) == ["4 deleted", "3 items", "2 inserted"])
        #expect(try kinds(trail.history(of: item)) == ["4 deleted", "3 inserted"])
        #expect(try trail.history(of: ObjectID(root: note.root, serial: 7)).isEmpty)
        #expect(try trail.history(of: note, limit: 0).isEmpty && trail.history(of: note, limit: 1).count == 1)
    }

    /// The number of transactions that a history of a note with `changeCount` changes replays, beside `otherCount` other transactions.
    private func replayedCount(changeCount: Int, otherCount: Int) throws -> Int {
        let (store, volume, note) = try made(tuning: .standard)
        let other = try store.write { try $0.insert("Note", ["id": 2]) }.result
        for change in 0..<changeCount {
            try store.checkpoint()
            try store.setTitle(of: note, to: "t\(change)")
            for step in 0..<otherCount { try store.setTitle(of: other, to: "\(change) \(step)") }
        }
        let past = EarlierGraphs(volume)
        let trail = AuditTrail(volume, past, .standard, bound: nil)
        #expect(try trail.history(of: note).count == changeCount + 1)
        return past.replayedCount
    }

    @Test func `a history reads only the transactions after the checkpoints before its changes`() throws {
        let (few, many) = (try replayedCount(changeCount: 4, otherCount: 3), try replayedCount(changeCount: 4, otherCount: 12))
        // The newest graph is the only one that needs the other transactions.
        #expect(many - few <= 9, "\(few), \(many)")
    }

    // MARK: Blame and searches

    @Test func `a derived attribute is blamed on the transaction that changed its members`() throws {
        let schema = try Schema {
            EntityDefinition("List", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("total", .int64, derived: .sum("lines.price"))
                RelationshipDefinition("lines", to: "Line", .toMany, inverse: "list")
            }
            EntityDefinition("Line") {
                AttributeDefinition("price", .int64, default: 0)
                RelationshipDefinition("list", to: "List", inverse: "lines")
            }
        }
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment())
        let list = try store.write { try $0.insert("List", ["id": 1]) }.result
        let line = try store.write { transaction -> ObjectID in
            let line = try transaction.insert("Line", ["price": 3])
            try transaction.link(list, "lines", line)
            return line
        }.result
        try store.write { try $0.set(line, "price", to: 5) }
        let trail = AuditTrail(volume)
        let rows = try trail.blame(of: list)
        #expect(rows.map { "\($0.property) \($0.transaction?.rawValue ?? 0)" } == ["id 2", "total 4", "lines 3"])
        #expect(try kinds(trail.history(of: list)) == ["4 total", "3 total", "3 lines", "2 inserted"])
    }

    @Test func `a scan finds the first moment of a condition, across migrations and deletions`() throws {
        let (store, volume, note) = try made()
        try store.setTitle(of: note, to: "wanted")
        try store.setTitle(of: note, to: "b")
        try store.setTitle(of: note, to: "wanted")
        let trail = AuditTrail(volume)
        let found = try trail.firstTransaction(where: #"title == "wanted""#, entity: "Note")
        #expect(found?.step.entry.number == number(3) && found?.objects.map(\.name) == ["Note/1"] && found?.method == .scan)
        #expect(try trail.firstTransaction(where: #"title == "wanted""#, from: number(4))?.step.entry.number == number(5))
        #expect(try trail.firstTransaction(where: #"title == "none""#) == nil)
        #expect(throws: CambiumError.self) { try trail.firstTransaction(where: "price > 1") }
        let bisected = try trail.firstTransaction(where: #"title != "a""#, by: .bisection)
        #expect(bisected?.step.entry.number == number(3) && bisected?.method == .bisection)
    }

    @Test func `a store in memory has no audit trail`() throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let error = #expect(throws: CambiumError.self) { try store.audit() }
        #expect(error?.code == .invalidInput)
    }
}
