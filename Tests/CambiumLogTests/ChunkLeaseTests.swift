import CambiumBytes
import Testing

@testable import CambiumLog

@Suite struct ChunkLeaseTests {
    private let store = [UInt8](0..<16)
    private let record = LeaseRecord(chunks: [7: [0, 1, 2, 5, 9, 10], 3: [1_048_575]])

    @Test func `a lease lists the mapped chunks of each file`() throws {
        let bytes = record.encode(store: store)
        #expect(try LeaseRecord.decode(bytes, store: store) == record)
        #expect(bytes.count == 8 + 2 + 16 + 4 + (12 + 8) + (12 + 3 * 8) + 4)
    }

    @Test func `a corrupt or cut lease and a lease of another store are refused`() {
        let bytes = record.encode(store: store)
        for bit in 0..<bytes.count * 8 {
            var corrupted = bytes
            corrupted[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: DecodingError.self) { try LeaseRecord.decode(corrupted, store: store) }
        }
        for count in bytes.indices {
            #expect(throws: DecodingError.self) { try LeaseRecord.decode(Array(bytes.prefix(count)), store: store) }
        }
        #expect(throws: DecodingError.self) { try LeaseRecord.decode(bytes, store: store.reversed()) }
    }

    /// Returns a lease with any run of chunks and a matching checksum.
    private func forged(first: UInt32, count: UInt32, runCount: UInt32 = 1) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(record.encode(store: store).prefix(26))
        for number in [1, 7, 0, runCount, first, count] as [UInt32] { writer.write(number) }
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    @Test func `two leases with the same number have different names`() throws {
        let volume = MemoryVolume()
        let leases = try (0..<3).map { try ChunkLease(volume, store: store, name: .max, chunks: [1: [$0]]) }
        #expect(try ChunkLeases(of: volume, store: store).chunks(of: 1) == [0, 1, 2])
        withExtendedLifetime(leases) {}
    }

    @Test func `a forged lease cannot list the chunks of many files`() {
        var record = record
        record.chunks[9] = [1]
        #expect(throws: DecodingError.self) { try LeaseRecord.decode(record.encode(store: store), store: store) }
    }

    @Test func `a forged lease cannot list more chunks than a page file may have`() throws {
        #expect(try LeaseRecord.decode(forged(first: 4, count: 2), store: store).chunks == [7: [4, 5]])
        for (first, count) in [(0, 0), (0, 1_048_577), (1_048_576, 1), (.max, .max)] as [(UInt32, UInt32)] {
            #expect(throws: DecodingError.self) { try LeaseRecord.decode(forged(first: first, count: count), store: store) }
        }
        #expect(throws: DecodingError.self) { try LeaseRecord.decode(forged(first: 1, count: 1, runCount: .max), store: store) }
    }
}
