import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

/// One moment a day, which a store keeps beyond its other limits and after compactions.
@Suite struct DailyMomentTests {
    private let clock = StillClock()
    private let volume = MemoryVolume()
    private let tuning: LogTuning = {
        var tuning = LogTuning()
        (tuning.checkpointsInBackground, tuning.sealsInBackground) = (false, false)
        return tuning
    }()

    private func reopen(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: clock.environment(), tuning: tuning)
    }

    /// Makes a store with three commits on each of eight days, and a checkpoint of each commit. Transaction 1 and 2 to 4 are of the first
    /// day. Returns the digests of all moments.
    private func made(_ policy: CheckpointPolicy) throws -> (Store, [TransactionNumber: GraphDigest]) {
        clock.advance(86_400 - clock.time / 1_000_000 % 86_400)
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: clock.environment(), tuning: tuning)
        try store.setCheckpointPolicy(policy)
        var digests: [TransactionNumber: GraphDigest] = [:]
        for day in 0..<8 {
            for number in 0..<3 {
                try store.write { try $0.insert("Note", ["id": .int(Int64(day * 3 + number))]) }
                try store.checkpoint()
                digests[store.graph.transaction] = store.graph.digest()
                clock.advance(3600)
            }
            clock.advance(86_400 - 3 * 3600)
        }
        return (store, digests)
    }

    private var checkpoints: [UInt64] { get throws { try CheckpointRecord.list(volume).map(\.rawValue) } }

    private func graph(_ number: UInt64) throws -> Graph {
        try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: number))).graph
    }

    @Test func `the last checkpoint of each day is a moment, as long as the policy keeps the day`() {
        let day: Int64 = 86_400_000_000
        let all: [(UInt64, Int64)] = [
            (9, 3 * day + 5), (8, 3 * day), (7, 3 * day - 1), (6, 2 * day), (5, day + 9), (4, 9), (3, -1), (2, -day - 1),
        ]
        let times = all.map { (number: TransactionNumber(rawValue: $0.0), time: $0.1) }
        func moments(_ dayCount: Int) -> [UInt64] {
            CheckpointPolicy(dayCount: dayCount).moments(of: times).map(\.rawValue).sorted()
        }
        #expect(moments(0) == [] && moments(1) == [9] && moments(2) == [7, 9] && moments(4) == [4, 5, 7, 9])
        #expect(moments(100) == [2, 3, 4, 5, 7, 9])
        #expect(CheckpointPolicy.end(ofDayOf: -1) == 0 && CheckpointPolicy.end(ofDayOf: 0) == day)
        #expect(CheckpointPolicy.end(ofDayOf: .max) == .max)
    }

    @Test func `a moment a day is kept beyond the other limits, and after a compaction`() throws {
        let (store, digests) = try made(CheckpointPolicy(countMax: 2, historyPercent: 0, dayCount: 6))
        #expect(try checkpoints == [25, 24, 22, 19, 16, 13, 10])
        let expected = try store.compact(.since(.transaction(TransactionNumber(rawValue: 20))), effect: .preview)
        let compaction = try store.compact(.since(.transaction(TransactionNumber(rawValue: 20))))
        #expect(compaction.firstMoment.rawValue == 19 && compaction.retiredEnd.rawValue == 19)
        #expect(compaction.dailyMoments.map(\.rawValue) == [10, 13, 16] && expected.dailyMoments == compaction.dailyMoments)
        for number: UInt64 in [10, 13, 16] + Array(19...25) {
            #expect(try graph(number).digest() == digests[TransactionNumber(rawValue: number)], "\(number)")
        }
        #expect(try Verification(volume).findings == [])
        try store.checkpoint()
        try store.close()
        let again = try reopen(volume)
        #expect(again.graph.digest() == digests[again.graph.transaction])
        // The second compaction keeps the moments of the first, and one of the days that it retires.
        #expect(try again.compact(.since(.latest)).dailyMoments.map(\.rawValue) == [10, 13, 16, 19, 22])
        let copy = MemoryVolume()
        #expect(try Backup(volume, to: copy).checkpointCount == 6)
        #expect(try ReadOnlyStore(copy, point: .transaction(TransactionNumber(rawValue: 13))).graph.objectCount == 12)
        try again.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
        try again.write { try $0.insert("Note", ["id": 100]) }
        try again.checkpoint()
        #expect(try checkpoints == [26, 25])
        #expect(try Verification(volume).isSound)
    }

    @Test func `a state between two moments is missing, and the error names both`() throws {
        let (store, digests) = try made(CheckpointPolicy(countMax: 2, dayCount: 100))
        let begin = try #require(try TransactionLog(volume).entry(TransactionNumber(rawValue: 2))).metadata.time
        try store.compact(.since(.latest))
        for number: UInt64 in [4, 7, 10, 22] { #expect(try graph(number).digest() == digests[TransactionNumber(rawValue: number)]) }
        let past = EarlierGraphs(volume)
        func message(_ point: Point) -> String {
            do { return "\(try past.graph(at: point).transaction)" } catch { return "\(error)" }
        }
        #expect(message(.transaction(TransactionNumber(rawValue: 8))).hasSuffix("The nearest: 7 and 10."))
        #expect(message(.transaction(TransactionNumber(rawValue: 2))).hasSuffix("The nearest: 4."))
        #expect(message(.transaction(TransactionNumber(rawValue: 24))).hasSuffix("The nearest: 22."))
        // The last transaction of the first day was committed two hours after its first one.
        func time(_ hours: Int64) -> Point { .time(Timestamp(microsecondsSince1970: begin.microsecondsSince1970 + hours * 3_600_000_000)) }
        #expect(message(time(2)) == "4" && message(time(23)) == "4" && message(time(24)).hasSuffix("The nearest: 4 and 7."))
        #expect(message(time(26)) == "7" && message(.latest) == "25")
    }

    @Test func `a moment of a day never replaces the corrupt checkpoint of a retired log`() throws {
        let (store, _) = try made(CheckpointPolicy(countMax: 2, dayCount: 100))
        try store.compact(.since(.latest))
        try store.close()
        var contents = volume.contents
        contents[CheckpointRecord.path(TransactionNumber(rawValue: 25))]?[30] ^= 1
        let corrupt = MemoryVolume(contents: contents)
        #expect(throws: CambiumError.self) { try reopen(corrupt) }
        do { _ = try ReadOnlyStore(corrupt) } catch let error as CambiumError {
            #expect(error.code == .corrupted && "\(error)".contains("no checkpoint that replaces them can be used"))
        }
        #expect(try ReadOnlyStore(corrupt, point: .transaction(TransactionNumber(rawValue: 7))).graph.objectCount == 6)
        #expect(try !Verification(corrupt).isSound)
    }

    @Test func `the first commit of a day makes a checkpoint due, if the policy keeps days`() throws {
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: clock.environment())
        func insert(_ number: Int64) throws { try store.write { try $0.insert("Note", ["id": .int(number)]) } }
        try insert(1)
        try store.checkpoint()
        clock.advance(86_400)
        try insert(2)
        #expect(try store.checkpoint().byteCount > 0)
        try store.setCheckpointPolicy(CheckpointPolicy(dayCount: 2))
        try store.checkpoint()
        let before = store.metrics.checkpointCount
        clock.advance(86_400)
        try insert(3)
        while store.metrics.checkpointCount == before, store.checkpointFailure == nil {}
        #expect(try checkpoints.first == 4 && store.checkpointFailure == nil)
        try store.close()
    }
}
