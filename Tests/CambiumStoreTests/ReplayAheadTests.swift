import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

@Suite struct ReplayAheadTests {
    /// Makes a store with one transaction whose ops are decoded while they are applied.
    private func made(tuning: LogTuning) throws -> (volume: MemoryVolume, digest: GraphDigest) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var random = SplitMix64(seed: 3)
        var rows = "["
        for number in 0..<3000 {
            let title = (0..<8).map { _ in String(random.next(), radix: 36) }.joined()
            rows += "\(number == 0 ? "" : ","){\"id\": \(number), \"title\": \"\(title)\"}"
        }
        try store.importing("Note", rows + "]")
        for number in 0..<20 { try store.write { try $0.insert("Note", ["id": .int(Int64(10_000 + number))]) } }
        store.abandon()
        return (volume, store.graph.digest())
    }

    private static let tunings: [LogTuning] = {
        var files = LogTuning()
        (files.largeByteCount, files.opsFrameByteCount) = (100_000, 10_000)
        return [.standard, files]
    }()

    private func large(_ volume: any Volume) throws -> LogRecord {
        var found: LogRecord?
        _ = try LogReader(volume).scan { if $0.number.rawValue == 2 { found = $0 } }
        return try #require(found)
    }

    @Test(arguments: [0, 1])
    func `a large transaction is decoded ahead and results in the same graph`(kind: Int) throws {
        let (volume, digest) = try made(tuning: Self.tunings[kind])
        #expect(try large(volume).byteCount > 256 << 10)
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3), tuning: Self.tunings[kind])
        #expect(store.graph.digest() == digest && store.graph.objectCount == 3020 && store.recovery.transactionCount == 22)
    }

    @Test func `corruption in ops that are decoded ahead is reported, wherever it is`() throws {
        let (volume, _) = try made(tuning: Self.tunings[1])
        let path = try #require(volume.contents.keys.first { $0.hasSuffix(".ops") })
        let byteCount = try #require(volume.contents[path]?.count)
        for place in 0..<12 {
            var contents = volume.contents
            contents[path]?[100 + place * (byteCount - 101) / 11] ^= 4
            #expect(code { _ = try ReadOnlyStore(MemoryVolume(contents: contents)) } == .corrupted, "place \(place)")
        }
    }

    @Test func `an op that cannot be applied ends the decoding of the ops after it`() throws {
        for tuning in Self.tunings {
            let record = try large(made(tuning: tuning).volume)
            let timeline = Timeline()
            var first = timeline.draft()
            try first.apply(.schema(Notes.schema.catalog))
            try Replay.replay(&first, record)
            try timeline.publish(first)
            let count = timeline.head.objectCount
            var second = timeline.draft()
            // All objects that the transaction inserts exist already.
            #expect(code { try Replay.replay(&second, record) } == .corrupted)
            _ = consume second
            #expect(timeline.head.objectCount == count && count == 3000)
        }
    }
}
