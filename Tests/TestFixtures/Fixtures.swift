import Cambium
import CambiumBytes
import CambiumJSON
import CambiumLog
import CambiumTesting
import Dispatch
import Synchronization
import Testing

/// The schema that most tests use: notes with items that belong to them, ordered memos and shared tags.
package enum Notes {
    package static let schema: Schema = {
        do { return try Schema(definition) } catch { preconditionFailure("The fixture's schema is sound: \(error)") }
    }()

    package static let definition = SchemaDefinition {
        EntityDefinition("Note", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            AttributeDefinition("title", .string, default: "")
            AttributeDefinition("rating", .double, .optional)
            AttributeDefinition("created", .date, .optional)
            RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
            RelationshipDefinition("memos", to: "Memo", .orderedToMany, inverse: "note", onDelete: .cascade)
            RelationshipDefinition("related", to: "Note", .toMany, inverse: "related")
        }
        EntityDefinition("Item", identity: ["key"]) {
            AttributeDefinition("key", .string)
            AttributeDefinition("count", .int32, .optional)
            RelationshipDefinition("note", to: "Note", inverse: "items")
            RelationshipDefinition("tags", to: "Tag", .toMany, inverse: "items")
        }
        EntityDefinition("Memo") {
            AttributeDefinition("text", .string, .optional)
            RelationshipDefinition("note", to: "Note", inverse: "memos")
        }
        EntityDefinition("Tag", identity: ["name"]) {
            AttributeDefinition("name", .string)
            AttributeDefinition("color", .string, .optional)
            RelationshipDefinition("items", to: "Item", .toMany, inverse: "tags")
        }
    }
}

extension LogTuning {
    /// Sizes with which even a small history has several segments, sealed segments and files of ops.
    package static let tiny: LogTuning = {
        var tuning = LogTuning()
        tuning.largeByteCount = 60
        tuning.opsFrameByteCount = 30
        tuning.segmentByteCount = 400
        tuning.sealedFrameByteCount = 100
        tuning.mergedByteCountMax = 0
        (tuning.sealsInBackground, tuning.checkpointsInBackground) = (false, false)
        tuning.pastByteCountMin = 65_536
        return tuning
    }()
}

/// Returns an environment whose clock advances by a millisecond at every reading, and whose random bytes are a fixed sequence.
package func fixedEnvironment(seed: UInt64 = 0) -> StoreEnvironment {
    let time = Guarded(Int64(1_700_000_000_000_000))
    let seed = Guarded(UInt8(truncatingIfNeeded: seed))
    return StoreEnvironment(
        now: {
            time.withLock {
                $0 += 1000
                return Timestamp(microsecondsSince1970: $0)
            }
        },
        randomBytes: { count in
            (0..<count).map { _ in
                seed.withLock {
                    $0 &+= 37
                    return $0
                }
            }
        })
}

/// A clock that stands still until a test advances it.
package final class StillClock: Sendable {
    private let now = Guarded(Int64(1_700_000_000_000_000))

    package init() {}

    /// The time in microseconds since 1970.
    package var time: Int64 { now.withLock { $0 } }

    package func advance(_ seconds: Int64) { now.withLock { $0 += seconds * 1_000_000 } }

    /// Returns an environment with this clock, and with random bytes that do not repeat.
    package func environment(seed: UInt64 = 0) -> StoreEnvironment {
        let random = Guarded(SplitMix64(seed: seed))
        return StoreEnvironment(
            now: { Timestamp(microsecondsSince1970: self.time) },
            randomBytes: { count in random.withLock { random in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } } }
        )
    }
}

extension Store {
    /// Makes a store of notes on a volume in memory that works like a disk.
    package static func notes(_ volume: MemoryVolume = MemoryVolume(), durability: Durability = .synced) throws -> Store {
        try create(volume, schema: Notes.schema, durability: durability, environment: fixedEnvironment())
    }

    package static func reopened(_ volume: MemoryVolume) throws -> Store {
        try open(MemoryVolume(contents: volume.contents), durability: nil, environment: fixedEnvironment())
    }

    @discardableResult
    package func importing(_ entity: String, _ text: String, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> ImportReport {
        var options = ImportOptions()
        change(&options)
        return try importRows(try schema.required(entity), from: [.bytes(Array(text.utf8))], options)
    }

    package func setTitle(of note: ObjectID, to title: String) throws { try write { try $0.set(note, "title", to: .string(title)) } }

    /// Commits a transaction that only records a request.
    package func noteRequest(_ id: String) throws { try write(Author(requestID: id)) { _ in } }

    @discardableResult
    package func addNote(_ number: Int) throws -> Receipt { try write { _ = try $0.insert("Note", ["id": .int(Int64(number))]) }.receipt }

    /// Returns the error with which the import is refused, or `nil` if it succeeds.
    package func refusal(_ entity: String, _ text: String, _ change: (inout ImportOptions) -> Void = { _ in }) -> ImportReport.RowError? {
        var options = ImportOptions()
        change(&options)
        var reached: ImportReport?
        let rows = [ImportSource.bytes(Array(text.utf8))]
        do {
            _ = try importRows(try schema.required(entity), from: rows, options) { reached = $0 }
            return nil
        } catch {
            return reached?.errors.last
        }
    }
}

extension Graph {
    /// The export of every object, one line each.
    package var export: String {
        let objects = ObjectWriter(self)
        var writer = JSONWriter()
        forEachObject(of: nil) { place in
            objects.write(place, to: &writer)
            writer.endLine()
        }
        return writer.text
    }

    /// Returns an export of an entity's objects.
    package func exported(
        _ entity: String?, including paths: [String] = [], _ change: (inout ExportOptions) -> Void = { _ in }
    ) throws -> String {
        let entity = try entity.map { try schema.required($0) }
        var options = ExportOptions()
        if let entity { options.include = try IncludeTree(paths, from: entity, schema) }
        change(&options)
        var bytes: [UInt8] = []
        try export(entity, options) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    package func json(_ id: String, including paths: [String] = []) throws -> String {
        let (id, entity) = try #require(schema.id(id))
        var writer = JSONWriter()
        let tree = try IncludeTree(paths, from: entity, schema)
        ObjectWriter(self).write(try #require(place(of: id)), including: tree, to: &writer)
        return writer.text
    }
}

/// A write of a store that stays open until a test ends it. It inserts the note 1.
package struct OpenWrite {
    private let mayEnd = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Begins the write in another thread. Returns when the writer has its turn.
    package init(_ store: Store) async {
        let isBusy = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { [mayEnd, hasEnded] in
            _ = try? store.write { transaction in
                isBusy.signal()
                mayEnd.wait()
                try transaction.insert("Note", ["id": .int(1)])
            }
            hasEnded.signal()
        }
        await arrival(at: isBusy)
    }

    /// Ends the write, and waits until it has ended. The caller checks that the note was inserted.
    package func end() async {
        mayEnd.signal()
        await arrival(at: hasEnded)
    }
}

/// Waits for a semaphore without blocking a thread of the cooperative pool.
package func arrival(at semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            semaphore.wait()
            continuation.resume()
        }
    }
}

/// Returns the code of the error that a call throws, or `nil` if it does not throw a `CambiumError`.
package func code(of body: () throws -> Void) -> CambiumError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CambiumError)?.code
    }
}
