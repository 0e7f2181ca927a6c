import Cambium
import CambiumBytes
import CambiumLog
import CambiumModel

/// The record of a checkpoint, whose checksum is made to fit: what is read is written with bytes that say the same. Whatever it says, the
/// store behind it comes to the graph that its log comes to, or is refused; but for what it says of the pages' content, which is taken on
/// the word of its checksum.
enum RootTarget {
    private struct Sample {
        let contents: [String: [UInt8]]
        let transaction: TransactionNumber
        let record: RootRecord
        let digest: GraphDigest

        var path: String { RootRecord.path(transaction) }

        init() throws {
            let volume = MemoryVolume(contents: try SampleStore().files)
            let store = try Store.open(volume, durability: nil, surroundings: SampleStore.surroundings)
            try store.label("the label")
            transaction = try store.checkpoint().transaction
            try store.write { try $0.insert("Tag", ["name": .string("behind it")]) }
            try store.close()
            contents = volume.contents
            digest = store.graph.digest()
            guard let root = try PageFile.root(volume, store: SampleStore.settings.store, transaction) else {
                throw Finding("the checkpoint of the sample does not verify")
            }
            record = root.record
        }
    }

    private static let sample = Result { try Sample() }

    @Sendable static func seeds() throws -> [[UInt8]] {
        let sample = try sample.get()
        return [sample.contents[sample.path] ?? []]
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        var bytes = input
        mend(&bytes)
        let sample = try sample.get()
        let volume = MemoryVolume(contents: sample.contents.merging([sample.path: bytes]) { $1 })
        guard let record = try read(volume, sample.transaction) else { return }  // Refused.
        try writeAgain(record)
        // A record of format 1 has pages without a register.
        let isOfItsPages = record.chunks == sample.record.chunks && record.schema == sample.record.schema && record.firstFormat == nil
        if isOfItsPages { try open(volume, sample) }
    }

    private static func read(_ volume: MemoryVolume, _ transaction: TransactionNumber) throws -> RootRecord? {
        let record = try PageFile.root(volume, store: SampleStore.settings.store, transaction)?.record
        record?.firstFormat?.forEachRequest { _, _, _ in }
        record?.firstFormat?.forEachLabel { _, _ in }
        return record
    }

    private static func writeAgain(_ record: RootRecord) throws {
        var bytes: [[UInt8]?] = []
        var record = record
        for _ in 0..<2 {
            let volume = MemoryVolume()
            var writer = try PageFileWriter(volume, record.pageFile, isNamed: false)
            _ = try writer.finish(record)
            bytes.append(volume.contents[RootRecord.path(record.transaction)])
            guard let again = try read(volume, record.transaction) else { throw Finding("a record that was written is refused") }
            record = again
        }
        guard bytes[0] == bytes[1] else { throw Finding("a record is read back as another one") }
    }

    private static func open(_ volume: MemoryVolume, _ sample: Sample) throws {
        do {
            let store = try Store.open(volume, durability: nil, surroundings: SampleStore.surroundings)
            guard store.graph.digest() == sample.digest else { throw Finding("the store opens as another one") }
            try Finding.check(store.graph)
            try store.recordDigest()
            try store.checkpoint()
            try store.close()
        } catch let error as CambiumError where error.code == .damaged {
            return  // Refused.
        }
        try Finding.check(Verification(volume).findings, "a store that was opened and closed")
    }

    private static func mend(_ bytes: inout [UInt8]) {
        guard bytes.count >= 4 else { return }
        let checksum = CRC32C.checksum(Array(bytes.dropLast(4)))
        for index in 0..<4 { bytes[bytes.count - 4 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    }
}
