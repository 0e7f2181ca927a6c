import CambiumBytes
import CambiumModel
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct LogTests {
    private static let settings = StoreSettings(store: [UInt8](0..<16), creationTime: 1_700_000_000_000_000, durability: .synced)

    /// Returns an empty log on a volume in memory, and a writer for it.
    private func log(_ volume: MemoryVolume = MemoryVolume()) throws -> (MemoryVolume, LogWriter) {
        try LogWriter.create(volume, Self.settings, saltSeed: [UInt8](repeating: 3, count: 16))
        return (volume, try writer(volume))
    }

    private func writer(_ volume: MemoryVolume) throws -> LogWriter {
        let reader = try LogReader(volume)
        return try LogWriter(reader, try reader.scan { _ in }, preallocates: false) { [UInt8](repeating: 4, count: 16) }
    }

    private func scanned(_ volume: MemoryVolume) throws -> [LogRecord] {
        var records: [LogRecord] = []
        _ = try LogReader(volume).scan { records.append($0) }
        return records
    }

    private func transaction(_ number: Int, _ payload: [UInt8]) -> (metadata: TransactionMetadata, payload: [UInt8]) {
        let actor = number % 3 == 0 ? nil : "actor \(number % 3)"
        let metadata = TransactionMetadata(
            time: Timestamp(microsecondsSince1970: Self.settings.creationTime + Int64(number)), actor: actor,
            message: number % 2 == 0 ? "message" : nil,
            requestID: number % 5 == 0 ? "request \(number)" : nil)
        return (metadata, payload)
    }

    @Test func `transactions are read in order with their metadata and payloads`() throws {
        let (volume, writer) = try log()
        let written = (1...40).map { transaction($0, [UInt8](repeating: UInt8($0), count: $0 * 7)) }
        for transaction in written[..<30] { try writer.stage(transaction.metadata, EncodedOps(transaction.payload)) }
        for transaction in written[30...] { try writer.append(transaction) }
        try writer.close()
        let records = try scanned(volume)
        #expect(records.map(\.number.rawValue) == Array(1...40))
        #expect(records.map(\.metadata) == written.map(\.metadata))
        #expect(records.map(\.payload) == written.map { .present($0.payload[...]) })
    }

    @Test func `a copied transaction is never earlier than the transaction before it`() throws {
        let (source, writer) = try log()
        for number in 1...3 { try writer.append(transaction(number, [])) }
        try writer.close()
        let records = try scanned(source)
        let (volume, copy) = try log()
        for record in records.reversed() { try copy.append(record) }
        try copy.close()
        let copied = try scanned(volume)
        #expect(copied.map(\.metadata.actor) == records.reversed().map(\.metadata.actor))
        #expect(copied.map(\.metadata.time) == Array(repeating: records[2].metadata.time, count: 3))
    }

    /// Returns bytes that cannot be compressed. Their blocks are longer than the distance over which LZ4 finds matches.
    private func noise(_ byteCount: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(byteCount))
        let block = random.bytes(min(byteCount, 100_003))
        var noise: [UInt8] = []
        while noise.count < byteCount { noise += block.prefix(byteCount - noise.count) }
        return noise
    }

    @Test(arguments: [0, 1, 127, 128, 511, 512, 4096, 1 << 20, (1 << 20) + 1, 3 << 20])
    func `payloads of any size are read back, whether or not they compress`(byteCount: Int) throws {
        let (volume, writer) = try log()
        let payloads = [noise(byteCount), [UInt8](repeating: 5, count: byteCount)]
        for payload in payloads { try writer.append(transaction(1, payload)) }
        try writer.close()
        // In a debug build, only `Data` compares millions of bytes fast.
        var found: [Data] = []
        for record in try scanned(volume) {
            guard case .present(let bytes) = record.payload else { continue }
            found.append(Data(bytes))
        }
        #expect(found == [Data(payloads[0]), Data(payloads[1])])
        #expect(writer.appendedByteCount < byteCount + byteCount / 100 + 200)
    }

    @Test func `the first frame after a sync checks the lock, even if a frame was written during the sync`() throws {
        let (volume, writer) = try log()
        let lock = LosableLock()
        writer.lock = lock
        try writer.append(transaction(1, [1]))
        let sync = try #require(try writer.beginSync())
        try writer.append(transaction(2, [2]))
        writer.endSync(sync, sync.run())
        lock.isLost.withLock { $0 = true }
        #expect(throws: CambiumError.self) { try writer.append(transaction(3, [3])) }
        #expect(try scanned(volume).count == 2)
    }

    @Test func `a writer that has lost its lock leaves the file of ops of the next writer unchanged`() throws {
        let (volume, writer) = try log()
        let lock = LosableLock()
        writer.lock = lock
        try writer.append(transaction(1, [1]))
        let number = TransactionNumber(rawValue: 2)
        var abandoned = try [writer.makeOpsFile(number)]
        lock.isLost.withLock { $0 = true }
        let next = try self.writer(volume)
        let file = try next.makeOpsFile(number)
        abandoned.removeAll()
        #expect(throws: CambiumError.self) { _ = try writer.makeOpsFile(number) }
        try file.publish()
        #expect(try volume.exists(LogFileName.path(number, .ops)))
    }

    @Test func `texts that only look the same are stored unchanged`() throws {
        let (volume, writer) = try log()
        let actors = ["\u{E9}", "e\u{301}", "\u{E9}"]
        for actor in actors {
            try writer.stage(
                TransactionMetadata(time: Timestamp(microsecondsSince1970: Self.settings.creationTime), actor: actor), EncodedOps([1]))
        }
        try writer.close()
        #expect(try scanned(volume).map { Array(($0.metadata.actor ?? "").utf8) } == actors.map { Array($0.utf8) })
    }

    @Test func `a small transaction takes few bytes`() throws {
        let (_, writer) = try log()
        try writer.append(transaction(1, [UInt8](repeating: 1, count: 8)))
        let byteCount = try writer.append(transaction(7, [UInt8](repeating: 1, count: 8)))
        #expect(byteCount <= 22)
    }

    @Test func `a full segment is followed by another segment that continues the log`() throws {
        let (volume, writer) = try log()
        let noise = noise(1 << 20)
        for number in 1...66 { try writer.append(transaction(number, noise)) }
        try writer.close()
        #expect(volume.contents.keys.filter { $0.hasPrefix("log/") }.count == 2)
        #expect(try scanned(volume).map(\.number.rawValue) == Array(1...66))
        var files = volume.contents
        files["log/00000000000000000001.log"]?.removeLast()
        #expect(throws: CambiumError.self) { try self.scanned(MemoryVolume(contents: files)) }
    }

    @Test func `a segment with many different messages is followed by another segment`() throws {
        let (volume, _) = try log()
        // In a fast test, an eighth of the messages fills as many segments.
        let divisor = LongTests.areWanted ? 1 : 8
        let count = 600 / divisor
        var tuning = LogTuning.standard
        #expect(tuning.internedByteCount == 16 << 20)
        tuning.internedByteCount /= divisor
        // A joint begins with no messages, so few messages would collect between two joints.
        tuning.jointByteCount = .max
        let reader = try LogReader(volume)
        let end = try reader.scan { _ in }
        let writer = try LogWriter(reader, end, preallocates: false, tuning: tuning) { [UInt8](repeating: 4, count: 16) }
        for number in 1...count {
            var metadata = transaction(number, []).metadata
            metadata.message = "\(number)" + String(repeating: "x", count: 63_900)
            try writer.append((metadata, []))
        }
        // The messages have 38 MB, or 4.8 MB in a fast test, but they take little space in the log.
        #expect(writer.appendedByteCount < (1 << 20) / divisor)
        try writer.close()
        #expect(volume.contents.keys.filter { $0.hasPrefix("log/") }.count == 3)
        #expect(try scanned(volume).map(\.metadata.message?.utf8.count) == (1...count).map { "\($0)".utf8.count + 63_900 })
    }

    @Test func `a writer begins another frame if a frame has as many transactions as it may have`() throws {
        let (volume, _) = try log()
        var tuning = LogTuning.standard
        tuning.frameTransactionCountMax = 3
        let reader = try LogReader(volume)
        let end = try reader.scan { _ in }
        let writer = try LogWriter(reader, end, preallocates: false, tuning: tuning) { [UInt8](repeating: 4, count: 16) }
        for number in 1...7 { try writer.append(transaction(number, []).metadata, EncodedOps([])) }
        try writer.close()
        let records = try scanned(volume)
        #expect(records.map(\.number.rawValue) == Array(1...7))
        #expect(Set(records.map(\.frameOffset)).count == 3)
    }

    @Test func `a frame of more transactions than the limit is refused before they take memory`() throws {
        let (volume, writer) = try log()
        try writer.close()
        let path = LogFileName.path(TransactionNumber(rawValue: 1), .segment)
        let segment = try volume.bytes(of: path)
        let count = Format.Frame.transactionCountMax + 1
        var frame = ByteWriter()
        // Three zeros are a transaction without ops.
        _ = Frame.encode(
            region: [UInt8](repeating: 0, count: 3 * count), transactionCount: count, at: segment.count, durableOffset: 0,
            headerChecksum: ByteReader.peek(segment, at: Format.Segment.checksumOffset), to: &frame)
        try volume.open(path, .update).write(frame.bytes, at: segment.count)
        let error = #expect(throws: CambiumError.self) { _ = try LogReader(volume).scan { _ in } }
        #expect(error?.code == .corrupted && frame.count < 100_000)
    }

    @Test func `an index of more joints than the limit is refused before they take memory`() throws {
        let header = SegmentHeader(
            kind: .sealed, store: Self.settings.store, firstTransaction: TransactionNumber(rawValue: 1), creationTime: 0,
            saltSeed: [UInt8](repeating: 3, count: 16), previousChecksum: 0
        ).encode()
        let headerChecksum = ByteReader.peek(header, at: Format.Segment.checksumOffset)
        let count = Format.Index.entryCountMax + 1
        // A distance of 1, and a checksum of 0. Each step doubles the number of joints.
        var joints: [UInt8] = [1, 0, 0, 0, 0]
        while joints.count < 5 * count { joints += joints }
        var region = ByteWriter()
        region.write(UInt32(0))
        for number in [1, 8, 2 * count, 0, count] { region.writeVarint(number) }
        region.write(joints.prefix(5 * count))
        // The frame to which the index refers has 8 bytes.
        let offset = header.count + 8
        var index = ByteWriter()
        _ = Frame.encode(
            region: region.bytes, transactionCount: 0, at: offset, durableOffset: 0, headerChecksum: headerChecksum, to: &index)
        var trailer = ByteWriter()
        trailer.write(headerChecksum)
        trailer.write(UInt64(offset))
        trailer.write(CRC32C.checksum(trailer.bytes))
        var bytes = header + [UInt8](repeating: 0, count: 8)
        bytes += index.bytes
        bytes += trailer.bytes.dropFirst(4)
        let volume = MemoryVolume(contents: ["log/00000000000000000001.log": bytes])
        let error = #expect(throws: CambiumError.self) { _ = try SegmentReader(volume, path: "log/00000000000000000001.log") }
        #expect(error?.code == .corrupted && bytes.count < 200_000)
    }

    @Test func `the transactions after a frame that cannot be decoded keep their numbers`() throws {
        let header = SegmentHeader(
            kind: .sealed, store: Self.settings.store, firstTransaction: TransactionNumber(rawValue: 1), creationTime: 0,
            saltSeed: [UInt8](repeating: 3, count: 16), previousChecksum: 0)
        var bytes = header.encode()
        let headerChecksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        var index = SegmentIndex(previousChecksum: 0, joints: [])
        // Three zeros are a transaction without ops. No transaction has the flags 40: redacted, and ops in a file.
        let regions: [[UInt8]] = [[0, 0, 0, 0, 0, 0, 40, 0, 0], [0, 0, 0]]
        for region in regions {
            var frame = ByteWriter()
            _ = Frame.encode(
                region: header.saltSeed + region, transactionCount: region.count / 3, at: bytes.count, durableOffset: 0,
                headerChecksum: headerChecksum, to: &frame)
            index.entries.append(.init(byteCount: frame.count, transactionCount: region.count / 3, interval: 0))
            bytes += frame.bytes
        }
        let volume = MemoryVolume(contents: ["log/00000000000000000001.log": bytes + index.encode(headerChecksum: headerChecksum)])
        let salvage = LogSalvage(try LogReader(volume, settings: Self.settings))
        var numbers: [UInt64] = []
        try salvage.readFrames(of: header.firstTransaction...TransactionNumber(rawValue: 9)) { numbers.append($0.number.rawValue) }
        #expect(numbers == [4])
    }

    @Test func `the newest valid slot of HEAD counts`() throws {
        let head = Head(
            sequence: 6, segment: TransactionNumber(rawValue: 1), position: 500, lastTransaction: TransactionNumber(rawValue: 9),
            isClosed: true)
        var later = head
        later.sequence = 7
        let store = Self.settings.store
        let both = head.encode(store: store) + later.encode(store: store)
        #expect(Head.newest(both, store: store).head == later)
        #expect(Head.newest(both, store: [UInt8](repeating: 9, count: 16)).head == nil)
        for offset in 128..<256 {
            var corrupted = both
            corrupted[offset] ^= 16
            let found = Head.newest(corrupted, store: store)
            #expect(found.head == head && found.flaws.count == 1 && found.isTorn, "byte \(offset)")
        }
    }

    @Test(arguments: [StoreSettings.Durability.synced, .buffered(microseconds: 250_000)])
    func `settings are read back unchanged, and settings with a changed byte are refused`(durability: StoreSettings.Durability) throws {
        var settings = Self.settings
        settings.durability = durability
        let bytes = settings.encode()
        #expect(try StoreSettings.decode(bytes, file: "") == settings)
        for offset in bytes.indices {
            var corrupted = bytes
            corrupted[offset] ^= 1
            #expect(throws: CambiumError.self) { try StoreSettings.decode(corrupted, file: "") }
        }
    }

    @Test(arguments: [1, StoreSettings.keptDayCountMax, StoreSettings.keptDayCountMax + 1, .max])
    func `settings that keep more days than a century are refused, whatever their checksum is`(dayCount: Int) throws {
        var settings = Self.settings
        settings.keptDayCount = dayCount
        let bytes = settings.encode()
        if dayCount > StoreSettings.keptDayCountMax {
            #expect(throws: CambiumError.self) { try StoreSettings.decode(bytes, file: "") }
        } else {
            #expect(try StoreSettings.decode(bytes, file: "") == settings)
        }
    }

    @Test func `a writer whose disk failed writes nothing more`() throws {
        let (volume, writer) = try log()
        try volume.remove("HEAD")
        try writer.append(transaction(1, [1]))
        let failing = FailingVolume(volume)
        let reader = try LogReader(failing)
        let poisoned = try LogWriter(reader, try reader.scan { _ in }, preallocates: false) { [UInt8](repeating: 4, count: 16) }
        failing.isFull.store(true, ordering: .relaxed)
        #expect(throws: CambiumError.self) { try poisoned.append(self.transaction(2, [2])) }
        failing.isFull.store(false, ordering: .relaxed)
        let error = #expect(throws: CambiumError.self) { try poisoned.append(self.transaction(3, [3])) }
        #expect(error?.code == .notWritable)
        #expect(try scanned(volume).count == 1)
    }
}

/// A lock that a test can lose.
private final class LosableLock: VolumeLock {
    let isLost = Guarded(false)
    var isInPlace: Bool { isLost.withLock { !$0 } }
    func unlock() {}
}

extension LogWriter {
    /// Writes a transaction as a frame of its own.
    @discardableResult
    fileprivate func append(_ transaction: (metadata: TransactionMetadata, payload: [UInt8])) throws(CambiumError) -> Int {
        try stage(transaction.metadata, EncodedOps(transaction.payload))
        return try write()
    }
}
