import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct HistoryTests {
    /// Makes a store whose log has every kind of op. Returns the export and the digest after each transaction as one text.
    private func made(_ tuning: LogTuning) throws -> (volume: MemoryVolume, store: Store, states: [String]) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var states = [store.graph.state]
        func note(_ number: UInt64?) throws {
            #expect(number == UInt64(states.count) + 1)
            states.append(store.graph.state)
        }
        func write(_ body: (inout WriteTransaction) throws -> Void) throws {
            let author = Author(actor: "actor \(states.count % 3)", message: "change", requestID: "request \(states.count)")
            try note(store.write(author, body).receipt.transaction?.rawValue)
        }
        var ids: [ObjectID] = []
        for number in 0..<8 {
            try write { transaction in
                let id = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
                ids.append(id)
                for memo in 0..<3 {
                    try transaction.link(id, "memos", transaction.insert("Memo", ["text": .string("\(memo)")]), at: 0)
                }
                try transaction.link(transaction.insert("Item", ["key": .string("item \(number)")]), "note", id)
            }
        }
        for (number, id) in ids.enumerated() {
            try write { try $0.set(id, "title", to: .string("another title of \(number)")) }
            try write { try $0.link(id, "related", ids[(number + 1) % ids.count]) }
        }
        let memos = try store.graph.members("memos", of: ids[0])
        try write { try $0.move(ids[0], "memos", memos[0], to: 2) }
        try write { try $0.unlink(ids[0], "memos", memos[1]) }
        try write { try $0.unlink(ids[0], "related", ids[1]) }
        try store.importing("Note", "{\"id\":1,\"title\":\"imported\",\"memos\":[{\"text\":\"x\"}]}\n{\"id\":99,\"related\":[{\"id\":1}]}")
        try note(store.graph.transaction.rawValue)
        try note(store.recordDigest().transaction?.rawValue)
        try write { try $0.delete(ids[2]) }
        try write { try $0.insert("Tag", ["name": .string("red")]) }
        return (volume, store, states)
    }

    @Test(arguments: [false, true])
    func `a replay up to any transaction results in the exact earlier values`(isTiny: Bool) throws {
        let (volume, store, states) = try made(isTiny ? .tiny : .standard)
        try store.close()
        #expect(Set(states).count == states.count - 1)
        for (number, state) in states.enumerated() {
            let past = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: UInt64(number + 1)))).graph
            #expect(past.state == state, "transaction \(number + 1)")
        }
        // The same holds while a writer continues, and after sealing.
        let again = try Store.open(volume, durability: nil, environment: fixedEnvironment(), tuning: isTiny ? .tiny : .standard)
        try again.write { try $0.insert("Tag", ["name": .string("blue")]) }
        #expect(try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 5))).graph.state == states[4])
    }

    @Test(arguments: [false, true])
    func `the log alone restores every kind of change`(isTiny: Bool) throws {
        let (volume, store, states) = try made(isTiny ? .tiny : .standard)
        store.abandon()
        var kinds: Set<String> = []
        try TransactionLog(volume).forEach { for op in try $0.ops() { kinds.insert(op.kindName) } }
        #expect(kinds == ["schema", "insert", "set", "link", "unlink", "move", "delete", "upsert", "relink", "digest"])
        // Neither HEAD nor the lock remains, only the settings and the log.
        let files = volume.contents.filter { $0.key.hasPrefix("log/") || $0.key == StoreSettings.fileName }
        #expect(files.count < volume.contents.count)
        let found = try Store.open(MemoryVolume(contents: files), durability: nil, environment: fixedEnvironment())
        #expect(found.graph.state == states.last && found.graph.transaction.rawValue == UInt64(states.count))
        #expect(found.graph.invariantFindings().isEmpty && found.schema.entities.map(\.name) == store.schema.entities.map(\.name))
        #expect(code { try found.write(Author(requestID: "request 3")) { try $0.insert("Tag", ["name": .string("x")]) } } == .repeated)
    }

    @Test func `one transaction is read without the log that follows it`() throws {
        let (volume, store, states) = try made(.tiny)
        try store.close()
        let log = try TransactionLog(volume)
        #expect(try log.entry(TransactionNumber(rawValue: UInt64(states.count)))?.number.rawValue == UInt64(states.count))
        #expect(try log.entry(TransactionNumber(rawValue: UInt64(states.count) + 1)) == nil)
        var files = volume.contents
        let segments = files.keys.filter { $0.hasSuffix(".log") }.sorted()
        try #require(segments.count > 3)
        files[segments[segments.count - 2]]?[Format.Segment.headerByteCount + 8] ^= 1
        let corrupt = try TransactionLog(MemoryVolume(contents: files))
        #expect(code { try corrupt.forEach { _ in } } == .corrupted)
        #expect(try corrupt.entry(TransactionNumber(rawValue: 3))?.author.requestID == "request 2")
    }

    @Test func `a log that ends before a checkpoint is listed, and its lost end is reported`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        var files = volume.contents
        try store.write { try $0.insert("Note", ["id": 1]) }
        try store.checkpoint()
        try store.close()
        for (path, bytes) in volume.contents where path.hasPrefix("roots/") || path.hasPrefix("pages-") { files[path] = bytes }
        var numbers: [UInt64] = []
        #expect(code { try TransactionLog(MemoryVolume(contents: files)).forEach { numbers.append($0.number.rawValue) } } == .corrupted)
        #expect(numbers == [1])
        let followed = code {
            // Without an error, the next read would never end the call.
            try TransactionLog(MemoryVolume(contents: files)).follow(pause: { throw CambiumError(.expired, "") }) {
                numbers.append($0.number.rawValue)
                return true
            }
        }
        #expect(followed == .corrupted && numbers == [1, 1])
        numbers = []
        try TransactionLog(volume).forEach { numbers.append($0.number.rawValue) }
        #expect(numbers == [1, 2])
    }

    @Test func `times never go backwards with the clock, and the log records how far the clock lagged`() throws {
        let clock = Guarded(Int64(1_700_000_000_000_000))
        var environment = fixedEnvironment()
        environment.now = { Timestamp(microsecondsSince1970: clock.withLock { $0 }) }
        let volume = MemoryVolume()
        func insert(_ store: Store, _ number: Int64) throws { try store.write { try $0.insert("Note", ["id": .int(number)]) } }
        var store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: environment, tuning: .tiny)
        var clocks = [clock.withLock { $0 }]
        for number in 0..<40 {
            clock.withLock { $0 += number % 5 == 0 ? -3_600_000_000 : 1_000_000 }
            clocks.append(clock.withLock { $0 })
            try insert(store, Int64(number))
            if number % 7 == 6 {
                try store.close()
                store = try Store.open(volume, durability: nil, environment: environment, tuning: .tiny)
            }
        }
        try store.close()
        var (times, clockTimes): ([Int64], [Int64]) = ([], [])
        try TransactionLog(volume).forEach { entry in
            times.append(entry.metadata.time.microsecondsSince1970)
            clockTimes.append((entry.metadata.time - entry.metadata.clockLag).microsecondsSince1970)
        }
        #expect(clockTimes == clocks)
        #expect(times.count == 41 && times == times.sorted() && Set(times).count < times.count)
        #expect(volume.contents.keys.count { $0.hasSuffix(".log") } > 2)
        #expect(try Verification(volume).isSound)
    }

    /// The year 255482, and a time that is later than the limit for the first transaction of a store.
    @Test(arguments: [8_000_000_000_000, 55 * 31_556_952])
    func `a clock that is far in the future dates no transaction, and changes nothing`(lead: Int64) throws {
        let (clock, volume) = (StillClock(), MemoryVolume())
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: clock.environment())
        let (before, start) = (store.graph.export, clock.time)
        clock.advance(lead)
        #expect(code { try store.write { try $0.insert("Note", ["id": .int(1)]) } } == .limitExceeded)
        #expect(store.graph.export == before)
        clock.advance(1 - lead)
        try store.write { try $0.insert("Note", ["id": .int(1)]) }
        try store.close()
        let last = try #require(try TransactionLog(volume).entry(TransactionNumber(rawValue: 2))).metadata
        #expect(last.time.microsecondsSince1970 == start + 1_000_000 && last.clockLag == .zero)
    }

    @Test func `a store is not created while the clock is far in the future`() throws {
        let (clock, volume) = (StillClock(), MemoryVolume())
        clock.advance(8_000_000_000_000)
        let environment = clock.environment()
        let failed = code { _ = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: environment) }
        #expect(failed == .limitExceeded && volume.contents.isEmpty)
        #expect(code { _ = try Store.inMemory(schema: Notes.schema, environment: environment) } == .limitExceeded)
    }

    @Test func `a clock may be later than the last transaction by the stated limit, as often as it is`() throws {
        let clock = StillClock()
        let store = try Store.inMemory(schema: Notes.schema, environment: clock.environment())
        clock.advance((ClockLimit.origin.microsecondsSince1970 - clock.time) / 1_000_000)
        for number in 0..<4 {
            clock.advance(ClockLimit.lead.components.seconds)
            try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) }
        }
        clock.advance(ClockLimit.lead.components.seconds + 1)
        #expect(code { try store.write { try $0.insert("Note", ["id": .int(9)]) } } == .limitExceeded)
    }

    @Test func `HEAD follows the log once a second even if the clock was set back`() throws {
        let (clock, volume) = (StillClock(), MemoryVolume())
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: clock.environment())
        // The first write of a writer writes HEAD before the transaction is durable.
        try store.write { try $0.insert("Note", ["id": 0]) }
        for (number, seconds) in [2, -3600, 2, 2].enumerated() {
            clock.advance(Int64(seconds))
            try store.write { try $0.insert("Note", ["id": .int(Int64(number + 1))]) }
            #expect(try LogReader(volume).lastDurableTransaction == store.graph.transaction, "write \(number + 1)")
        }
        try store.close()
    }

    @Test func `commits are synced at the promised interval even if the clock goes backwards`() throws {
        let clock = Guarded(Int64(1_700_000_000_000_000))
        var environment = fixedEnvironment()
        environment.now = { Timestamp(microsecondsSince1970: clock.withLock { $0 }) }
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .seconds(1)), environment: environment)
        clock.withLock { $0 -= 86_400_000_000 }
        for number in 0..<3 {
            try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) }
            clock.withLock { $0 += 2_000_000 }
        }
        for seed in 0..<UInt64(8) {
            let found = try Store.open(MemoryVolume(contents: volume.image(seed: seed)), durability: nil)
            #expect(found.graph.objectCount == 3, "seed \(seed)")
        }
        store.abandon()
    }

    @Test func `reading the log stops when the closure returns false`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for number in 0..<8 { try store.addNote(number) }
        var numbers: [UInt64] = []
        try TransactionLog(volume).read(from: TransactionNumber(rawValue: 3)) { entry in
            numbers.append(entry.number.rawValue)
            return entry.number.rawValue < 5
        }
        #expect(numbers == [3, 4, 5])
        try TransactionLog(volume).read { entry in
            numbers.append(entry.number.rawValue)
            return true
        }
        #expect(numbers.count == 12)
    }
}

extension Graph {
    fileprivate var state: String { export + "\(digest())" }
}
