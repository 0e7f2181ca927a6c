import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Stores with many segments, which openings and compactions merge.
enum Merging {
    /// The tuning for segments of any length and for some files of ops. An opening seals and merges segments before it returns.
    static let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        (tuning.segmentByteCount, tuning.largeByteCount, tuning.mergedByteCountMax) = (1 << 20, 500, 1 << 20)
        tuning.pastByteCountMin = 64 << 20
        return tuning
    }()

    /// The same as `tuning`, except that segments stay as they were written.
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

    /// Makes a store of 19 transactions: five open segments of three or four transactions, and one transaction in the segment that is
    /// written to. Each of the five segments has a checkpoint in its middle or at its end.
    static func made(_ volume: any Volume = MemoryVolume(), tuning: LogTuning = apart) throws -> Store {
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        for segment in 0..<5 {
            for number in 0..<(segment % 2 == 0 ? 3 : 4) {
                try add(store, segment * 10 + number)
                if number == 1, segment != 2 { try store.checkpoint() }
            }
            if segment == 2 { try store.checkpoint() }
            try store.writer.log?.endSegment(with: store.graph.transaction)
        }
        try add(store, 80)
        return store
    }

    static func open(_ volume: any Volume, _ seed: UInt64 = 3, tuning: LogTuning = tuning) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: seed), tuning: tuning)
    }

    /// Returns the kind of each segment of a log, by the segment's first transaction.
    static func kinds(_ volume: any Volume) throws -> [UInt64: Format.FileKind] {
        var kinds: [UInt64: Format.FileKind] = [:]
        for segment in try LogDirectory.segments(volume) {
            kinds[segment.rawValue] = try SegmentReader(volume, path: LogFileName.path(segment, .segment)).header.kind
        }
        return kinds
    }

    static func records(_ volume: any Volume, from first: UInt64 = 1) throws -> [LogRecord] {
        var records: [LogRecord] = []
        _ = try LogReader(volume).scan(from: TransactionNumber(rawValue: first)) { records.append($0) }
        return records
    }

    /// Returns whether two logs have the same transactions, in whichever segments they lie.
    static func areSame(_ records: [LogRecord], _ others: [LogRecord]) -> Bool {
        records.count == others.count
            && zip(records, others).allSatisfy { record, other in
                record.number == other.number && record.metadata == other.metadata && record.saltBytes == other.saltBytes
                    && (try? record.leafHash()) == (try? other.leafHash())
            }
    }

    /// Leaves bytes that are not a frame at the end of the log, like a process that dies while it writes.
    static func tear(_ volume: any Volume) throws {
        let last = try #require(try LogDirectory.segments(volume).last)
        let file = try volume.open(LogFileName.path(last, .segment), .update)
        try file.write([7, 7, 7, 7, 7], at: try file.byteCount())
        try file.sync()
    }

    /// Takes the store over as another process, which ends a segment that was left open, begins a new one and merges the earlier ones.
    static func takeOver(_ store: Store, _ volume: any Volume, _ number: Int) throws -> Store {
        store.abandon()
        try tear(volume)
        let next = try open(volume, UInt64(number))
        try add(next, number)
        return next
    }

    /// Makes the files that an interrupted merge leaves: the merged segment, and the first `count` segments that it covers. The merged
    /// segment has replaced the first segment of the log, which does not count.
    ///
    /// - Parameter count: The number of covered segments, at most four.
    static func interrupted(covered count: Int) throws -> (volume: MemoryVolume, export: String, covered: [TransactionNumber]) {
        let volume = MemoryVolume()
        let store = try made(volume)
        let export = store.graph.export
        store.abandon()
        let before = volume.contents
        try open(volume).abandon()
        let covered = try LogDirectory.segments(MemoryVolume(contents: before)).dropFirst().dropLast().prefix(count)
        var contents = volume.contents
        for segment in covered { contents[LogFileName.path(segment, .segment)] = before[LogFileName.path(segment, .segment)] }
        return (MemoryVolume(contents: contents), export, Array(covered))
    }
}
