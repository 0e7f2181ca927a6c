import CambiumModel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumLog

/// A log with a small transaction and a second one of a given size, whose write ends at any position.
@Suite struct RecordSizeTests {
    private static let settings = StoreSettings(store: [UInt8](0..<16), creationTime: 1000, durability: .synced)
    private static let path = LogFileName.path(TransactionNumber(rawValue: 1), .segment)
    private static let page = 4096

    /// A log whose second transaction has a payload of a given size that cannot be compressed.
    private struct Log {
        let payload: [UInt8]
        /// The files of the log.
        private(set) var files: [String: [UInt8]]
        /// The bytes of the segment, and the offset of the second transaction's frame in it.
        let bytes: [UInt8]
        let offset: Int

        init(_ byteCount: Int) throws {
            var random = SplitMix64(seed: 7)
            // A block is longer than the distance over which LZ4 finds matches.
            let block = (0..<min(byteCount, 100_003)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            var payload: [UInt8] = []
            while payload.count < byteCount { payload += block.prefix(byteCount - payload.count) }
            self.payload = payload
            let volume = MemoryVolume()
            try LogWriter.create(volume, RecordSizeTests.settings, saltSeed: [UInt8](repeating: 3, count: 16))
            let writer = try LogWriter.writer(volume)
            try writer.append(1, [1, 2, 3])
            try writer.sync()
            offset = try #require(volume.contents[RecordSizeTests.path]).count
            try writer.append(2, payload)
            files = volume.contents
            bytes = try #require(files[RecordSizeTests.path])
        }

        /// Returns a volume with the files of the log, except that the segment has other bytes.
        func with(_ bytes: [UInt8]) -> MemoryVolume {
            var files = files
            files[RecordSizeTests.path] = bytes
            return MemoryVolume(contents: files)
        }

        /// Returns the segment that a kill may leave after a part of the frame was written, or `nil` if the whole frame is there.
        func remains(_ length: Int, _ kind: Remains) -> [UInt8]? {
            let missing = kind == .end ? bytes[offset..<length] : bytes[length...]
            guard kind == .beginning ? !missing.isEmpty : missing.contains(where: { $0 != 0 }) else { return nil }
            func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
            switch kind {
            case .beginning: return Array(bytes[..<length])
            case .beginningThenZeros: return Array(bytes[..<length]) + zeros(bytes.count - length)
            case .end: return Array(bytes[..<offset]) + zeros(length - offset) + Array(bytes[length...])
            }
        }
    }

    /// The part of a frame that was written. In `beginningThenZeros` preallocated zeros follow it.
    private enum Remains: CaseIterable { case beginning, beginningThenZeros, end }

    /// Returns the payloads of all frames up to the first one that does not verify.
    private func payloads(_ volume: MemoryVolume) throws -> [ArraySlice<UInt8>] {
        var reader = try SegmentReader(volume, path: Self.path)
        var payloads: [ArraySlice<UInt8>] = []
        while let records = try reader.nextFrame() {
            for case .present(let bytes) in records.map(\.payload) { payloads.append(bytes) }
        }
        return payloads
    }

    @Test(arguments: [0, 1, 2048, page - 1, page, page + 1, 1 << 20, 64 << 20])
    func `a record of any size is read whole or not at all, wherever its write ended`(byteCount: Int) throws {
        let log = try Log(byteCount)
        #expect(log.bytes.count >= log.offset + byteCount)
        var random = SplitMix64(seed: UInt64(byteCount))
        let last = log.bytes.count - 1
        let isLarge = byteCount > 2 * Self.page
        // Each length of a record of 64 MiB copies this record several times.
        let firstCount = isLarge ? (byteCount <= 1 << 20 || LongTests.areWanted ? 3 : 0) : 2 * Self.page
        var lengths = Set(log.offset...min(last, log.offset + firstCount))
        lengths.insert(Int.random(in: log.offset...last, using: &random))
        for length in lengths.union([last]) {
            for kind in Remains.allCases where kind == .beginning || isLarge || length % 16 == 1 {
                guard let remains = log.remains(length, kind) else { continue }
                #expect(try payloads(log.with(remains)) == [[1, 2, 3]], "\(length) bytes, \(kind)")
            }
        }
        // In a debug build, only `Data` compares millions of bytes fast.
        #expect(try payloads(log.with(log.bytes)).map { Data($0) } == [Data([1, 2, 3]), Data(log.payload)])
    }

    @Test(arguments: [0, 1, 2048, page - 1, page, page + 1])
    func `the remains of a torn record are cut off, and writing continues after the cut`(byteCount: Int) throws {
        let log = try Log(byteCount)
        var verdicts = 0
        for length in Set([log.offset, log.offset + 1, (log.offset + log.bytes.count) / 2, log.bytes.count - 1]) {
            for kind in Remains.allCases {
                guard let remains = log.remains(length, kind) else { continue }
                let volume = log.with(remains)
                let writer = try LogWriter.writer(volume)
                try writer.append(2, [9])
                try writer.close()
                var found: [ArraySlice<UInt8>] = []
                let verdict = try LogReader(volume).scan { if case .present(let bytes) = $0.payload { found.append(bytes) } }.verdict
                #expect(verdict == .clean && found == [[1, 2, 3], [9]], "\(length) bytes")
                verdicts += 1
            }
        }
        #expect(verdicts >= 6)
    }
}

extension LogWriter {
    static func writer(_ volume: MemoryVolume) throws -> LogWriter {
        let reader = try LogReader(volume)
        return try LogWriter(reader, try reader.scan { _ in }, preallocates: false) { [UInt8](repeating: 4, count: 16) }
    }

    func append(_ number: Int, _ payload: [UInt8]) throws {
        try stage(TransactionMetadata(time: Timestamp(microsecondsSince1970: 2000 + Int64(number))), EncodedOps(payload))
        try write()
    }
}
