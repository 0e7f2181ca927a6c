import Cambium
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

@Suite struct PastTests {
    private func add(_ store: Store, _ number: Int) throws {
        try store.write { transaction in
            let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
            try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
        }
    }

    /// Makes a store with one note in each transaction, and with a checkpoint after every `interval` notes. Returns the digest after each
    /// transaction as well.
    private func made(
        _ count: Int, checkpointEvery interval: Int = 10, tuning: LogTuning = .tiny
    ) throws -> (store: Store, volume: MemoryVolume, digests: [GraphDigest]) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var digests = [store.graph.digest()]
        for number in 1..<count {
            try add(store, number)
            digests.append(store.graph.digest())
            if number % interval == 0 { try store.checkpoint() }
        }
        return (store, volume, digests)
    }

    private func times(_ volume: any Volume) throws -> [Timestamp] {
        var times: [Timestamp] = []
        try TransactionLog(volume).forEach { times.append($0.metadata.time) }
        return times
    }

    private func moment(_ number: Int) -> Point { .transaction(TransactionNumber(rawValue: UInt64(number))) }

    @Test(.enabled(if: LongTests.areWanted), arguments: 0..<6 as Range<UInt64>)
    func `a view of an earlier moment does not depend on the moments that were read before`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (store, volume, digests) = try made(60)
        let times = try times(volume)
        let past = EarlierGraphs(volume, viewCountMax: Int(seed) % 4, byteCountMax: .max)
        for _ in 0..<150 {
            let number = Int.random(in: 1...60, using: &random)
            let point =
                random.isTrue(1, outOf: 3)
                ? Point.time(times[number - 1] + .microseconds(Int64.random(in: 0...9, using: &random))) : moment(number)
            let graph = random.isTrue(1, outOf: 2) ? try store.graph(at: point) : try past.graph(at: point)
            #expect(graph.transaction.rawValue == UInt64(number) && graph.digest() == digests[number - 1], "seed \(seed), \(point)")
        }
        #expect(past.memory.viewCount == Int(seed) % 4)
    }

    @Test func `a view of a later moment continues from the view of an earlier one`() throws {
        let (store, _, digests) = try made(100, checkpointEvery: 90)
        let past = try #require(store.past)
        let before = try store.graph(at: moment(20))
        #expect(past.replayedCount == 20)
        for number in 21...25 { #expect(try store.graph(at: moment(number)).digest() == digests[number - 1]) }
        #expect(past.replayedCount == 25)
        #expect(try store.graph(at: moment(25)).digest() == digests[24] && past.replayedCount == 25)
        // Another replay starts at the beginning, and the first one still continues.
        #expect(try store.graph(at: moment(5)).digest() == digests[4] && past.replayedCount == 30)
        #expect(try store.graph(at: moment(30)).digest() == digests[29] && past.replayedCount == 35)
        #expect(before.digest() == digests[19] && before.invariantFindings() == [])
        // A checkpoint is nearer.
        #expect(try store.graph(at: moment(92)).digest() == digests[91] && past.replayedCount == 36)
    }

    @Test func `the replay for a moment stops at that moment`() throws {
        let (store, volume, digests) = try made(60, checkpointEvery: 1000)
        try store.close()
        var contents = volume.contents
        let last = try #require(contents.keys.filter { $0.hasSuffix(".log") }.max())
        contents[last]?[100] ^= 1
        // The corruption lies beyond the moment.
        #expect(try ReadOnlyStore(MemoryVolume(contents: contents), point: moment(20)).graph.digest() == digests[19])
        #expect(code { _ = try ReadOnlyStore(MemoryVolume(contents: contents)) } != nil)
    }

    @Test func `a view of a later moment reads only the part of a large open segment that leads to it`() throws {
        var tuning = LogTuning.standard
        tuning.checkpointsInBackground = false
        let volume = WatchedVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var random = SplitMix64(seed: 1)
        for number in 1...1000 {
            // Compression halves these bytes.
            let title = (0..<500).map { _ in String(random.next(), radix: 16) }.joined()
            try store.write { _ = try $0.insert("Note", ["id": .int(Int64(number)), "title": .string(title)]) }
        }
        func readByteCount(_ past: EarlierGraphs, _ number: Int) throws -> Int {
            let before = volume.readByteCount.load(ordering: .relaxed)
            #expect(try past.graph(at: moment(number)).objectCount == number - 1)
            return volume.readByteCount.load(ordering: .relaxed) - before
        }
        let logByteCount = store.metrics.loggedByteCount
        #expect(logByteCount > 4 * FrameReader.windowByteCount)
        let small = 64 << 10
        let past = EarlierGraphs(volume)
        #expect(try readByteCount(past, 10) <= FrameReader.windowByteCount + small)
        _ = try readByteCount(past, 500)
        for number in 501...510 { #expect(try readByteCount(past, number) <= 2 * FrameReader.windowByteCount + small) }
        try store.close()
    }

    @Test func `a moment that does not exist is refused`() throws {
        let (store, volume, _) = try made(10)
        let past = EarlierGraphs(volume)
        for number in [0, 11, 1000] {
            #expect(code { _ = try store.graph(at: moment(number)) } == .notFound)
            #expect(code { _ = try past.graph(at: moment(number)) } == .notFound)
        }
        #expect(code { _ = try store.graph(at: .time(Timestamp(microsecondsSince1970: 5))) } == .notFound)
        #expect(code { _ = try store.graph(at: .label("none")) } == .notFound)
        #expect(try store.graph(at: .time(.max)).transaction.rawValue == 10)
        #expect(try past.graph(at: Point.latest).digest() == store.graph.digest())
        try store.label("here", TransactionNumber(rawValue: 4))
        #expect(try store.graph(at: .label("here")).transaction.rawValue == 4)
        #expect(try past.graph(at: .label("here")).transaction.rawValue == 4)
        let memory = try Store.inMemory(schema: Notes.schema)
        #expect(try memory.graph(at: .latest).transaction.rawValue == 1 && memory.graph(at: moment(1)).transaction.rawValue == 1)
        try add(memory, 1)
        #expect(code { _ = try memory.graph(at: moment(1)) } == .invalidInput)
        #expect(code { _ = try memory.graph(at: .time(.max)) } == .invalidInput)
        for number in [0, 3, 1000] { #expect(code { _ = try memory.graph(at: moment(number)) } == .notFound) }
    }

    @Test func `a retired moment is refused, even if it was shown before`() throws {
        let (store, volume, digests) = try made(60)
        // Another process reads these graphs and receives no notice of the compaction.
        let past = EarlierGraphs(volume)
        let shown = try (past.graph(at: moment(14)), past.graph(at: moment(25)), store.graph(at: moment(14)))
        _ = try past.graph(at: moment(44))
        try store.compact(.since(moment(41)))
        for number in [14, 25, 26] {
            #expect(code { _ = try past.graph(at: moment(number)) } == .notFound, "\(number)")
            #expect(code { _ = try store.graph(at: moment(number)) } == .notFound, "\(number)")
        }
        for number in [41, 44, 45, 50, 60] {
            #expect(try past.graph(at: moment(number)).digest() == digests[number - 1])
            #expect(try store.graph(at: moment(number)).digest() == digests[number - 1])
        }
        #expect(shown.0.digest() == digests[13] && shown.1.digest() == digests[24] && shown.2.digest() == digests[13])
    }

    @Test func `earlier graphs are kept only within the given limits`() throws {
        let (_, volume, digests) = try made(60)
        let past = EarlierGraphs(volume, viewCountMax: 3, byteCountMax: .max)
        for number in [55, 44, 33, 22, 12] { _ = try past.graph(at: moment(number)) }
        #expect(past.memory.viewCount == 3)
        let one = past.memory.byteCount / 3
        let few = EarlierGraphs(volume, viewCountMax: 3, byteCountMax: one + one / 2)
        for number in [55, 44, 33] { #expect(try few.graph(at: moment(number)).digest() == digests[number - 1]) }
        #expect(few.memory.viewCount == 1 && few.memory.byteCount <= one + one / 2)
        let none = EarlierGraphs(volume, byteCountMax: 0)
        #expect(try none.graph(at: moment(33)).digest() == digests[32] && none.memory.viewCount == 0)
        past.forget()
        #expect(past.memory.viewCount == 0 && past.memory.byteCount == 0)
    }

    @Test func `a closed store shows earlier moments, and keeps none of them`() throws {
        let (store, volume, digests) = try made(60)
        let past = try #require(store.past)
        for number in [25, 14] { _ = try store.graph(at: moment(number)) }
        #expect(past.memory.viewCount == 2)
        try store.close()
        #expect(try store.graph(at: moment(25)).digest() == digests[24])
        #expect(past.memory.viewCount == 0)
        // Another process can drop every checkpoint that the closed store has used.
        #expect(try CheckpointRecord.list(volume).allSatisfy { try !volume.isShared(CheckpointRecord.path($0)) })
    }

    @Test func `many threads read moments while another writes, makes checkpoints and compacts`() throws {
        let (store, volume, digests) = try made(80, checkpointEvery: 20)
        let past = EarlierGraphs(volume)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SplitMix64(seed: UInt64(thread))
            for round in 0..<30 {
                do {
                    if thread == 0 {
                        try add(store, 1000 + round)
                        if round % 5 == 0 { try store.checkpoint() }
                        if round == 15 { try store.compact(.since(moment(30))) }
                    } else {
                        let number = Int.random(in: 41...80, using: &random)
                        let graph = thread == 1 ? try past.graph(at: moment(number)) : try store.graph(at: moment(number))
                        #expect(graph.digest() == digests[number - 1])
                    }
                } catch { Issue.record("thread \(thread), round \(round): \(error)") }
            }
        }
    }
}
