import Cambium
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// A process that commits three transactions a minute, with the settings of a new store, and dies every night while it writes.
@Suite struct YearTests {
    /// The number of days to run: `days` of `CAMBIUM_TEST`, or 20. A year has 1,576,800 transactions.
    private static let dayCount = TestSettings.number("days") ?? 20
    private static let dayTransactionCount = 4_320
    private static let fileCountMax = 300

    private let clock = StillClock()
    private let volume = MemoryVolume()

    /// Transactions that insert, update and delete notes, some of them with a request. A few thousand notes exist at a time.
    private struct Load {
        private var number: Int64 = 0
        private var notes: [ObjectID] = []
        private var first = 0
        private var random = SplitMix64(seed: 5)

        mutating func commit(_ store: Store) throws {
            number += 1
            let id = number
            let author = Author(actor: "writer \(id % 5)", requestID: id % 100 == 0 ? "request \(id)" : nil)
            if id % 10 < 4 || notes.count - first < 10 {
                let inserted = try store.write(author) { transaction in
                    let note = try transaction.insert("Note", ["id": .int(id), "title": .string("a note of some length, number \(id)")])
                    try transaction.link(note, "items", transaction.insert("Item", ["key": .string("item \(id)")]))
                    return note
                }
                notes.append(inserted.result)
            } else if id % 10 >= 8, notes.count - first > 5_000 {
                let old = Array(notes[first..<first + 2])
                try store.write(author) { try $0.delete(old) }
                first += 2
            } else {
                let note = notes[Int.random(in: first..<notes.count, using: &random)]
                try store.write(author) { try $0.set(note, "rating", to: .double(Double(id))) }
            }
        }
    }

    /// The measurements at the end of a day.
    private struct Day {
        let fileCount: Int
        let segmentCount: Int
        let rootByteCount: Int
        let replayedCount: Int
        let reservedByteCount: Int
    }

    /// Returns the size of a checkpoint's record, or `nil` if the thread of the store has dropped the checkpoint since it was listed.
    private func rootByteCount(_ number: TransactionNumber) throws -> Int? {
        do {
            return try volume.byteCount(of: CheckpointRecord.path(number))
        } catch  where error.code == .notFound {
            return nil
        }
    }

    private func live(_ number: Int, _ load: inout Load) throws -> Day {
        let store = try Store.open(volume, durability: nil, environment: clock.environment(seed: UInt64(number)))
        for _ in 0..<Self.dayTransactionCount {
            clock.advance(20)
            try load.commit(store)
        }
        try store.label("day \(number)")
        #expect(store.sealingFailure == nil && store.checkpointFailure == nil, "day \(number)")
        let names = try volume.list("log") + volume.list("roots") + volume.list("")
        let roots = try CheckpointRecord.list(volume).compactMap { try rootByteCount($0) }
        let day = Day(
            fileCount: names.count, segmentCount: try LogDirectory.segments(volume).count, rootByteCount: roots.max() ?? 0,
            replayedCount: store.recovery.transactionCount, reservedByteCount: store.memory.reservedByteCount)
        store.abandon()
        try Merging.tear(volume)
        return day
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a year of steady commits with a crash every night leaves few files and a store that opens fast`() throws {
        try Store.create(volume, schema: Notes.schema, durability: .synced, environment: clock.environment()).close()
        var load = Load()
        var days: [Day] = []
        for number in 1...Self.dayCount { days.append(try live(number, &load)) }
        let most = (days.map(\.fileCount).max() ?? 0, days.map(\.segmentCount).max() ?? 0)
        // The memory grows in steps of its own size, and how soon it grows depends on how fast the store's thread writes checkpoints. So a
        // day can end one step above the others, and one step is no growth.
        let early = days[days.count / 4..<days.count / 2].map(\.reservedByteCount).max() ?? 0
        let late = days[days.count * 3 / 4..<days.count].map(\.reservedByteCount).sorted()[days.count / 8]
        print(
            "\(days.count) days: at most \(most.0) files, \(most.1) of them segments; checkpoint records of at most "
                + "\(days.map(\.rootByteCount).max() ?? 0) bytes; at most \(days.map(\.replayedCount).max() ?? 0) transactions replayed; "
                + "\(early) bytes of memory in the second quarter, \(late) in the last")
        #expect(most.0 <= Self.fileCountMax && most.1 <= 24)
        #expect(days.allSatisfy { $0.replayedCount < Self.dayTransactionCount && $0.rootByteCount <= 4096 })
        #expect(late <= 2 * early + 1 << 20)
        let store = try Store.open(volume, durability: nil, environment: clock.environment(seed: 1 << 40))
        #expect(store.graph.transaction.rawValue == UInt64(1 + days.count * (Self.dayTransactionCount + 1)))
        #expect(store.graph.labels.count == days.count)
        let digest = store.graph.digest()
        try store.close()
        let tail = try ReadOnlyStore(volume)
        #expect(tail.graph.digest() == digest && tail.recovery.notes == [])
        for part in 1...4 {
            let moment = TransactionNumber(rawValue: UInt64(part * days.count * Self.dayTransactionCount / 5))
            #expect(try ReadOnlyStore(volume, point: .transaction(moment)).graph.transaction == moment)
        }
        var tree = (count: 0, last: TransactionNumber.none)
        _ = try LogReader(volume).scan { tree = (tree.count + 1, $0.number) }
        #expect(tree.count == Int(tree.last.rawValue) && tree.last == tail.graph.transaction)
    }
}
