import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Forged tables in chunks, with valid checksums.
@Suite struct ForgedTableTests {
    /// The parts of a checkpoint.
    struct Parts: Sendable {
        var record: [UInt8]
        var table: [UInt8]
        /// The chunks with their byte counts, the head first. The count of the head includes only the table's bytes in it.
        var places: [(chunk: Int, byteCount: Int)]
        /// The number of other parts that the head states.
        var partCount: Int
        var checksumFlaw: UInt32 = 0
        var headChunk: Int?

        init(_ encoded: CheckpointRecord.Encoded, table: [UInt8]) {
            record = encoded.record
            self.table = table
            partCount = encoded.parts.count - 1
            places = encoded.parts.map { ($0.chunk, $0.bytes.count) }
            places[0].byteCount -= 4 + partCount * 12
        }

        func entry(_ chunk: Int, after schemaByteCount: Int) -> Int { schemaByteCount + chunk * 6 }

        mutating func store(_ value: UInt32, at offset: Int) {
            for index in 0..<4 { record[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index)) }
        }

        /// Writes all parts into the files of a store.
        func write(to volume: MemoryVolume, _ path: String, pages: String) throws {
            let file = try volume.open(pages, .update)
            var rest = table[...]
            var head = ByteWriter()
            head.write(UInt32(truncatingIfNeeded: partCount))
            let first = Array(rest.prefix(places[0].byteCount))
            rest = rest.dropFirst(places[0].byteCount)
            for (chunk, byteCount) in places.dropFirst() {
                let bytes = Array(rest.prefix(byteCount))
                rest = rest.dropFirst(byteCount)
                head.write(UInt32(truncatingIfNeeded: chunk))
                head.write(UInt32(truncatingIfNeeded: byteCount))
                head.write(CRC32C.checksum(bytes) ^ checksumFlaw)
                if chunk < 1000 { try file.write(bytes, at: chunk * 65_536) }
            }
            head.write(first)
            if places[0].chunk < 1000 { try file.write(head.bytes, at: places[0].chunk * 65_536) }
            var copy = self
            copy.store(UInt32(truncatingIfNeeded: headChunk ?? places[0].chunk), at: 92)
            copy.store(UInt32(truncatingIfNeeded: head.bytes.count), at: 96)
            copy.store(CRC32C.checksum(head.bytes), at: 100)
            copy.store(CRC32C.checksum(Array(copy.record.dropLast(4))), at: copy.record.count - 4)
            try volume.replace(path, copy.record)
        }
    }

    struct Forgery: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// - Parameter schemaByteCount: The number of bytes of the schema's op, which precedes the entries.
        let body: @Sendable (inout Parts, _ schemaByteCount: Int) -> Void

        init(_ description: String, _ body: @escaping @Sendable (inout Parts, _ schemaByteCount: Int) -> Void) {
            (testDescription, self.body) = (description, body)
        }
    }

    static let forgeries = [
        Forgery("a head in a chunk that the record does not have") { parts, _ in parts.headChunk = 900 },
        Forgery("a head outside the file") { parts, _ in
            parts.store(1 << 20, at: 84)
            parts.headChunk = 1 << 20 - 1
        },
        Forgery("a head in chunk 0") { parts, _ in parts.headChunk = 0 },
        Forgery("a part in a chunk that the record does not have") { parts, _ in parts.places[1].chunk = 5000 },
        Forgery("a part that appears twice") { parts, _ in parts.places[2].chunk = parts.places[1].chunk },
        Forgery("parts that do not ascend") { parts, _ in parts.places.swapAt(1, 2) },
        Forgery("a part in the chunk of the head") { parts, _ in parts.places[1].chunk = parts.places[0].chunk },
        Forgery("the largest number of parts") { parts, _ in parts.partCount = Int(UInt32.max) },
        Forgery("one part fewer than the head states") { parts, _ in parts.partCount += 1 },
        Forgery("a part with more bytes than a chunk holds") { parts, _ in parts.places[1].byteCount = 1 << 30 },
        Forgery("a part without bytes, and a truncated table") { parts, _ in parts.places[1].byteCount = 0 },
        Forgery("a wrong checksum of each part") { parts, _ in parts.checksumFlaw = 1 },
        Forgery("fewer chunks than the table has") { parts, _ in parts.store(1, at: 84) },
        Forgery("more chunks than a store can have") { parts, _ in parts.store(.max, at: 84) },
        Forgery("a schema that is longer than its op") { parts, count in parts.store(UInt32(count + 6), at: 88) },
        Forgery("the longest schema that the record can state") { parts, _ in parts.store(.max, at: 88) },
        Forgery("an unknown kind") { parts, _ in parts.record[11] |= 0x80 },
        Forgery("a table in chunks, and extra bytes in the record") { parts, _ in parts.record += [0, 0, 0, 0] },
        Forgery("a table in chunks, although the record states that it has the table") { parts, _ in parts.record[11] = 0 },
        Forgery("a part in a chunk with pages") { parts, count in
            let entry = parts.entry(parts.places[1].chunk, after: count)
            parts.table.replaceSubrange(entry..<entry + 2, with: [1, 0])
        },
        Forgery("a chunk with pages that is also marked for the table") { parts, count in
            let entry = parts.entry(1, after: count)
            parts.table.replaceSubrange(entry..<entry + 2, with: [0xFF, 0xFF])
        },
        Forgery("a part in a chunk that is not marked for the table") { parts, count in
            let entry = parts.entry(parts.places[1].chunk, after: count)
            parts.table.replaceSubrange(entry..<entry + 6, with: [0, 0, 1, 0, 0, 0])
        },
        Forgery("a part with a checksum of pages") { parts, count in
            let entry = parts.entry(parts.places[1].chunk, after: count)
            parts.table[entry + 3] = 9
        },
        Forgery("a schema that cannot be decoded") { parts, _ in parts.table[0] ^= 0xFF },
    ]

    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers { try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")]) }
        }
    }

    /// Makes a store of four transactions, with checkpoints of the second and the third.
    private func made() throws -> (volume: MemoryVolume, digest: GraphDigest) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: CheckpointTableTests.tuning)
        for round in 0..<3 {
            try add(store, round * 50..<round * 50 + 50)
            if round < 2 { try store.checkpoint() }
        }
        try store.close()
        return (volume, store.graph.digest())
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: forgeries) func `an opening skips a forged table and reports it`(forgery: Forgery)
        throws
    {
        let (volume, digest) = try made()
        let number = TransactionNumber(rawValue: 3)
        let root = try #require(try PageFile.root(volume, store: StoreSettings.read(volume).store, number)).record
        let op = OpCodec.encode([.schema(root.schema)])
        var parts = Parts(root.encode(partByteCountMax: 300), table: CheckpointTable.encode(schemaOp: op, root.chunks, isPacked: false))
        let (path, pages) = (CheckpointRecord.path(number), PageFile.path(root.pageFile))
        try parts.write(to: volume, path, pages: pages)
        #expect(try ReadOnlyStore(volume).recovery.checkpoint == number)
        forgery.body(&parts, op.count)
        try parts.write(to: volume, path, pages: pages)
        let reader = try ReadOnlyStore(volume)
        #expect(reader.graph.digest() == digest && reader.recovery.notes.count == 1 && reader.recovery.checkpoint.rawValue == 2)
        #expect(try !Verification(volume).isSound)
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 5), tuning: CheckpointTableTests.tuning)
        #expect(store.graph.digest() == digest && store.recovery.notes.count == 1)
        try add(store, 1000..<1010)
        try store.checkpoint()
        try store.close()
        #expect(try Verification(volume).findings == [] && Store.reopened(volume).recovery.notes == [])
    }
}
