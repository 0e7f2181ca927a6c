import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Forged segments with valid checksums, which must be neither merged nor removed.
@Suite struct MergeForgeryTests {
    private let tuning = Merging.tuning

    /// Makes the sealer of a store that consists of some segments. The writer writes to the last segment.
    private func sealer(
        _ images: [(path: String, bytes: [UInt8])]
    ) throws -> (sealer: SegmentSealer, volume: MemoryVolume, end: TransactionNumber) {
        let settings = StoreSettings(store: SegmentImage.store, creationTime: SegmentImage.time, durability: .synced)
        let empty = MemoryVolume()
        try LogWriter.create(empty, settings, saltSeed: [UInt8](0..<16))
        let reader = try LogReader(empty)
        let writer = try LogWriter(reader, try reader.scan { _ in }, preallocates: false, tuning: tuning) { [UInt8](0..<16) }
        let files = Dictionary(images.map { ($0.path, $0.bytes) }) { $1 }
        let last = try #require(files.keys.max().flatMap { LogFileName.parse(String($0.dropFirst(4))) })
        // The sealer uses the writer's volume.
        for (path, bytes) in files {
            if try empty.exists(path) { try empty.remove(path) }
            try empty.create(path, bytes)
        }
        return (SegmentSealer(writer), empty, last.number)
    }

    /// Makes three sealed segments of three transactions each, and an open one. The header of each segment follows the segment before it.
    ///
    /// - Parameter change: Receives the first transaction of a segment, the checksum before it, its number of transactions and its store.
    private func images(
        _ change: (_ first: UInt64, _ previous: inout UInt32, _ count: inout Int, _ store: inout [UInt8]) -> Void = { _, _, _, _ in }
    ) -> [(path: String, bytes: [UInt8])] {
        var images: [SegmentImage] = []
        for first in [1, 4, 7, 10] as [UInt64] {
            var (previous, count, store) = (images.last?.lastChecksum ?? 0, first == 10 ? 1 : 3, SegmentImage.store)
            change(first, &previous, &count, &store)
            images.append(Self.image(first: first, after: previous, count: count, store: store))
        }
        return images.map { (path: $0.path, bytes: $0.header.firstTransaction.rawValue == 10 ? $0.bytes : $0.sealed) }
    }

    private func run(_ sealer: SegmentSealer, before end: TransactionNumber) throws -> SegmentRun {
        try #require(sealer.mergeableRuns(in: sealer.closedSegments(before: end)).first)
    }

    @Test func `sound segments are merged`() throws {
        let (sealer, volume, end) = try sealer(images())
        let run = try run(sealer, before: end)
        #expect(run.segments.map(\.rawValue) == [1, 4, 7] && end.rawValue == 10)
        let before = try Merging.records(volume)
        try sealer.merge(run)
        #expect(try Merging.kinds(volume) == [1: .sealed, 10: .open] && Merging.areSame(Merging.records(volume), before))
    }

    @Test func `segments that do not follow each other are not merged and stay unchanged`() throws {
        typealias Forgery = (UInt64, inout UInt32, inout Int, inout [UInt8]) -> Void
        let forgeries: [(String, Forgery)] = [
            ("another checksum", { first, previous, _, _ in if first == 4 { previous = 77 } }),
            ("another store", { first, _, _, store in if first == 4 { store = [UInt8](repeating: 9, count: 16) } }),
            ("fewer transactions", { first, _, count, _ in if first == 4 { count = 2 } }),
            ("more transactions", { first, _, count, _ in if first == 7 { count = 4 } }),
            ("not followed", { first, previous, _, _ in if first == 10 { previous = 78 } }),
        ]
        for (name, forge) in forgeries {
            let (sealer, volume, end) = try sealer(images(forge))
            let before = volume.contents
            let run = try run(sealer, before: end)
            #expect(code { try sealer.merge(run) } == .corrupted && volume.contents == before, "\(name)")
        }
    }

    private static func image(
        first: UInt64, after previous: UInt32, count: Int, store: [UInt8] = SegmentImage.store
    ) -> SegmentImage {
        var image = SegmentImage(first: first, after: previous, store: store, salt: UInt8(first))
        image.append(count)
        return image
    }

    @Test func `a segment that is older than the segment before it is refused without a trap`() throws {
        let (sealer, disk, last) = try sealer(forged(creationTime: -5, times: [-1, 0, 1], frameByteCount: 100))
        let before = disk.contents
        let run = try run(sealer, before: last)
        #expect(code { try sealer.merge(run) } == .corrupted && disk.contents == before)
    }

    @Test func `a sealed segment whose times decrease from frame to frame is refused without a trap`() throws {
        let (sealer, disk, last) = try sealer(forged(creationTime: 3, times: [5, 4, 6], frameByteCount: 1))
        let before = disk.contents
        let run = try run(sealer, before: last)
        #expect(code { try sealer.merge(run) } == .corrupted && disk.contents == before)
        #expect(code { _ = try Merging.records(disk) } == .corrupted)
        let (sound, other, end) = try self.sealer(forged(creationTime: 3, times: [4, 4, 6], frameByteCount: 1))
        try sound.merge(try self.run(sound, before: end))
        #expect(try Merging.records(other).count == 10)
    }

    /// Makes the same segments as `images()`, except that the second one has the given times, counted from `SegmentImage.time`.
    ///
    /// - Parameter frameByteCount: The number of bytes of transactions at which a frame of the second segment is complete.
    private func forged(creationTime: Int64, times: [Int64], frameByteCount: Int) throws -> [(path: String, bytes: [UInt8])] {
        var images = images()
        let (sound, _, _) = try sealer(images)
        let (previous, end) = (try #require(try checksum(sound, 1)), try #require(try checksum(sound, 4)))
        // The time is at byte 40 of the header. The frames' checksums depend on the checksum of the header, so a new segment is written.
        let header = SegmentHeader(
            kind: .sealed, store: SegmentImage.store, firstTransaction: TransactionNumber(rawValue: 4),
            creationTime: SegmentImage.time + creationTime, saltSeed: [UInt8](repeating: 4, count: 16), previousChecksum: previous)
        let volume = MemoryVolume()
        var writer = try SealedSegmentWriter(volume.open("forged", .create), header: header, frameByteCount: frameByteCount)
        for (place, time) in times.enumerated() {
            let metadata = TransactionMetadata(time: Timestamp(microsecondsSince1970: SegmentImage.time + time))
            try writer.append(
                LogRecord(
                    number: TransactionNumber(rawValue: UInt64(4 + place)), metadata: metadata, payload: .present([]),
                    source: LogSource(file: "", saltSeed: header.saltSeed), frameOffset: 0, byteCount: 0))
        }
        _ = try writer.finish(joints: [], checksum: end)
        images[1].bytes = try #require(volume.contents["forged"])
        return images
    }

    /// Returns the checksum at the end of a segment.
    private func checksum(_ sealer: SegmentSealer, _ segment: UInt64) throws -> UInt32? {
        try sealer.reader(of: TransactionNumber(rawValue: segment)).index?.previousChecksum
    }

    @Test func `segments with swapped names are neither sealed nor merged`() throws {
        for isSealed in [true, false] {
            var files = images()
            if !isSealed {
                var open: [SegmentImage] = []
                for first in [1, 4, 7, 10] as [UInt64] {
                    open.append(Self.image(first: first, after: open.last?.lastChecksum ?? 0, count: first == 10 ? 1 : 3))
                }
                files = open.map { ($0.path, $0.bytes) }
            }
            (files[0].bytes, files[1].bytes) = (files[1].bytes, files[0].bytes)
            let (sealer, volume, end) = try sealer(files)
            let before = volume.contents
            #expect(code { try sealer.seal(TransactionNumber(rawValue: 1)) } == .corrupted)
            #expect(code { try sealer.seal(TransactionNumber(rawValue: 4)) } == .corrupted)
            if isSealed {
                let run = try run(sealer, before: end)
                #expect(code { try sealer.merge(run) } == .corrupted && code { try sealer.removeCovered(before: end) } == .corrupted)
            }
            #expect(volume.contents == before)
        }
    }

    @Test func `a segment that differs from the merged one that covers it is not removed, and nothing is merged`() throws {
        for count in 1...4 {
            let (volume, _, covered) = try Merging.interrupted(covered: count)
            let last = try #require(covered.last)
            // Other transactions have the same numbers and valid checksums.
            let store = try StoreSettings.read(volume).store
            var other = SegmentImage(first: last.rawValue, store: store)
            other.append(2)
            try volume.replace(other.path, other.bytes)
            let before = volume.contents.filter { $0.key.hasPrefix("log/") }
            let opened = try Merging.open(volume)
            #expect(opened.sealingFailure?.code == .corrupted)
            opened.abandon()
            let after = volume.contents
            #expect(before.allSatisfy { after[$0.key] == $0.value || $0.key.hasSuffix("19.log") }, "\(count) covered")
        }
    }

    @Test func `an index that falsely claims the transactions of later segments removes none of them`() throws {
        var images: [SegmentImage] = []
        for first in [1, 4, 7, 10] as [UInt64] {
            images.append(Self.image(first: first, after: images.last?.lastChecksum ?? 0, count: first == 10 ? 1 : 3))
        }
        var files = images.map { (path: $0.path, bytes: $0.header.firstTransaction.rawValue == 10 ? $0.bytes : $0.sealed) }
        for claimed in [6, 9, 12] {
            files[0].bytes = images[0].sealed { $0.entries[2].transactionCount = claimed - 2 }
            let (sealer, volume, end) = try sealer(files)
            let before = volume.contents
            #expect(code { try sealer.removeCovered(before: end) } == .corrupted, "\(claimed) transactions")
            #expect(volume.contents == before, "\(claimed) transactions")
        }
    }

    @Test func `a wrong joint in the index of a merged segment makes its checkpoint corrupt`() throws {
        let volume = MemoryVolume()
        try Merging.made(volume).abandon()
        try Merging.open(volume).abandon()
        let path = "log/00000000000000000001.log"
        let reader = try SegmentReader(volume, path: path)
        var index = try #require(reader.index)
        let root = try #require(try CheckpointRecord.list(volume).first)
        let place = try #require(index.joints.firstIndex { $0.transactionCount == root.rawValue })
        index.joints[place].checksum ^= 1
        var contents = volume.contents
        contents[path] = Array(try #require(contents[path]).prefix(index.offset)) + index.encode(headerChecksum: reader.headerChecksum)
        let forged = MemoryVolume(contents: contents)
        #expect(code { _ = try ReadOnlyStore(forged) } == .corrupted && code { _ = try Merging.open(forged) } == .corrupted)
        #expect(try !Verification(forged).isSound)
    }
}
