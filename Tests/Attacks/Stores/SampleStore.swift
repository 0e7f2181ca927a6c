import Cambium
import CambiumBytes
import CambiumLog
import CambiumTesting
import Foundation

/// Writes a store to attack. The same seed yields the same bytes.
struct SampleStore {
    let kind: SampleKind
    let seed: UInt64
    /// A word in the title of each note, so that the contents of stores with different seeds differ, too.
    let word: String
    /// Whether `build` compacts the store if its kind requires it. `SoundStore` sets this to `false` to get the same store before
    /// compaction.
    var isCompacted = true

    /// Makes the store and the other parts of a `Site` in `directory`, and copies the store to `earlier` after half of its transactions.
    func build(in directory: String, earlier: String) throws {
        let manager = FileManager.default
        for name in ["input", "outside", "store"] {
            try manager.createDirectory(atPath: directory + "/" + name, withIntermediateDirectories: true)
        }
        try SampleInput.write(to: directory + "/input")
        try Data("no command may touch this\n".utf8).write(to: URL(filePath: directory + "/outside/keep"))
        let volume = SystemVolume(root: directory + "/store")
        let environment = environment()
        let schema = try Schema(SchemaDefinition(json: Array(SampleInput.schema.utf8)))
        var store = try Store.create(volume, schema: schema, durability: .synced, environment: environment, tuning: kind.tuning)
        if kind == .compressed {
            try store.setCheckpointPolicy(CheckpointPolicy(compression: .lz4))
            try store.close()
            store = try Store.open(volume, durability: nil, environment: environment, tuning: kind.tuning)
        }
        try writeFirstHalf(store)
        try store.close()
        try Tree.copy(directory + "/store", to: earlier)
        // The foreign file is added only now, because the creation of a store would refuse it.
        try Data("a foreign file\n".utf8).write(to: URL(filePath: directory + "/store/keep.txt"))
        store = try Store.open(volume, durability: nil, environment: environment, tuning: kind.tuning)
        try writeSecondHalf(store, archive: kind == .archived ? directory + "/archive" : nil)
        if kind == .unclosed { try leave(store, directory) } else { try store.close() }
    }

    /// Replaces the closed store with a copy of its files from the time when it was open.
    private func leave(_ store: Store, _ directory: String) throws {
        try Tree.copy(directory + "/store", to: directory + "/left")
        try store.close()
        try FileManager.default.removeItem(atPath: directory + "/store")
        try FileManager.default.moveItem(atPath: directory + "/left", toPath: directory + "/store")
        try Data().write(to: URL(filePath: directory + "/store/LOCK"))
    }

    private func environment() -> StoreEnvironment {
        let time = Guarded(Int64(1_700_000_000_000_000))
        let random = Guarded(SplitMix64(seed: seed))
        return StoreEnvironment(
            now: {
                time.withLock { time in
                    time += 1_000_000
                    return Timestamp(microsecondsSince1970: time)
                }
            },
            randomBytes: { count in random.withLock { random in (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } } })
    }

    // MARK: The transactions

    /// Writes transactions 2 to 8.
    private func writeFirstHalf(_ store: Store) throws {
        try store.write(Author(actor: "jane", message: "the tags")) { transaction in
            for name in ["red", "green"] { _ = try transaction.insert("Tag", ["name": .string(name)]) }
        }
        for number in 1...4 { try insertNote(number, store) }
        try store.write(Author(actor: "joe")) { transaction in
            let note = try Self.note(1, transaction)
            try transaction.set(note, "title", to: .string("\(word) changed"))
        }
        if kind.hasCheckpoints { _ = try store.checkpoint() }
        _ = try store.label("early")
    }

    /// Writes the transactions from number 9 to the end.
    private func writeSecondHalf(_ store: Store, archive: String?) throws {
        guard let note = store.schema.entity("Note") else { throw Misuse("the sample lacks its entity") }
        _ = try store.importRows(note, from: [.bytes(Array(SampleInput.manyRows(word).utf8))], author: Author(actor: "feed"))
        if kind.hasCheckpoints { _ = try store.checkpoint() }
        try insertNote(5, store)
        try store.write(Author(requestID: "r1")) { try $0.delete(try Self.note(4, $0)) }
        if kind.hasCheckpoints { _ = try store.checkpoint() }
        if kind.isCompacted, isCompacted { _ = try store.compact(.checkpoints(1), archive: archive) }
        try store.write { transaction in
            _ = try transaction.clone(try Self.note(2, transaction), CloneRequest(rootValues: ["id": .int(77)]))
        }
        try insertNote(6, store)
        try insertNote(7, store)
    }

    private func insertNote(_ number: Int, _ store: Store) throws {
        try store.write(Author(actor: "jane", message: "note \(number)")) { transaction in
            let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(word) \(number)")])
            for part in 0..<3 {
                let item = try transaction.insert("Item", ["name": .string("item \(number).\(part)")])
                try transaction.link(note, "items", item)
                let memo = try transaction.insert("Memo", ["text": .string(String(repeating: "long ", count: 3 * part))])
                try transaction.link(note, "memos", memo)
            }
            if let tag = transaction.schema.entity("Tag"), let red = transaction.find(tag, identity: [.string("red")]) {
                try transaction.link(note, "tags", red)
            }
        }
    }

    private static func note(_ number: Int, _ transaction: borrowing WriteTransaction) throws -> ObjectID {
        guard let note = transaction.schema.entity("Note"), let id = transaction.find(note, identity: [.int(Int64(number))]) else {
            throw Misuse("the sample lacks note \(number)")
        }
        return id
    }
}
