import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Segments that receive no more frames are merged into one.
@Suite struct MergeTests {
    // MARK: Choice of segments

    @Test func `a segment joins the run if it has at most twice the bytes of the run so far`() {
        let one = TransactionNumber(rawValue: 1)
        var run = SegmentRun(TransactionNumber(rawValue: 9), byteCount: 100, isRetired: false)
        let isTooLong = run.add(one, byteCount: 201, isRetired: false, byteCountMax: 1000)
        let isOfAnotherKind = run.add(one, byteCount: 200, isRetired: true, byteCountMax: 1000)
        let isBeyondLimit = run.add(one, byteCount: 200, isRetired: false, byteCountMax: 299)
        #expect(!isTooLong && !isOfAnotherKind && !isBeyondLimit && run.segments.map(\.rawValue) == [9])
        let isSecond = run.add(TransactionNumber(rawValue: 5), byteCount: 200, isRetired: false, byteCountMax: 300)
        #expect(isSecond && run.byteCount == 300 && run.segments.map(\.rawValue) == [5, 9])
        let isThird = run.add(one, byteCount: 600, isRetired: false, byteCountMax: 1000)
        #expect(isThird && run.byteCount == 900 && run.segments.map(\.rawValue) == [1, 5, 9])
    }

    /// Adds segments of these sizes one by one. Returns the maximum number of segments at a time, and the bytes that merging wrote.
    private func merged(_ sizes: [Int], byteCountMax: Int) -> (countMax: Int, written: Int) {
        var (segments, countMax, written) = ([Int](), 0, 0)
        for size in sizes {
            segments.append(size)
            var run = SegmentRun(TransactionNumber(rawValue: 1), byteCount: segments.removeLast(), isRetired: false)
            while let last = segments.last,
                run.add(TransactionNumber(rawValue: 1), byteCount: last, isRetired: false, byteCountMax: byteCountMax)
            { segments.removeLast() }
            if run.segments.count > 1 { written += run.byteCount }
            segments.append(run.byteCount)
            countMax = max(countMax, segments.count)
        }
        return (countMax, written)
    }

    @Test func `n small segments become O(log n), and each byte is written again O(log n) times`() {
        let equal = merged(Array(repeating: 1000, count: 4096), byteCountMax: .max)
        #expect(equal.countMax <= 12 && equal.written <= 4096 * 1000 * 12, "\(equal)")
        var random = SplitMix64(seed: 8)
        for _ in 0..<20 {
            let sizes = (0..<2000).map { _ in Int.random(in: 200...(random.pick([300, 20_000, 2_000_000]) ?? 300), using: &random) }
            let found = merged(sizes, byteCountMax: .max)
            #expect(found.countMax <= 24 && found.written <= sizes.reduce(0, +) * 24, "\(found)")
        }
        let limited = merged(Array(repeating: 1000, count: 4096), byteCountMax: 64_000)
        #expect(limited.countMax <= 4096 / 32 + 12 && limited.written <= 4096 * 1000 * 8, "\(limited)")
    }

    // MARK: Merged segments

    @Test func `neighboring segments become one with the same transactions, and every checkpoint still fits`() throws {
        let volume = MemoryVolume()
        let store = try Merging.made(volume)
        let (before, root, roots) = (try Merging.records(volume), try Verification(volume).root, try CheckpointRecord.list(volume))
        #expect(try Merging.kinds(volume).count == 6 && roots.count == 5)
        try store.close()
        let again = try Merging.open(volume)
        #expect(try again.sealingFailure == nil && Merging.kinds(volume) == [1: .sealed, 19: .open])
        #expect(try Merging.areSame(Merging.records(volume), before))
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.root == root && verification.digest == store.graph.digest())
        for number in roots {
            let opened = try ReadOnlyStore(volume, point: .transaction(number.next))
            #expect(opened.recovery.checkpoint == number && opened.graph.objectCount == Int(number.rawValue), "\(number)")
        }
        for first in 1...19 {
            #expect(try Merging.areSame(Merging.records(volume, from: UInt64(first)), Array(before[(first - 1)...])))
        }
        try Merging.add(again, 90)
        try again.close()
        #expect(try Verification(volume).findings == [] && Merging.open(volume).graph.export == again.graph.export)
    }

    @Test func `the index of a merged segment lists each joint and the end of each segment`() throws {
        let volume = MemoryVolume()
        let store = try Merging.made(volume)
        let ends = try LogDirectory.segments(volume).dropFirst().map { $0.rawValue - 1 }
        let joints = try CheckpointRecord.list(volume).map(\.rawValue)
        store.abandon()
        try Merging.open(volume).abandon()
        let index = try #require(try SegmentReader(volume, path: "log/00000000000000000001.log").index)
        #expect(index.joints.map(\.transactionCount) == Set(ends.dropLast() + joints).sorted())
        #expect(index.transactionCount == ends.last)
    }

    @Test func `a run has a maximum size, and merged segments are merged again`() throws {
        let volume = MemoryVolume()
        try Merging.made(volume).close()
        var tuning = Merging.tuning
        tuning.mergedByteCountMax = 1000
        for _ in 0..<6 { try Merging.open(volume, tuning: tuning).close() }
        let sizes = try LogDirectory.segments(volume).dropLast().map { try LogDirectory.byteCount(volume, $0) }
        #expect(sizes.count > 1 && sizes.count < 5 && sizes.allSatisfy { $0 <= 1000 }, "\(sizes)")
        try Merging.open(volume).close()
        #expect(try Merging.kinds(volume) == [1: .sealed, 19: .open] && Verification(volume).findings == [])
    }

    // MARK: Processes that die

    @Test(.enabled(if: LongTests.areWanted)) func `processes that die with a torn tail leave few segments`() throws {
        let volume = MemoryVolume()
        var store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: Merging.tuning)
        var countMax = 0
        for number in 0..<400 {
            store = try Merging.takeOver(store, volume, number)
            if number % 40 == 7 { try store.checkpoint() }
            #expect(store.sealingFailure == nil)
            countMax = max(countMax, try LogDirectory.files(volume).segmentCount)
        }
        try store.close()
        #expect(countMax <= 20, "\(countMax)")
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.transactionCount == 401 && verification.digest == store.graph.digest())
    }

    @Test(.enabled(if: LongTests.areWanted)) func `short-lived processes merge the segments that earlier processes left`() throws {
        let volume = MemoryVolume()
        // With the default settings, a store merges segments while other threads write, or when it closes.
        try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment()).close()
        var countMax = 0
        for number in 0..<200 {
            let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: UInt64(number)))
            try Merging.add(store, number)
            if number % 2 == 0 {
                try store.close()
                #expect(store.sealingFailure == nil)
            } else {
                store.abandon()
                try Merging.tear(volume)
            }
            countMax = max(countMax, try LogDirectory.files(volume).segmentCount)
        }
        #expect(countMax <= 20, "\(countMax)")
        #expect(try Verification(volume).transactionCount == 201 && Verification(volume).isSound)
    }

    // MARK: Retired segments

    @Test(.enabled(if: LongTests.areWanted)) func `frequent compactions leave few retired segments`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: Merging.tuning)
        var countMax = 0
        for number in 0..<120 {
            try Merging.add(store, number)
            try store.compact(.since(.latest))
            #expect(store.sealingFailure == nil)
            countMax = max(countMax, try LogDirectory.files(volume).segmentCount)
        }
        #expect(countMax <= 14, "\(countMax)")
        #expect(try LogReader(volume).retiredEnd().rawValue > 119 && Merging.kinds(volume).values.filter { $0 == .open }.count == 1)
        try store.close()
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.digest == store.graph.digest())
        #expect(!volume.contents.keys.contains { $0.hasSuffix(".ops") })
    }

    @Test func `retired segments are never merged with others`() throws {
        let volume = MemoryVolume()
        let store = try Merging.made(volume)
        let root = try Verification(volume).root
        try store.close()
        let again = try Merging.open(volume, tuning: Merging.apart)
        try again.compact(.since(.transaction(TransactionNumber(rawValue: 9))))
        #expect(try Merging.kinds(volume).filter { $0.value == .retired }.keys.sorted() == [1, 5])
        try again.close()
        let merged = try Merging.open(volume)
        #expect(try Merging.kinds(volume).filter { $0.key < 19 } == [1: .retired, 7: .sealed])
        #expect(try merged.graph.export == again.graph.export && Verification(volume).root == root && Verification(volume).isSound)
        #expect(try LogReader(volume).retiredEnd().rawValue == 6)
        #expect(code { _ = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 5))) } == .notFound)
        try merged.compact(.since(.latest))
        #expect(try Verification(volume).isSound)
    }

    @Test(.enabled(if: LongTests.areWanted)) func `an interrupted retirement is finished after its segment was merged`() throws {
        let volume = FaultyVolume()
        let store = try Merging.made(volume, tuning: Merging.apart)
        try store.checkpoint()
        let begun = volume.operationCount
        try store.compact(.since(.latest))
        var leftCount = 0
        for operation in begun..<volume.operationCount {
            let disk = FaultyVolume()
            let store = try Merging.made(disk, tuning: Merging.apart)
            try store.checkpoint()
            disk.crash(at: operation)
            do { try store.compact(.since(.latest)) } catch {}  // The process has died.
            let left = MemoryVolume(contents: disk.image(seed: UInt64(operation)))
            let again = try Merging.open(left)
            let end = try LogReader(left).retiredEnd()
            leftCount += try left.list("log").compactMap(LogFileName.parse).filter { $0.suffix == .ops && $0.number <= end }.count
            try again.compact(.since(.latest))
            try again.close()
            #expect(!left.contents.keys.contains { $0.hasSuffix(".ops") }, "operation \(operation)")
            #expect(try Verification(left).findings == [], "operation \(operation)")
        }
        #expect(leftCount > 0)
    }
}
