import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct UncleanShutdownTests {
    private static let roundCount = LongTests.areWanted ? 300 : 30

    private func byteCount(_ files: [String: [UInt8]]) -> Int { files.values.reduce(0) { $0 + $1.count } }

    private func made(_ tuning: LogTuning) throws -> [String: [UInt8]] {
        let volume = MemoryVolume()
        try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning).close()
        return volume.contents
    }

    @Test(arguments: [false, true])
    func `processes that die one after the other without writing leave the store as large as it was`(isTorn: Bool) throws {
        for tuning in [LogTuning.standard, .tiny] {
            let files = try made(tuning)
            var (contents, sizes) = (files, [Int]())
            for round in 0..<Self.roundCount {
                let volume = MemoryVolume(contents: contents)
                let store = try Store.open(
                    volume, durability: .synced, environment: fixedEnvironment(seed: UInt64(round)), tuning: tuning)
                store.abandon()
                if isTorn, let last = volume.contents.keys.filter({ $0.hasSuffix(".log") }).max() {
                    try volume.open(last, .update).write([9, 9, 9], at: try #require(volume.contents[last]).count)
                }
                contents = volume.contents
                sizes.append(byteCount(contents))
            }
            // A new segment follows a tail that was cut off. An opening makes this segment again if it has no frames, and may seal the one
            // before.
            #expect(sizes.allSatisfy { $0 <= byteCount(files) + (isTorn ? Format.Segment.headerByteCount + 50 : 0) })
            // A process that dies early has not sealed the segment before. The store grows at most once more, when a later process seals
            // it.
            #expect(Set(sizes.dropFirst(2)).count <= 2 && zip(sizes, sizes.dropFirst()).allSatisfy { $0 <= $1 })
            #expect(try Store.open(MemoryVolume(contents: contents), durability: nil).graph.schema.entities.count == 4)
        }
    }

    /// The bytes that a commit leaves for good, whatever its process did afterwards: a frame, a segment header and a file of ops.
    private static let byteCountMaxOfCommit = 400

    @Test(.enabled(if: LongTests.areWanted), arguments: [(Durability.synced, 300), (.buffered(every: .seconds(3600)), 60)])
    func `processes that die one after the other leave their commits and little more`(
        durability: Durability, roundCount: Int
    ) throws {
        for (tuning, roundCount) in [(LogTuning.standard, roundCount), (.tiny, 60)] {
            let files = try made(tuning)
            var contents = files
            for round in 0..<roundCount {
                let volume = FaultyVolume(contents: contents)
                let store = try Store.open(
                    volume, durability: durability, environment: fixedEnvironment(seed: UInt64(round)), tuning: tuning)
                try store.write { try $0.insert("Note", ["id": .int(Int64(round))]) }
                // Some processes die in the middle of another commit, and some of its files are incomplete.
                if round % 3 == 0 { volume.crash(at: volume.operationCount + round % 7) }
                _ = try? store.write { try $0.insert("Note", ["id": .int(Int64(round + 1000))]) }  // The note may exist.
                store.abandon()
                contents = volume.contents
            }
            let last = MemoryVolume(contents: contents)
            let store = try Store.open(last, durability: durability, tuning: tuning)
            let count = store.graph.objectCount
            #expect(count >= roundCount && store.graph.transaction.rawValue == UInt64(count) + 1)
            try store.close()
            #expect(byteCount(last.contents) < byteCount(files) + count * Self.byteCountMaxOfCommit)
            // The unfinished files of dead processes were removed.
            #expect(last.contents.keys.allSatisfy { !$0.hasSuffix(".pending") && !$0.hasSuffix(".new") })
            #expect(try Verification(last).findings.isEmpty)
        }
    }
}
