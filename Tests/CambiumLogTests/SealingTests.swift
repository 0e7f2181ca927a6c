import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct SealingTests {
    /// Sizes with which a segment fills after a few dozen transactions. Only the tests seal segments.
    private static let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        tuning.largeByteCount = 2000
        tuning.segmentByteCount = 3000
        tuning.sealsSegments = false
        tuning.sealedFrameByteCount = 700
        return tuning
    }()

    /// Makes and closes a store with several segments. Returns the Merkle root of its log as well.
    private func made() throws -> (volume: MemoryVolume, store: Store, root: String) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .buffered(every: .seconds(60)), environment: fixedEnvironment(), tuning: Self.tuning
        )
        for number in 0..<150 {
            let author = Author(actor: "actor \(number % 3)", message: number % 4 == 0 ? "message \(number % 8)" : nil)
            try store.write(author) { transaction in
                for copy in 0...(number == 77 ? 60 : 0) {
                    try transaction.insert("Note", ["id": .int(Int64(number * 1000 + copy)), "title": .string("a note, \(number)")])
                }
            }
        }
        try store.close()
        return (volume, store, try Verification(volume).root)
    }

    private func segments(_ volume: MemoryVolume) throws -> [TransactionNumber] {
        try volume.list("log").compactMap { LogFileName.parse($0) }.filter { $0.suffix == .segment }.map(\.number)
    }

    private func sealer(_ volume: any Volume) throws -> (SegmentSealer, LogWriter) {
        let reader = try LogReader(volume)
        let writer = try LogWriter(reader, try reader.scan { _ in }, preallocates: false, tuning: Self.tuning) { [UInt8](0..<16) }
        return (SegmentSealer(writer), writer)
    }

    private func seal(_ volume: MemoryVolume, _ segments: [TransactionNumber]) throws -> (before: Int, after: Int) {
        let (sealer, writer) = try sealer(volume)
        var total = (before: 0, after: 0)
        for segment in segments {
            let (before, after) = try #require(try sealer.seal(segment))
            total = (total.before + before, total.after + after)
            #expect(try sealer.seal(segment) == nil)
        }
        try writer.close()
        return total
    }

    private func records(_ volume: MemoryVolume, from first: UInt64 = 1) throws -> [LogRecord] {
        var records: [LogRecord] = []
        _ = try LogReader(volume).scan(from: TransactionNumber(rawValue: first)) { records.append($0) }
        return records
    }

    @Test func `a sealed segment has the same transactions in fewer bytes`() throws {
        let (volume, store, root) = try made()
        let all = try segments(volume)
        #expect(all.count > 2)
        let before = try records(volume)
        for count in 1..<all.count {
            let (old, new) = try seal(volume, [all[count - 1]])
            #expect(new < old)
            let after = try records(volume)
            #expect(zip(before, after).allSatisfy { $0.metadata == $1.metadata && $0.payload == $1.payload } && after.count == 151)
            let verification = try Verification(volume)
            #expect(verification.isSound && verification.root == root && verification.findings.isEmpty)
        }
        let reopened = try Store.open(volume, durability: nil)
        #expect(reopened.graph.digest() == store.graph.digest())
        try reopened.write { try $0.insert("Note", ["id": .int(-1)]) }
        try reopened.close()
        #expect(try records(volume).count == 152)
    }

    @Test func `a sealed segment with many long messages that rotate is not much larger than before`() throws {
        var (tuning, random) = (Self.tuning, SplitMix64(seed: 6))
        tuning.segmentByteCount = 20_000
        let messages = (0..<20).map { _ in (0..<16).map { _ in String(random.next(), radix: 36) }.joined() }
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .buffered(every: .seconds(60)), environment: fixedEnvironment(), tuning: tuning)
        for number in 0..<1000 {
            try store.write(Author(message: messages[number % 20])) { try $0.insert("Note", ["id": .int(Int64(number))]) }
        }
        try store.close()
        let root = try Verification(volume).root
        let first = try #require(try segments(volume).first)
        let (before, after) = try seal(volume, [first])
        #expect(before > 15_000 && after < 2 * before, "\(before) bytes before, \(after) after")
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.root == root && verification.findings.isEmpty)
    }

    @Test func `transactions of a sealed segment are read in any order`() throws {
        let (volume, _, _) = try made()
        _ = try seal(volume, try segments(volume).dropLast())
        let all = try records(volume)
        var random = SplitMix64(seed: 5)
        for first in (1...151).shuffled(using: &random) {
            let some = try records(volume, from: UInt64(first))
            #expect(some.map(\.number) == all[(first - 1)...].map(\.number))
            #expect(some.first?.metadata == all[first - 1].metadata && some.first?.payload == all[first - 1].payload)
        }
        #expect(try records(volume, from: 152).isEmpty)
    }

    @Test func `every byte of a sealed segment is verified`() throws {
        let (volume, _, root) = try made()
        let all = try segments(volume)
        let path = LogFileName.path(all[1], .segment)
        let open = try #require(volume.contents[path])
        _ = try seal(volume, [all[0], all[1]])
        let files = volume.contents
        let bytes = try #require(files[path])
        func isSound(_ content: [UInt8]?) -> Bool {
            var files = files
            files[path] = content
            return (try? records(MemoryVolume(contents: files)))?.count == 151
        }
        for offset in stride(from: 0, to: bytes.count, by: LongTests.areWanted ? 1 : 3) {
            var corrupt = bytes
            corrupt[offset] ^= 1 << UInt8(offset % 8)
            #expect(!isSound(corrupt), "byte \(offset)")
            if offset % 7 == 0 { #expect(!isSound(Array(bytes.prefix(offset))), "cut to \(offset) bytes") }
        }
        #expect(!isSound(nil) && !isSound(bytes + [0]) && isSound(bytes))
        // The segment in its earlier form is equally valid.
        #expect(isSound(open))
        #expect(try Verification(MemoryVolume(contents: files)).root == root)
    }

    @Test func `a repair reads past a corrupt index and stops at a corrupt frame`() throws {
        let (volume, store, root) = try made()
        let all = try segments(volume)
        _ = try seal(volume, try segments(volume).dropLast())
        let path = LogFileName.path(all[0], .segment)
        let bytes = try #require(volume.contents[path])
        let indexOffset = try #require(try SegmentReader(volume, path: path).index).offset
        let step = LongTests.areWanted ? 1 : 3
        for offset in stride(from: indexOffset, to: bytes.count, by: step) {
            var files = volume.contents
            files[path]?[offset] ^= 4
            let target = MemoryVolume()
            let repair = try Repair(MemoryVolume(contents: files), to: target, environment: fixedEnvironment())
            #expect(repair.root == root && repair.transactionCount == 151 && repair.findings.count == 1, "byte \(offset)")
            if (offset - indexOffset) % (16 * step) == 0 { #expect(try Store.reopened(target).graph.digest() == store.graph.digest()) }
        }
        for offset in stride(from: Format.Segment.headerByteCount + 600, to: indexOffset, by: 50 * step) {
            var files = volume.contents
            files[path]?[offset] ^= 4
            let repair = try Repair(MemoryVolume(contents: files), to: MemoryVolume(), environment: fixedEnvironment())
            #expect(repair.transactionCount < all[1].rawValue && !repair.findings.isEmpty, "byte \(offset)")
        }
    }

    @Test func `an opening opens each sealed segment at most twice to find work for the sealer`() throws {
        let (made, _, _) = try made()
        let all = try segments(made)
        _ = try seal(made, all.dropLast())
        let volume = CountingVolume(memory: made)
        let (sealer, writer) = try sealer(volume)
        volume.openCount.withLock { $0 = 0 }
        let last = try #require(all.last)
        try sealer.removeCovered(before: last)
        let closed = try sealer.closedSegments(before: last)
        #expect(closed.map(\.first) == Array(all.dropLast()) && !closed.contains { $0.isOpen })
        // The last sealed segment cannot cover another sealed one, so `removeCovered` does not open it.
        #expect(volume.openCount.withLock { $0 } == 2 * all.count - 3)
        try writer.close()
    }

    @Test func `the segments of one compaction are retired without further listings of the log`() throws {
        let volume = try WatchedVolume(contents: made().volume.contents)
        let all = try segments(volume.memory)
        #expect(all.count > 2)
        let (sealer, writer) = try sealer(volume)
        // An interrupted compaction leaves such files.
        for segment in all { try volume.memory.replace(LogFileName.path(segment, .ops), [1]) }
        var opsFiles = try sealer.opsFiles()
        let count = Guarded(0)
        let listing: @Sendable () throws -> Void = { count.withLock { $0 += 1 } }
        volume.beforeListing.withLock { $0 = Array(repeating: listing, count: 100) }
        for segment in all.dropLast() { try sealer.retire(segment, removing: &opsFiles) }
        #expect(count.withLock { $0 } == 0)
        let kept = try LogFileName.path(#require(all.last), .ops)
        #expect(volume.memory.contents.keys.filter { $0.hasSuffix(".ops") } == [kept])
        try writer.close()
    }

    /// - Parameter checkCount: how often the sealer finds the lock file in its place.
    @Test(arguments: [0, 1])
    func `a sealer whose lock file was removed replaces and removes no file of the log`(checkCount: Int) throws {
        let (volume, _, _) = try made()
        let (_, writer) = try sealer(volume)
        writer.lock = FleetingLock(checkCount: checkCount)
        let sealer = SegmentSealer(writer)
        let contents = volume.contents
        var opsFiles = try sealer.opsFiles()
        for segment in try segments(volume).dropLast() {
            let failure = code { try sealer.retire(segment, removing: &opsFiles) }
            #expect(failure == .ioFailure)
        }
        #expect(volume.contents.filter { !$0.key.hasSuffix(LogFileName.replacementSuffix) } == contents)
    }

    @Test func `a crash while a segment is sealed leaves it open or sealed`() throws {
        let (made, store, _) = try made()
        let segment = try segments(made)[1]
        func sealed(_ volume: FaultyVolume) throws {
            let reader = try LogReader(volume)
            let writer = try LogWriter(reader, try reader.scan { _ in }, preallocates: false, tuning: Self.tuning) { [UInt8](0..<16) }
            try SegmentSealer(writer).seal(segment)
        }
        let measured = FaultyVolume(contents: made.contents)
        try sealed(measured)
        var sealedCount = 0
        for operation in 0..<measured.operationCount {
            let volume = FaultyVolume(contents: made.contents)
            volume.crash(at: operation)
            #expect(code { try sealed(volume) } != nil)
            // Only after the last operations may the disk have the sealed segment in place of the open one.
            let seedCount: UInt64 = LongTests.areWanted || operation + 2 >= measured.operationCount ? 6 : 2
            for seed in 0..<seedCount {
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let opened = try Store.open(disk, durability: nil, tuning: Self.tuning)
                #expect(opened.graph.digest() == store.graph.digest(), "operation \(operation), seed \(seed)")
                try opened.close()
                #expect(try Verification(disk).findings.isEmpty, "operation \(operation), seed \(seed)")
                if try SegmentReader(disk, path: LogFileName.path(segment, .segment)).isSealed { sealedCount += 1 }
            }
        }
        #expect(sealedCount > 0)
    }

    @Test func `no segment is sealed after the store was closed`() throws {
        let (volume, _, _) = try made()
        let (_, writer) = try sealer(volume)
        let before = volume.contents
        var tuning = Self.tuning
        tuning.sealsSegments = true
        let sealing = Sealing(writer, tuning)
        sealing.close()
        // Another process may have opened the store by now.
        sealing.tidy()
        #expect(volume.contents == before)
        #expect(sealing.failure == nil)
        try writer.close()
    }

    @Test func `full segments are sealed in the background or by the next opening`() throws {
        var tuning = Self.tuning
        tuning.sealsInBackground = true
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .seconds(60)), tuning: tuning)
        for number in 0..<300 { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        try store.close()
        func kinds() throws -> [Bool] {
            try segments(volume).map { try SegmentReader(volume, path: LogFileName.path($0, .segment)).isSealed }
        }
        #expect(try !kinds().contains(true))
        tuning.sealsSegments = true
        let again = try Store.open(volume, durability: nil, tuning: tuning)
        for number in 300..<600 { try again.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        #expect(again.sealingFailure == nil)
        try again.close()
        // Closing leaves all segments that are not being sealed to the next opening.
        var rounds = 0
        while try kinds().dropLast().contains(false), rounds < 100 {
            let opened = try Store.open(volume, durability: nil, tuning: tuning)
            #expect(opened.graph.digest() == again.graph.digest())
            try opened.close()
            rounds += 1
        }
        #expect(try kinds().count > 4 && kinds().dropLast().allSatisfy { $0 } && kinds().last == false)
        #expect(try Verification(volume).isSound)
    }
}

/// Files in memory that count how often files are opened.
private final class CountingVolume: OverMemory {
    let memory: MemoryVolume
    let openCount = Guarded(0)

    init(memory: MemoryVolume) { self.memory = memory }

    var name: String { "counting" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        openCount.withLock { $0 += 1 }
        return try memory.open(path, mode)
    }
}

/// A lock whose file leaves its place after a number of checks.
private final class FleetingLock: VolumeLock {
    private let checkCount: Guarded<Int>

    init(checkCount: Int) { self.checkCount = Guarded(checkCount) }

    var isInPlace: Bool {
        checkCount.withLock { count in
            count -= 1
            return count >= 0
        }
    }
    func unlock() {}
}
