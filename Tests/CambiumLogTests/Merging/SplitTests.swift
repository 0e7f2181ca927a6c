import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Compactions to a checkpoint that is inside a segment.
@Suite struct SplitTests {
    /// The tuning for segments of any length and for some files of ops.
    private static let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        (tuning.segmentByteCount, tuning.largeByteCount, tuning.sealsSegments) = (1 << 20, 500, false)
        return tuning
    }()

    private let anchor = TransactionNumber(rawValue: 7)

    private func add(_ store: Store, _ number: Int) throws {
        try store.write(Author(actor: "actor \(number % 3)")) { transaction in
            let title = String(repeating: "a long title ", count: number % 4 == 1 ? 60 : 3)
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(title)\(number)")])
        }
    }

    /// Makes a segment with 13 transactions and a checkpoint of the seventh, and another segment with three transactions.
    private func made(_ volume: any Volume = MemoryVolume()) throws -> Store {
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: Self.tuning)
        for number in 0..<12 {
            try add(store, number)
            if number == 5 { try store.checkpoint() }
        }
        try store.writer.log?.endSegment(with: store.graph.transaction)
        for number in 20..<23 { try add(store, number) }
        return store
    }

    private func reopen(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3), tuning: Self.tuning)
    }

    private func kinds(_ volume: any Volume) throws -> [UInt64: Format.FileKind] {
        var kinds: [UInt64: Format.FileKind] = [:]
        for segment in try LogDirectory.segments(volume) {
            kinds[segment.rawValue] = try SegmentReader(volume, path: LogFileName.path(segment, .segment)).header.kind
        }
        return kinds
    }

    private func envelopes(_ volume: any Volume) throws -> [String] {
        var found: [String] = []
        try TransactionLog(volume).forEach { found.append("\($0.number) \($0.metadata)") }
        return found
    }

    @Test func `a compaction splits the segment at the checkpoint and retires only the first part`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let (root, envelopes) = (try Verification(volume).root, try envelopes(volume))
        let planned = try store.compact(.since(.transaction(TransactionNumber(rawValue: 9))), effect: .preview)
        let done = try store.compact(.since(.transaction(TransactionNumber(rawValue: 9))))
        #expect(done.retiredEnd == anchor && done.firstMoment == anchor && done.segmentCount == 1)
        #expect(planned.segmentCount == 1 && planned.retiredEnd == anchor)
        #expect(try kinds(volume) == [1: .retired, 8: .sealed, 14: .open])
        #expect(try Verification(volume).findings == [] && Verification(volume).root == root && self.envelopes(volume) == envelopes)
        for number: UInt64 in [7, 8, 13, 14] {
            let moment = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: number)))
            #expect(moment.recovery.checkpoint == anchor && moment.graph.objectCount == Int(number) - 1)
        }
        try add(store, 30)
        try store.close()
        let again = try reopen(volume)
        #expect(again.graph.export == store.graph.export)
        #expect(try again.compact(.since(.latest)).retiredEnd.rawValue == 17 && Verification(volume).isSound)
    }

    @Test func `a dry run counts the files of ops of the part that would be split off`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try made(volume)
        // Digits that do not repeat hardly shrink, so the file of ops is much longer than the segment.
        let digits = (0..<2000).map { String($0 &* 7919) }.joined()
        try store.write { try $0.insert("Note", ["id": 50, "title": .string(digits)]) }
        try store.checkpoint()
        try add(store, 51)
        let planned = try store.compact(.since(.latest), in: archive, isDryRun: true)
        let without = try store.compact(.since(.latest), effect: .preview)
        #expect(archive.contents.isEmpty && planned.logByteCount > 4000 && without.logByteCount == planned.logByteCount)
        #expect(planned.archivedByteCount > 4000)
        let done = try store.compact(.since(.latest), in: archive)
        #expect(done.logByteCount > 4000 && done.archivedByteCount > 4000)
    }

    @Test func `the segment that is written to is ended before it is split`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: Self.tuning)
        for number in 0..<10 {
            try add(store, number)
            if number == 5 { try store.checkpoint() }
        }
        try store.compact(.since(.transaction(TransactionNumber(rawValue: 8))))
        #expect(try kinds(volume) == [1: .retired, 8: .sealed, 12: .open])
        try add(store, 10)
        try store.close()
        #expect(try Verification(volume).findings == [] && reopen(volume).graph.export == store.graph.export)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a crash at any operation of a compaction that splits leaves the store as before or after it`() throws {
        let whole = FaultyVolume()
        let first = try made(whole)
        let begun = whole.operationCount
        let retention = Retention.since(.transaction(TransactionNumber(rawValue: 9)))
        try first.compact(retention)
        let (export, operationCount) = (first.graph.export, whole.operationCount)
        var found: Set<[UInt64]> = []
        for operation in begun...operationCount {
            let volume = FaultyVolume()
            let store = try made(volume)
            volume.crash(at: operation)
            do { try store.compact(retention) } catch {}  // The process has died.
            for seed in 0..<UInt64(3) {
                let place = "operation \(operation), seed \(seed)"
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                found.insert(try LogDirectory.segments(disk).map(\.rawValue))
                #expect(try ReadOnlyStore(disk).graph.export == export && StoreFollower(disk).graph.export == export, "\(place)")
                let again = try reopen(disk)
                #expect(again.graph.export == export, "\(place)")
                try again.compact(retention)
                try again.close()
                let verification = try Verification(disk)
                #expect(verification.findings == [] && verification.transactionCount == 16, "\(place): \(verification.findings)")
                #expect(try kinds(disk)[1] == .retired && kinds(disk)[8] == .sealed, "\(place)")
                #expect(!disk.contents.keys.contains { $0.hasSuffix(".new") }, "\(place)")
            }
        }
        #expect(found == [[1, 14], [1, 8, 14], [1, 14, 17], [1, 8, 14, 17]] || found == [[1, 14], [1, 8, 14]], "\(found)")
    }

    // MARK: Covered segments

    /// Makes the files that an interrupted split leaves: a sealed segment with 13 transactions, and another one with the last six of them.
    private func interrupted() throws -> (volume: MemoryVolume, export: String, covered: String) {
        let volume = MemoryVolume()
        let store = try made(volume)
        try store.close()
        let again = try reopen(volume)
        let sealing = try #require(again.commits.sealing)
        let path = LogFileName.path(TransactionNumber(rawValue: 1), .segment)
        var whole: [UInt8]?
        try sealing.whileNoneIsSealed { sealer, _ in
            _ = try sealer.seal(TransactionNumber(rawValue: 1))
            whole = volume.contents[path]
            _ = try sealer.split(TransactionNumber(rawValue: 1), after: anchor)
        }
        try again.close()
        var contents = volume.contents
        contents[path] = whole
        return (MemoryVolume(contents: contents), again.graph.export, LogFileName.path(anchor.next, .segment))
    }

    @Test func `readers skip a covered segment, and the next compaction removes it`() throws {
        let (volume, export, _) = try interrupted()
        #expect(try LogDirectory.segments(volume).map(\.rawValue) == [1, 8, 14])
        #expect(try ReadOnlyStore(volume).graph.export == export && StoreFollower(volume).graph.export == export)
        for first in 1...16 {
            var numbers: [UInt64] = []
            _ = try LogReader(volume).scan(from: TransactionNumber(rawValue: UInt64(first))) { numbers.append($0.number.rawValue) }
            #expect(numbers == Array(UInt64(first)...16))
        }
        #expect(try Verification(volume).findings == [])
        let copy = MemoryVolume()
        _ = try Backup(volume, to: copy)
        #expect(try Verification(copy).findings == [])
        let again = try reopen(volume)
        #expect(again.graph.export == export)
        try again.compact(.since(.transaction(TransactionNumber(rawValue: 9))))
        #expect(try kinds(volume)[1] == .retired && kinds(volume)[8] == .sealed)
        #expect(try Verification(volume).findings == [])
    }

    @Test func `a segment that differs from the one that covers it stays, and nothing is retired`() throws {
        let (volume, _, covered) = try interrupted()
        var other = SegmentImage(first: 8, store: try StoreSettings.read(volume).store)
        other.append(6)
        let files = volume.contents.merging([covered: other.bytes]) { $1 }
        #expect(code { _ = try reopen(MemoryVolume(contents: files)) } == .corrupted)
        let forged = MemoryVolume(contents: files.filter { !$0.key.hasPrefix("roots/") })
        let store = try reopen(forged)
        let before = forged.contents.filter { $0.key.hasPrefix("log/") }
        #expect(code { try store.compact(.since(.latest)) } == .corrupted)
        #expect(try before.keys.allSatisfy { try forged.exists($0) } && kinds(forged)[1] == .sealed && kinds(forged)[8] == .open)
    }

    @Test func `a partly covered segment is reported as corruption`() throws {
        let (volume, _, covered) = try interrupted()
        let third = try #require(volume.contents.keys.filter { $0.hasSuffix(".log") }.max())
        var contents = volume.contents
        contents[third] = nil
        contents["HEAD"] = nil
        #expect(code { _ = try ReadOnlyStore(MemoryVolume(contents: contents)) } == .corrupted)
        // An opening refuses a segment that begins inside an open one, instead of skipping it.
        var open = volume.contents
        open[covered] = nil
        open[LogFileName.path(TransactionNumber(rawValue: 15), .segment)] = volume.contents[covered]
        #expect(code { _ = try reopen(MemoryVolume(contents: open)) } == .corrupted)
    }
}
