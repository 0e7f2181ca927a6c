import Cambium
import CambiumTesting
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

/// Quantities that must not grow with the time for which a store is used, or with the amount of its contents.
@Suite struct UptimeTests {
    private static let checkpointCount = TestSettings.number("checkpoints") ?? (LongTests.areWanted ? 10_000 : 200)

    private func insert(_ transaction: inout WriteTransaction, _ number: Int, title: String = "a title of some length") throws {
        let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string(title)])
        try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
    }

    private func id(_ store: Store, _ number: Int) throws -> ObjectID {
        let note = try store.schema.required("Note")
        let graph = store.graph
        return try graph.id(of: #require(graph.place(note, identity: [.int(Int64(number))])))
    }

    private func byteCount(_ contents: [String: [UInt8]], _ prefix: String = "") -> Int {
        contents.reduce(0) { $0 + ($1.key.hasPrefix(prefix) ? $1.value.count : 0) }
    }

    // MARK: Checkpoints

    /// The size of a store without its log.
    private struct Size: Equatable, CustomStringConvertible {
        let pages: Int
        let roots: Int
        let live: Int
        let reserved: Int
        var description: String { "pages \(pages), roots \(roots), live \(live), reserved \(reserved)" }
    }

    private func size(_ store: Store, _ volume: MemoryVolume) -> Size {
        let (contents, memory) = (volume.contents, store.memory)
        return Size(
            pages: byteCount(contents, "pages-"), roots: byteCount(contents, "roots/"), live: memory.pageByteCount,
            reserved: memory.reservedByteCount)
    }

    @Test func `size and accounting do not grow with the number of checkpoints`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 6))
        try store.write { transaction in for number in 0..<50 { try insert(&transaction, number) } }
        let ids = try (0..<50).map { try id(store, $0) }
        var sizes: [Size] = []
        for round in 0..<Self.checkpointCount {
            try store.write { try $0.set(ids[round % 50], "rating", to: .double(Double(round))) }
            try store.checkpoint()
            if round >= 60, round % 5 == 0 { sizes.append(size(store, volume)) }
            if round % 100 == 99 { try store.compact(.checkpoints(1)) }
        }
        let first = try #require(sizes.first)
        #expect(sizes.allSatisfy { $0.live == first.live && $0.reserved <= 2 * first.reserved }, "\(sizes.suffix(3))")
        #expect(sizes.allSatisfy { $0.pages <= 20 * 65_536 && $0.roots <= 7 * 3000 }, "\(sizes.suffix(3))")
        #expect(sizes.suffix(10).map(\.pages).max() == sizes.prefix(10).map(\.pages).max(), "\(sizes)")
        #expect(store.pageFindings == [])
        try store.close()
        #expect(try Verification(volume).isSound)
    }

    @Test func `pages do not grow when processes die after checkpoints`() throws {
        var contents: [String: [UInt8]] = [:]
        do {
            let volume = MemoryVolume()
            let store = try Store.notes(volume)
            try store.setCheckpointPolicy(CheckpointPolicy(countMax: 3))
            try store.write { transaction in for number in 0..<200 { try insert(&transaction, number) } }
            store.abandon()
            contents = volume.contents
        }
        var sizes: [Int] = []
        for round in 0..<60 {
            let volume = FaultyVolume(contents: contents)
            let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: UInt64(round)))
            let changed = try id(store, round)
            try store.write { try $0.set(changed, "title", to: .string("round \(round)")) }
            try store.checkpoint()
            try store.write { try $0.set(changed, "rating", to: .double(1)) }
            // Some processes die while they make another checkpoint.
            if round % 2 == 0 { volume.crash(at: volume.operationCount + round % 12) }
            _ = try? store.checkpoint()
            store.abandon()
            contents = round % 4 < 2 ? volume.contents : volume.image(seed: UInt64(round))
            sizes.append(byteCount(contents, "pages-") + byteCount(contents, "roots/"))
        }
        #expect(sizes.suffix(40).max() ?? 0 <= (sizes.prefix(20).max() ?? 0) + 65_536, "\(sizes)")
        #expect(try Verification(MemoryVolume(contents: contents)).isSound)
    }

    @Test func `a running checkpoint holds no version, and writers continue without more memory`() throws {
        let volume = WatchedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment())
        try store.write { transaction in for number in 0..<2000 { try insert(&transaction, number) } }
        let ids = try (0..<50).map { try id(store, $0) }
        @Sendable func change(_ round: Int) throws {
            for id in ids { try store.write { try $0.set(id, "rating", to: .double(Double(round))) } }
        }
        try change(0)
        let before = store.memory
        let commitCount = Atomic(0)
        volume.onPageWrite.withLock { body in
            body = {
                do {
                    try change(commitCount.add(50, ordering: .relaxed).newValue)
                    let memory = store.memory
                    #expect(memory.pinnedVersionCount == 0 && memory.pageByteCount == before.pageByteCount)
                } catch { Issue.record("\(error)") }
            }
        }
        try store.checkpoint()
        volume.onPageWrite.withLock { $0 = nil }
        let rounds = commitCount.load(ordering: .relaxed) / 50
        #expect(rounds > 0)
        // The store does not write to frozen pages. It copies each changed page once, into chunks that it uses again from then on.
        let memory = store.memory
        #expect(memory.pageByteCount == before.pageByteCount && memory.reservedByteCount <= before.reservedByteCount + (1 << 20))
        try store.close()
        #expect(try Verification(volume.memory).isSound)
    }

    // MARK: Opening

    /// Returns the number of bytes that are read to open a store and to find one object.
    private func readByteCount(_ contents: [String: [UInt8]]) throws -> Int {
        let volume = WatchedVolume(contents: contents)
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 7))
        let graph = store.graph
        let note = try store.schema.required("Note")
        #expect(graph.place(note, identity: [.int(7)]) != nil && store.recovery.transactionCount == 0)
        let byteCount = volume.readByteCount.load(ordering: .relaxed)
        try store.close()
        return byteCount
    }

    @Test func `opening reads as much of a large graph as of a small one`() throws {
        var counts: [Int] = []
        for noteCount in [900, 1800, 3600] {
            let volume = MemoryVolume()
            let store = try Store.notes(volume, durability: .buffered(every: .seconds(3600)))
            let title = String(repeating: "title ", count: 2000)
            try store.write { transaction in
                for number in 0..<noteCount { try insert(&transaction, number, title: title + "\(number)") }
            }
            try store.checkpoint()
            try store.close()
            // An opening checks a smaller file completely.
            #expect(byteCount(volume.contents, "pages-") > LogTuning.standard.checkedByteCountMax)
            counts.append(try readByteCount(volume.contents))
        }
        // An opening reads 6 bytes for each chunk, and the chunks on the way to one object.
        #expect(counts.allSatisfy { $0 < 30 * 65_536 } && counts[2] - counts[0] < 2 * 65_536, "\(counts)")
    }

    @Test func `opening reads as much of a long log as of a short one`() throws {
        var counts: [Int] = []
        for updateCount in [10, 2000] {
            let volume = MemoryVolume()
            let store = try Store.notes(volume, durability: .buffered(every: .seconds(3600)))
            try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
            try store.write { transaction in for number in 0..<50 { try insert(&transaction, number) } }
            let ids = try (0..<50).map { try id(store, $0) }
            for round in 0..<updateCount {
                try store.write { try $0.set(ids[round % 50], "title", to: .string("the title of round \(round)")) }
                if round % 100 == 99 { try store.checkpoint() }
            }
            try store.checkpoint()
            try store.close()
            // The same chunks are checked, whatever they contain.
            let pages = byteCount(volume.contents, "pages-")
            counts.append(try readByteCount(volume.contents) - pages)
        }
        #expect(counts[1] <= counts[0] + 65_536, "\(counts)")
    }

    // MARK: Commits

    @Test func `a commit replaces about as many bytes of pages in a large graph as in a small one`() throws {
        var counts: [Int] = []
        for noteCount in [100, 3000] {
            let store = try Store.notes(durability: .buffered(every: .seconds(3600)))
            try store.write { transaction in for number in 0..<noteCount { try insert(&transaction, number) } }
            let changed = try id(store, noteCount / 2)
            let before = store.graph
            try store.write { try $0.set(changed, "rating", to: .double(1)) }
            // While the earlier graph is held, the pages that the commit replaced count as pinned.
            withExtendedLifetime(before) { counts.append(store.metrics.pinnedByteCount) }
        }
        #expect(counts[0] > 0 && counts[1] <= 2 * counts[0] + 4096, "\(counts)")
    }

    // MARK: Retention

    @Test func `after each compaction the disk has only what the retention keeps`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        for number in 0..<200 {
            try store.write { try insert(&$0, number, title: String(repeating: "title \(number) ", count: 10)) }
            if number % 20 == 19 { try store.checkpoint() }
        }
        func sizes() -> (log: Int, pages: Int) {
            let contents = volume.contents
            // The preallocated zeros after the frames of the last segment are not log.
            let last = contents.keys.filter { $0.hasSuffix(".log") }.max().flatMap { contents[$0] } ?? []
            let zeroCount = last.count - max((last.lastIndex { $0 != 0 } ?? 0) + 1, Format.Segment.headerByteCount)
            return (byteCount(contents, "log/") - zeroCount, byteCount(contents, "pages-"))
        }
        let whole = sizes()
        #expect(try store.compact(.all).logByteCount == 0)
        #expect(sizes() == whole)
        var last = whole
        let half = TransactionNumber(rawValue: 101)
        for retention in [Retention.since(.transaction(half)), .checkpoints(3), .checkpoints(1)] {
            let compaction = try store.compact(retention)
            let size = sizes()
            let begun = compaction.logByteCount - (last.log - size.log)
            #expect((0...Format.Segment.headerByteCount).contains(begun) && compaction.logByteCount > 0, "\(retention): \(begun)")
            #expect(try CheckpointRecord.list(volume).allSatisfy { $0 >= compaction.firstMoment })
            last = size
        }
        // A compaction removes the ops of each transaction. The rest of a transaction takes about 60 bytes.
        #expect(last.log < 201 * 100 && last.log < whole.log / 2, "\(last.log) of \(whole.log)")
        #expect(try Verification(volume).isSound)
    }

    // MARK: Churn

    @Test func `deleted generations of objects free their pages`() throws {
        let store = try Store.inMemory(schema: Notes.schema, environment: fixedEnvironment())
        let note = try store.schema.required("Note")
        var sizes: [Int] = []
        // The notes of a generation take several groups of 128 rows.
        let count = LongTests.areWanted ? 500 : 240
        for generation in 0..<40 {
            let old = Array(store.graph.objects(of: note))
            try store.write { transaction in
                for number in 0..<count { try insert(&transaction, generation * count + number) }
                for id in old { try transaction.delete(id) }
            }
            #expect(store.graph.objectCount == 2 * count)
            sizes.append(store.memory.pageByteCount)
        }
        // The serials are not used again, so the map of the serials grows by 4 bytes for every 128 of them.
        #expect(sizes.suffix(20).max() ?? 0 <= (sizes.prefix(10).max() ?? 0) + 8192, "\(sizes)")
        #expect(store.pageFindings == [] && store.graph.invariantFindings() == [])
    }
}
