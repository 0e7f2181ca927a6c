import CambiumBytes
import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumLog

/// A log that is long enough for a dedicated thread to read it.
@Suite struct LogReadAheadTests {
    private static let settings = StoreSettings(store: [UInt8](0..<16), creationTime: 1000, durability: .synced)
    private static let path = LogFileName.path(TransactionNumber(rawValue: 1), .segment)
    private static let count = 50

    /// Returns a log of durable transactions with payloads that cannot be compressed.
    private func log() throws -> MemoryVolume {
        let volume = MemoryVolume()
        try LogWriter.create(volume, Self.settings, saltSeed: [UInt8](repeating: 3, count: 16))
        let writer = try LogWriter.writer(volume)
        var random = SplitMix64(seed: 5)
        for number in 1...Self.count {
            try writer.append(number, (0..<50_000).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            try writer.sync()
        }
        return volume
    }

    private typealias Seen = (numbers: [TransactionNumber], payloads: [Payload], end: LogReader.End?, failure: CambiumError?)

    private func seen(_ scan: ((LogRecord) throws -> Void) throws -> LogReader.End) -> Seen {
        var seen: Seen = ([], [], nil, nil)
        do {
            seen.end = try scan { record in
                seen.numbers.append(record.number)
                seen.payloads.append(record.payload)
            }
        } catch {
            seen.failure = error as? CambiumError
        }
        return seen
    }

    private func compare(_ volume: MemoryVolume) throws -> Seen {
        let reader = try LogReader(volume)
        var cursor = try LogCursor(reader, from: TransactionNumber(rawValue: 1), mayBeWritten: false)
        #expect(try cursor.hasMore(than: LogReadAhead.byteCountMin))
        let here = seen { try reader.scan($0) }
        let ahead = seen { body in
            try reader.scanAhead(after: nil, makesDurable: false, preparing: [.ops, .leafHashes]) { batch in
                #expect(try batch.leafHashes == batch.records.map { try $0.leafHash() })
                try batch.records.forEachInPlace(body)
            }
        }
        #expect(here.numbers == ahead.numbers && here.payloads == ahead.payloads)
        #expect(here.end?.lastTransaction == ahead.end?.lastTransaction && here.end?.byteCount == ahead.end?.byteCount)
        #expect(here.failure?.code == ahead.failure?.code && here.failure?.description == ahead.failure?.description)
        return ahead
    }

    @Test func `reading ahead returns the same records of a long log`() throws {
        let seen = try compare(log())
        #expect(seen.numbers.count == Self.count && seen.end?.lastTransaction.rawValue == UInt64(Self.count) && seen.failure == nil)
    }

    @Test(arguments: [1, 300]) func `a prepared batch has the ops of the small transactions`(count: Int) throws {
        let id = ObjectID(root: EntityNumber(rawValue: 1), serial: 300)
        var random = SplitMix64(seed: 7)
        let content = (0..<2000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let set = Op.set(id, [Assignment(PropertyNumber(rawValue: 2), .data(content))])
        var serials = SerialRuns()
        serials.append(id.serial)
        let block = UpsertBlock(entity: EntityNumber(rawValue: 1), kind: .insert, serials: serials, identity: [], columns: [])
        let (small, mixed) = ([set, .delete([id]), set], [set, .upsert(block)])
        let payloads = [OpCodec.encode(small), OpCodec.encode(mixed), [], OpCodec.encode([set]) + [31], OpCodec.encode([set])]
        let expected: [[Op]?] = [small, nil, [], nil, [set]]
        let volume = MemoryVolume()
        try LogWriter.create(volume, Self.settings, saltSeed: [UInt8](repeating: 3, count: 16))
        let writer = try LogWriter.writer(volume)
        for number in 1...count * payloads.count { try writer.append(number, payloads[(number - 1) % payloads.count]) }
        try writer.sync()
        var seen = 0
        _ = try LogReader(volume).scanAhead(after: nil, makesDurable: false, preparing: .ops) { batch in
            for place in batch.records.indices {
                #expect(batch.opPlaces(of: place).map { Array(batch.ops[$0]) } == expected[seen % payloads.count])
                seen += 1
            }
        }
        #expect(seen == count * payloads.count)
    }

    @Test(.enabled(if: LongTests.areWanted)) func `corruption is reported after the records that verify before it`() throws {
        let volume = try log()
        for place in [3, 20, 40] {
            var files = volume.contents
            files[Self.path]?[place * 50_000] ^= 4
            let seen = try compare(MemoryVolume(contents: files))
            #expect(seen.failure?.code == .corrupted && seen.end == nil)
            #expect(seen.numbers.count < place && seen.numbers.count >= place - 2)
        }
    }

    @Test func `an error of the caller ends the reading`() throws {
        struct Enough: Error {}
        let reader = try LogReader(try log())
        for stop in [1, 7, Self.count] {
            var count = 0
            #expect(throws: Enough.self) {
                _ = try reader.scanAhead(after: nil, makesDurable: false, preparing: []) { batch in
                    for _ in batch.records {
                        count += 1
                        if count == stop { throw Enough() }
                    }
                }
            }
            #expect(count == stop)
        }
    }
}
