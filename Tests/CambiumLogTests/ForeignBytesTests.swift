import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Bytes on the disk that do not belong to the log.
@Suite struct ForeignBytesTests {
    private static let settings = StoreSettings(store: SegmentImage.store, creationTime: SegmentImage.time, durability: .synced)

    private func files(_ segment: [UInt8]) -> MemoryVolume {
        MemoryVolume(contents: [StoreSettings.fileName: Self.settings.encode(), SegmentImage(first: 1).path: segment])
    }

    private func image(_ count: Int, store: [UInt8] = SegmentImage.store, salt: UInt8 = 1, first: UInt64 = 1) -> SegmentImage {
        var image = SegmentImage(first: first, store: store, salt: salt)
        for _ in 0..<count { image.append() }
        return image
    }

    @Test func `frames of a recycled file, of another position or of another store are not mistaken for transactions`() throws {
        let log = image(2)
        let others = [
            "another store": image(5, store: [UInt8](repeating: 8, count: 16)), "another segment": image(5, first: 9),
            "the segment that was there before": image(5, salt: 2),
        ]
        for (what, other) in others {
            #expect(other.offsets == image(5).offsets)
            // A disk has such bytes if the new length of a file is durable, but its blocks still have their old contents.
            let recycled = log.bytes + other.bytes.dropFirst(log.bytes.count)
            let end = try LogReader(files(recycled)).scan { _ in }
            #expect(end.lastTransaction.rawValue == 2, "\(what)")
            let (path, byteCount) = (log.path, recycled.count - log.bytes.count)
            #expect(end.verdict == .tornTail(file: path, offset: log.bytes.count, byteCount: byteCount), "\(what)")
        }
        let shifted = log.bytes + [1] + image(5).bytes.dropFirst(log.bytes.count)
        #expect(try LogReader(files(shifted)).scan { _ in }.lastTransaction.rawValue == 2)
        // At their own offset, the same bytes are valid transactions.
        #expect(try LogReader(files(log.bytes + image(5).bytes.dropFirst(log.bytes.count))).scan { _ in }.lastTransaction.rawValue == 5)
    }

    @Test func `a transaction is not earlier than the creation of an empty segment that another program made`() throws {
        let log = image(2)
        var header = SegmentImage(first: 3, after: log.lastChecksum).header
        header.creationTime += 3_600_000_000
        let volume = files(log.bytes)
        try volume.create(LogFileName.path(header.firstTransaction, .segment), header.encode())
        let store = try Store.open(volume, durability: .synced, environment: fixedEnvironment())
        // A compaction must refuse this time, because it is after the newest transaction.
        let time = Timestamp(microsecondsSince1970: header.creationTime)
        #expect(code { try store.compact(.since(.time(time)), effect: .preview) } == .notFound)
        try store.recordDigest()
        store.abandon()
        var last: TransactionMetadata?
        _ = try LogReader(volume).scan { last = $0.metadata }
        #expect(last?.time.microsecondsSince1970 == header.creationTime)
        #expect((last?.clockLag ?? .zero) > .zero)
    }

    @Test func `writing continues after a torn tail, and no frame of the tail ever reappears`() throws {
        // Frames 3 to 5 were written but not synced, and frame 3 never reached the disk.
        let (log, all) = (image(2), image(5))
        let hole = [UInt8](repeating: 0, count: all.offsets[3] - all.offsets[2])
        let volume = files(log.bytes + hole + all.bytes.dropFirst(all.offsets[3]))
        // Each of these frames states that the one before was durable.
        #expect(code { _ = try Store.open(volume, durability: nil) } == .corrupted)
        var silent = log.bytes + hole
        silent += log.frame(at: silent.count, durable: log.offsets[1])
        let torn = files(silent)
        for round in 0..<3 {
            let store = try Store.open(torn, durability: .synced, environment: fixedEnvironment(seed: UInt64(round)))
            #expect(store.graph.transaction.rawValue == UInt64(2 + round) && (store.recovery.cutByteCount > 0) == (round == 0))
            try store.recordDigest()
            store.abandon()
        }
        #expect(try Verification(torn).transactionCount == 5)
    }

    @Test func `a segment with more bytes after its frames than a writer leaves is refused`() throws {
        let memory = MemoryVolume()
        try Store.notes(memory).close()
        #expect(code { _ = try ReadOnlyStore(LongVolume(memory, byteCount: 1 << 20)) } == nil)
        #expect(code { _ = try ReadOnlyStore(LongVolume(memory, byteCount: 1 << 40)) } == .corrupted)
    }

    @Test func `blocks that reach the disk in any order leave a store that opens`() throws {
        var ends: Set<UInt64> = []
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .seconds(3600)))
        try store.write(durability: .synced) { try $0.insert("Note", ["id": .int(0)]) }
        let durable = store.graph.transaction.rawValue
        for number in 1...12 { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        var tornCount = 0
        for seed in 0..<UInt64(200) {
            let found = try Store.open(MemoryVolume(contents: volume.image(seed: seed)), durability: nil)
            #expect(found.graph.transaction.rawValue >= durable, "seed \(seed)")
            ends.insert(found.graph.transaction.rawValue)
            if found.recovery.cutByteCount > 0 { tornCount += 1 }
        }
        #expect(ends.count > 4 && tornCount > 50)
        store.abandon()
    }

    @Test func `a schema that is not the first op of its transaction is refused`() throws {
        var definition = Notes.definition
        definition.entities[3].attributes.append(AttributeDefinition("note", .string, .optional))
        let next = Op.schema(try SchemaMigration(from: Notes.schema, to: definition).after.catalog)
        for ops in [[next], [.label("here", TransactionNumber(rawValue: 1)), next]] {
            var image = SegmentImage(first: 1)
            image.append(payload: OpCodec.encode([.schema(Notes.schema.catalog)]))
            image.append(payload: OpCodec.encode(ops))
            let volume = MemoryVolume(contents: [StoreSettings.fileName: Self.settings.encode(), image.path: image.bytes])
            #expect(code { _ = try ReadOnlyStore(volume) } == (ops.count == 1 ? nil : .corrupted))
        }
    }
}

/// Files in memory. Each segment reports a given length: foreign bytes follow its content, as in a sparse file.
private final class LongVolume: OverMemory {
    let memory: MemoryVolume
    private let byteCount: Int

    var name: String { "long" }
    init(_ memory: MemoryVolume, byteCount: Int) { (self.memory, self.byteCount) = (memory, byteCount) }

    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        let file = try memory.open(path, mode)
        return path.hasSuffix(".log") ? LongFile(file, byteCount) : file
    }
}

private final class LongFile: VolumeFile {
    private let file: any VolumeFile
    private let length: Int

    init(_ file: any VolumeFile, _ length: Int) { (self.file, self.length) = (file, length) }

    func byteCount() throws(CambiumError) -> Int { length }
    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        let bytes = try file.read(at: offset, count: count)
        return bytes + [UInt8](repeating: 7, count: min(count - bytes.count, 1 << 16))
    }
    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) { try file.write(bytes, at: offset) }
    func truncate(to byteCount: Int) throws(CambiumError) { try file.truncate(to: byteCount) }
    func sync() throws(CambiumError) { try file.sync() }
    func close() { file.close() }
}
