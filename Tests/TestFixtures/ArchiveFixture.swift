import Cambium
import CambiumLog
import CambiumOperations
import CambiumTesting

/// Stores that are compacted with an archive. They have several segments, and the ops of some transactions have their own file.
package enum Archiving {
    package static let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        tuning.largeByteCount = 2000
        return tuning
    }()

    /// The same as `tuning`, except that segments stay as they were written.
    package static let unsealed: LogTuning = {
        var tuning = Archiving.tuning
        tuning.sealsSegments = false
        return tuning
    }()

    /// - Parameter word: The text that the titles repeat. Stores that differ only in this text have the same ids, times and salts.
    package static func made(
        _ volume: any Volume, count: Int = 40, seed: UInt64 = 0, word: String = "a long title ", durability: Durability = .synced,
        tuning: LogTuning = tuning
    ) throws -> Store {
        let store = try Store.create(
            volume, schema: Notes.schema, durability: durability, environment: fixedEnvironment(seed: seed), tuning: tuning)
        for number in 0..<count { try add(store, number, word: word) }
        return store
    }

    package static func add(_ store: Store, _ number: Int, word: String = "a long title ") throws {
        try store.write(Author(actor: "actor \(number % 3)", message: "adds \(number)")) { transaction in
            let title = String(repeating: word, count: number % 10 == 3 ? 300 : 3)
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(title)\(number)")])
        }
    }

    package static func reopen(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3), tuning: tuning)
    }

    /// Makes a store whose transactions were all retired, and the archive that keeps them.
    package static func compacted(count: Int = 40) throws -> (volume: MemoryVolume, archive: MemoryVolume, root: String) {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try made(volume, count: count)
        let root = try Verification(volume).root
        try store.compact(.since(.latest), in: archive)
        try store.close()
        return (volume, archive, root)
    }

    /// Returns the store that is restored from a store and its archive.
    package static func restored(_ volume: any Volume, _ archive: any Volume) throws -> MemoryVolume {
        let target = MemoryVolume()
        _ = try Backup(ArchivedVolume(volume, archive: archive), to: target)
        return target
    }

    /// Returns the ops of each transaction.
    package static func ops(_ volume: any Volume) throws -> [[Op]] {
        var found: [[Op]] = []
        try TransactionLog(volume).forEach { found.append(try $0.ops()) }
        return found
    }

    package static func graph(_ volume: any Volume, at number: UInt64) throws -> Graph {
        try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: number))).graph
    }
}

extension Store {
    @discardableResult
    package func compact(_ retention: Retention, in archive: any Volume, isDryRun: Bool = false) throws -> Compaction {
        try compact(retention, into: archive, isDryRun: isDryRun)
    }
}

/// Returns the `CambiumError` that a call throws, or `nil` if it does not throw one.
package func error(of body: () throws -> Void) -> CambiumError? {
    do {
        try body()
        return nil
    } catch {
        return error as? CambiumError
    }
}
