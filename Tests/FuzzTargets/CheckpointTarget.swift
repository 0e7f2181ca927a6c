import Cambium
import CambiumBytes
import CambiumLog
import CambiumModel

/// The fuzz target for checkpoint records. An input is a record, followed by its table of chunks if the record stores the table in a chunk
/// of pages. The target recomputes the checksums.
///
/// A record that can be read can be written and read back with the same bytes. If a record describes the same chunks and schema as the
/// original one, the store shows the same graph as its log, or is refused. A reader trusts a different description if its checksum fits.
enum CheckpointTarget {
    private struct Sample {
        let contents: [String: [UInt8]]
        let transaction: TransactionNumber
        let record: CheckpointRecord
        let digest: GraphDigest
        /// The index of the chunk that contains the table of chunks; `nil` if the record itself contains the table.
        let tableChunk: Int?

        var path: String { CheckpointRecord.path(transaction) }
        var pages: String { contents.keys.first { $0.hasPrefix("pages-") } ?? "" }

        /// The record, followed by the bytes of the table's chunk.
        var input: [UInt8] {
            let record = contents[path] ?? []
            guard let tableChunk else { return record }
            return record + (contents[pages]?.dropFirst(tableChunk << 16).prefix(CheckpointTarget.headByteCount(record)) ?? [])
        }

        init(hasTableInChunk: Bool) throws {
            let volume = MemoryVolume(contents: try SampleStore().files)
            var tuning = LogTuning()
            if hasTableInChunk { tuning.recordedTableByteCountMax = 0 }
            let store = try Store.open(volume, durability: nil, environment: SampleStore.environment, tuning: tuning)
            try store.label("the label")
            transaction = try store.checkpoint().transaction
            try store.write { try $0.insert("Tag", ["name": .string("behind it")]) }
            try store.close()
            contents = volume.contents
            digest = store.graph.digest()
            guard let root = try PageFile.root(volume, store: SampleStore.settings.store, transaction) else {
                throw Finding("the checkpoint of the sample cannot be read")
            }
            record = root.record
            tableChunk = record.chunks.firstIndex(of: .table)
            if hasTableInChunk != (tableChunk != nil) { throw Finding("the sample has its table of chunks in the wrong place") }
        }

        /// Returns the files of the store with an input in place of the record and the table.
        func files(_ input: [UInt8]) -> [String: [UInt8]] {
            var contents = contents
            var record = input
            if let tableChunk {
                let table = input.dropFirst(contents[path]?.count ?? 0).prefix(1 << 16)
                record = Array(input.dropLast(table.count))
                contents[pages]?.replaceSubrange(tableChunk << 16..<tableChunk << 16 + table.count, with: table)
                if record.count >= CheckpointTarget.headPlace + 12 {
                    let byteCount = min(CheckpointTarget.headByteCount(record), 1 << 16)
                    let stored = contents[pages]?.dropFirst(tableChunk << 16).prefix(byteCount) ?? []
                    CheckpointTarget.mend(&record, at: CheckpointTarget.headPlace + 8, CRC32C.checksum(Array(stored)))
                }
            }
            if record.count >= 4 { CheckpointTarget.mend(&record, at: record.count - 4, CRC32C.checksum(Array(record.dropLast(4)))) }
            contents[path] = record
            return contents
        }
    }

    /// If the table is in a chunk, the position in the record at which the chunk, the length and the checksum of the table are stored.
    private static let headPlace = 92
    /// The bit that marks a table in chunks, and the position of the byte that holds the bit.
    private static let (tableBit, kindPlace): (UInt8, Int) = (2, 11)

    private static let samples = Result { (recorded: try Sample(hasTableInChunk: false), chunked: try Sample(hasTableInChunk: true)) }

    @Sendable static func seeds() throws -> [[UInt8]] {
        let samples = try samples.get()
        return [samples.recorded.input, samples.chunked.input]
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        let samples = try samples.get()
        let isChunked = input.count > kindPlace && input[kindPlace] & tableBit != 0
        let sample = isChunked ? samples.chunked : samples.recorded
        let volume = MemoryVolume(contents: sample.files(input))
        guard let record = try read(volume, sample.transaction) else { return }  // Refused.
        try writeAgain(record)
        let isOfItsPages = record.chunks == sample.record.chunks && record.schema == sample.record.schema
        if isOfItsPages { try open(volume, sample) }
    }

    private static func read(_ volume: MemoryVolume, _ transaction: TransactionNumber) throws -> CheckpointRecord? {
        try PageFile.root(volume, store: SampleStore.settings.store, transaction)?.record
    }

    private static func writeAgain(_ record: CheckpointRecord) throws {
        var bytes: [[String: [UInt8]]] = []
        var record = record
        for _ in 0..<2 {
            let volume = MemoryVolume()
            var writer = try PageFileWriter(volume, record.pageFile, isNamed: false)
            _ = try writer.finish(record)
            bytes.append(volume.contents)
            guard let again = try read(volume, record.transaction) else { throw Finding("a written record is refused") }
            record = again
        }
        guard bytes[0] == bytes[1] else { throw Finding("a record is not read back unchanged") }
    }

    private static func open(_ volume: MemoryVolume, _ sample: Sample) throws {
        do {
            let store = try Store.open(volume, durability: nil, environment: SampleStore.environment)
            guard store.graph.digest() == sample.digest else { throw Finding("the store opens with another graph") }
            try Finding.check(store.graph)
            try store.recordDigest()
            try store.checkpoint()
            try store.close()
        } catch let error as CambiumError where error.code == .corrupted {
            return  // Refused.
        }
        try Finding.check(Verification(volume).findings, "a store that was opened and closed")
    }

    private static func headByteCount(_ record: [UInt8]) -> Int {
        record[headPlace + 4..<headPlace + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func mend(_ bytes: inout [UInt8], at place: Int, _ checksum: UInt32) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    }
}
