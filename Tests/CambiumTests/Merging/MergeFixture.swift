import CambiumTesting
import Testing

@testable import Cambium
@testable import CambiumLog

/// Stores with many segments, which openings and compactions merge.
enum Merging {
    /// Segments of any length, with some files of ops. Openings seal and merge before they return.
    static let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        (tuning.segmentByteCount, tuning.largeByteCount, tuning.mergedByteCountMax) = (1 << 20, 500, 1 << 20)
        tuning.pastByteCountMin = 64 << 20
        return tuning
    }()

    /// As `tuning`, and segments stay as they were written.
    static let apart: LogTuning = {
        var tuning = Merging.tuning
        tuning.sealsSegments = false
        return tuning
    }()

    static func add(_ store: Store, _ number: Int) throws {
        try store.write(Author(actor: "actor \(number % 3)", message: "adds \(number)")) { transaction in
            let title = String(repeating: "a title ", count: number % 7 == 5 ? 100 : number % 4)
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(title)\(number)")])
        }
    }

    /// A store with five open segments of three or four transactions, checkpoints in the middle or at the end of each, and one
    /// transaction in the segment that is written to. It has 19 transactions.
    static func made(_ volume: any Volume = MemoryVolume(), tuning: LogTuning = apart) throws -> Store {
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, surroundings: fixedSurroundings(), tuning: tuning)
        for segment in 0..<5 {
            for number in 0..<(segment % 2 == 0 ? 3 : 4) {
                try add(store, segment * 10 + number)
                if number == 1, segment != 2 { try store.checkpoint() }
            }
            if segment == 2 { try store.checkpoint() }
            try store.committer.log?.endSegment(with: store.graph.transaction)
        }
        try add(store, 80)
        return store
    }

    static func open(_ volume: any Volume, _ seed: UInt64 = 3, tuning: LogTuning = tuning) throws -> Store {
        try Store.open(volume, durability: nil, surroundings: fixedSurroundings(seed: seed), tuning: tuning)
    }

    /// The segments of a log, by their first transactions, and what they are.
    static func kinds(_ volume: any Volume) throws -> [UInt64: Format.FileKind] {
        var kinds: [UInt64: Format.FileKind] = [:]
        for segment in try LogReader.segments(volume) {
            kinds[segment.rawValue] = try SegmentReader(volume, path: LogFileName.path(segment, .segment)).header.kind
        }
        return kinds
    }

    static func records(_ volume: any Volume, from first: UInt64 = 1) throws -> [LogRecord] {
        var records: [LogRecord] = []
        _ = try LogReader(volume).scan(from: TransactionNumber(rawValue: first)) { records.append($0) }
        return records
    }

    /// Whether two logs have the same transactions, wherever they lie.
    static func areSame(_ records: [LogRecord], _ others: [LogRecord]) -> Bool {
        records.count == others.count
            && zip(records, others).allSatisfy { record, other in
                record.number == other.number && record.metadata == other.metadata && record.saltBytes == other.saltBytes
                    && (try? record.leafHash()) == (try? other.leafHash())
            }
    }

    /// Leaves bytes at the end of the log that are no frame, as a process that dies while it writes.
    static func tear(_ volume: any Volume) throws {
        let last = try #require(try LogReader.segments(volume).last)
        let file = try volume.open(LogFileName.path(last, .segment), .update)
        try file.write([7, 7, 7, 7, 7], at: try file.byteCount())
        try file.sync()
    }

    /// Another process: it ends a segment that was left open, writes to another one, and merges those before it.
    static func takeOver(_ store: Store, _ volume: any Volume, _ number: Int) throws -> Store {
        store.abandon()
        try tear(volume)
        let next = try open(volume, UInt64(number))
        try add(next, number)
        return next
    }

    /// What an interrupted merging leaves: the merged segment, and the last ones of those that it has.
    ///
    /// - Parameter count: of the covered segments, at most four.
    static func interrupted(covered count: Int) throws -> (volume: MemoryVolume, export: String, covered: [TransactionNumber]) {
        let volume = MemoryVolume()
        let store = try made(volume)
        let export = store.graph.export
        store.abandon()
        let before = volume.contents
        try open(volume).abandon()
        let covered = try LogReader.segments(MemoryVolume(contents: before)).dropFirst().dropLast().prefix(count)
        var contents = volume.contents
        for segment in covered { contents[LogFileName.path(segment, .segment)] = before[LogFileName.path(segment, .segment)] }
        return (MemoryVolume(contents: contents), export, Array(covered))
    }
}
