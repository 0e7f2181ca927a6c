import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

/// The touch index of small stores. Random programs compare histories in each state of the index with a search through all transactions
/// (`StoreRun.checkTouches`).
@Suite struct TouchIndexTests {
    private static let tuning: LogTuning = {
        var tuning = LogTuning()
        (tuning.sealsInBackground, tuning.checkpointsInBackground) = (false, false)
        tuning.touchedTransactionCountMin = 1
        return tuning
    }()

    private func made(
        _ tuning: LogTuning = tuning, noteCount: Int64 = 20
    ) throws -> (store: Store, volume: MemoryVolume, notes: [ObjectID]) {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        let notes = try store.write { transaction in
            try (0..<noteCount).map { try transaction.insert("Note", ["id": .int($0), "title": "a"]) }
        }.result
        return (store, volume, notes)
    }

    private func text(_ trail: AuditTrail, _ id: ObjectID) throws -> [String] {
        try trail.history(of: id).map { "\($0.transaction) \($0.object?.title ?? "") \($0.change)" }
    }

    /// Removes the touch index, and returns the history.
    private func textWithoutIndex(_ volume: MemoryVolume, _ id: ObjectID) throws -> [String] {
        let copy = MemoryVolume(contents: volume.contents.filter { !$0.key.hasPrefix(TouchPart.directory) })
        return try text(AuditTrail(copy), id)
    }

    /// Changes a note in ten transactions among others, and returns the numbers of transactions that its history and its blame replay.
    private func replayedCounts(otherCount: Int) throws -> (history: Int, blame: Int) {
        let (store, volume, notes) = try made()
        try store.checkpoint()
        for change in 0..<10 {
            try store.setTitle(of: notes[3], to: "t\(change)")
            for step in 0..<otherCount { try store.setTitle(of: notes[5 + step % 9], to: "\(change) \(step)") }
        }
        try store.checkpoint()
        let past = EarlierGraphs(volume)
        let trail = AuditTrail(volume, past, .standard, bound: nil)
        let history = try text(trail, notes[3])
        let count = past.replayedCount
        #expect(try history == textWithoutIndex(volume, notes[3]) && history.count == 11)
        let rows = try trail.blame(of: notes[3])
        #expect(rows.count == 7)
        return (count, past.replayedCount - count)
    }

    @Test func `a history and a blame by the index replay no transaction`() throws {
        for otherCount in [4, 16] {
            let counts = try replayedCounts(otherCount: otherCount)
            #expect(counts.history == 0 && counts.blame == 0, "\(counts)")
        }
    }

    @Test func `a history that no index covers replays the log once, and not for each change`() throws {
        let (store, volume, notes) = try made(.tiny)
        for change in 0..<30 {
            try store.setTitle(of: notes[3], to: "t\(change)")
            for step in 0..<4 { try store.setTitle(of: notes[5 + step], to: "\(change) \(step)") }
        }
        let past = EarlierGraphs(volume)
        let trail = AuditTrail(volume, past, .standard, bound: nil)
        #expect(try text(trail, notes[3]).count == 31)
        // The first replay leads to the newest graph. The replay that finds the touches is not one of `past`.
        #expect(past.replayedCount <= 2 * Int(store.graph.transaction.rawValue))
        let count = past.replayedCount
        #expect(try trail.blame(of: notes[3]).count == 7 && text(trail, notes[4]).count == 1)
        #expect(past.replayedCount == count)
    }

    @Test(arguments: [false, true])
    func `a history of many changes of links replays the log a few times, and not for each change`(isIndexed: Bool) throws {
        let (store, volume, notes) = try made(noteCount: 80)
        for change in 0..<60 {
            try store.write { try $0.link(notes[3], "related", notes[5 + change]) }
            for step in 0..<4 { try store.setTitle(of: notes[70 + step], to: "\(change) \(step)") }
        }
        if isIndexed { try store.checkpoint() }
        let past = EarlierGraphs(volume)
        let found = try text(AuditTrail(volume, past, .standard, bound: nil), notes[3])
        #expect(try found == textWithoutIndex(volume, notes[3]) && found.count == 61)
        // A replay for each change reads 30 times the number of transactions.
        #expect(past.replayedCount <= 8 * Int(store.graph.transaction.rawValue), "\(past.replayedCount)")
    }

    @Test(arguments: [false, true])
    func `an undo of a label moves the label back, whether or not an index covers it`(isIndexed: Bool) throws {
        let (store, volume, notes) = try made()
        try store.label("a", TransactionNumber(rawValue: 2))
        try store.setTitle(of: notes[0], to: "b")
        try store.label("a", TransactionNumber(rawValue: 3), existing: .move)
        let last = store.graph.transaction
        if isIndexed { try store.checkpoint() }
        #expect(try (TouchIndex.read(LogReader(volume)) != nil) == isIndexed)
        try store.undo(.transaction(last))
        #expect(store.graph.labels.mapValues(\.rawValue) == ["a": 2])
    }

    @Test func `undos of transactions that no index covers replay the log once`() throws {
        let (store, _, notes) = try made(.tiny)
        for step in 0..<40 { try store.setTitle(of: notes[step % 10], to: "t\(step)") }
        let newest = store.graph.transaction.rawValue
        try store.undo(.transaction(TransactionNumber(rawValue: newest - 3)))
        let count = try #require(store.past?.replayedCount)
        for step in 4..<9 { try store.undo(.transaction(TransactionNumber(rawValue: newest - UInt64(step)))) }
        #expect(store.past?.replayedCount == count)
    }

    @Test(arguments: [UndoPolicy.skip, .force])
    func `an undo of a set attribute by the index replays no transaction, and equals an undo by graphs`(policy: UndoPolicy) throws {
        let (store, volume, notes) = try made()
        // From here, the way to the graphs is much shorter than a replay that finds all touches.
        for step in 0..<30 { try store.setTitle(of: notes[10 + step % 5], to: "\(step)") }
        try store.checkpoint()
        for step in 0..<12 { try store.setTitle(of: notes[step * step % 5], to: "t\(step % 4)") }
        try store.checkpoint()
        let contents = volume.contents
        let withoutIndex = contents.filter { !$0.key.hasPrefix(TouchPart.directory) }
        for number in 36...43 as ClosedRange<UInt64> {
            let results = try [contents, withoutIndex].map { contents in
                let store = try Store.open(MemoryVolume(contents: contents), durability: nil, environment: fixedEnvironment(seed: 5))
                let undo = try store.undo(.transaction(TransactionNumber(rawValue: number)), policy: policy)
                return (store.graph.digest(), undo.conflicts.map(\.description), store.past?.replayedCount ?? -1)
            }
            #expect(results[0].0 == results[1].0 && results[0].1 == results[1].1, "\(number)")
            #expect(results[0].2 == 0 && results[1].2 > 0, "\(number): \(results)")
        }
        #expect(try TouchIndex.read(LogReader(volume)) != nil)
    }

    @Test func `a bulk change is one run of the index, and a touch takes less than 4 bytes`() throws {
        let (store, volume, _) = try made()
        try store.importing("Note", (100..<1100).map { #"{"id":\#($0)}"# }.joined(separator: "\n"))
        try store.checkpoint()
        let bulk = try #require(try TouchIndex.read(LogReader(volume)))
        #expect(bulk.parts.count == 1 && bulk.parts[0].touchCount == 1020 && bulk.parts[0].byteCount < 250)
        var (random, set) = (SplitMix64(seed: 1), TouchSet())
        for number in 1...100_000 as ClosedRange<UInt64> {
            let id = ObjectID(root: EntityNumber(rawValue: 1), serial: .random(in: 1...10_000, using: &random))
            set.track(id, TransactionNumber(rawValue: number))
        }
        let range = TransactionNumber(rawValue: 1)...TransactionNumber(rawValue: 100_000)
        let bytes = TouchPart.encode(
            set, store: TouchPart.noHash.dropLast(16), range, treeRoot: TouchPart.noHash, previous: TouchPart.noHash)
        #expect(bytes.count * 10 < 25 * set.touchCount, "\(bytes.count)")
    }

    @Test func `an index covers the log up to the last checkpoint, in parts that are merged`() throws {
        var tuning = Self.tuning
        tuning.touchPartCountMax = 40
        let (store, volume, notes) = try made(tuning)
        for round in 0..<12 {
            for step in 0..<5 { try store.setTitle(of: notes[(round + step) % 20], to: "\(round) \(step)") }
            try store.checkpoint()
        }
        let index = try #require(try TouchIndex.read(LogReader(volume)))
        #expect(index.first.rawValue == 1 && index.last == store.graph.transaction)
        #expect((2...4).contains(index.parts.count) && index.parts.allSatisfy { $0.touchCount <= 40 })
        #expect(try volume.list(TouchPart.directory).count == index.parts.count)
        try store.setTitle(of: notes[2], to: "tail")
        for note in notes { #expect(try text(AuditTrail(volume), note) == textWithoutIndex(volume, note)) }
    }

    @Test func `the index of a diverged history is not used`() throws {
        let (store, volume, notes) = try made()
        try store.checkpoint()
        try store.close()
        let branches = try [0, 1].map { branch in
            let copy = MemoryVolume(contents: volume.contents)
            let store = try Store.open(copy, durability: nil, environment: fixedEnvironment(), tuning: Self.tuning)
            for step in 0..<6 { try store.setTitle(of: notes[step + branch], to: "x") }
            try store.checkpoint()
            try store.close()
            return copy
        }
        let own = branches[0].contents.filter { !$0.key.hasPrefix(TouchPart.directory) }
        let mixed = MemoryVolume(contents: own.merging(branches[1].contents.filter { $0.key.hasPrefix(TouchPart.directory) }) { $1 })
        #expect(try TouchIndex.read(LogReader(branches[0])) != nil && TouchIndex.read(LogReader(mixed)) == nil)
        for note in notes { #expect(try text(AuditTrail(mixed), note) == textWithoutIndex(branches[0], note)) }
    }

    @Test func `a forged index that omits changes is found by graphs or by a replay`() throws {
        let (store, volume, notes) = try made()
        for step in 0..<30 { try store.setTitle(of: notes[step % 3], to: "\(step)") }
        try store.checkpoint()
        let reader = try LogReader(volume)
        let index = try #require(try TouchIndex.read(reader))
        var (all, forged) = (TouchSet(), TouchSet())
        for part in index.parts { try #require(try part.add(to: &all, volume)) }
        for touch in all.touches where touch.transaction % 4 != 0 {
            forged.track(
                ObjectID(root: EntityNumber(rawValue: touch.root), serial: touch.serial), TransactionNumber(rawValue: touch.transaction))
        }
        let bytes = TouchPart.encode(
            forged, store: reader.settings.store, index.first...index.last, treeRoot: index.parts[0].treeRoot, previous: TouchPart.noHash)
        try TouchIndex.replace(volume, (TouchPart.path(index.first, index.last), bytes), keeping: [])
        let trail = AuditTrail(volume)
        for note in notes.prefix(4) {
            let isRight = try text(trail, note) == textWithoutIndex(volume, note)
            let check = try trail.checkHistory(of: note)
            #expect(isRight || !check.isComplete)
        }
    }

    @Test func `a part of the index survives no flipped bit`() throws {
        let (store, volume, notes) = try made()
        for step in 0..<20 { try store.setTitle(of: notes[step % 5], to: "\(step)") }
        try store.checkpoint()
        let path = try #require(try TouchIndex.read(LogReader(volume))?.parts.first?.path)
        let bytes = try volume.bytes(of: path)
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 4
            try volume.replace(path, changed)
            let index = try TouchIndex.read(LogReader(volume))
            let isRefused = try notes.contains { try index?.transactions(of: $0) == nil }
            #expect(isRefused, "byte \(place)")
        }
    }
}
