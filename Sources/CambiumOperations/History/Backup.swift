import CambiumGraph
package import CambiumLog
public import CambiumModel

/// A copy of a store, made while another process may write to the store.
///
/// ```swift
/// let backup = try Store.backUp(at: "notes", to: "notes-copy")
/// print(backup.transaction, backup.byteCount)
/// ```
public struct Backup: Sendable, Equatable {
    /// The last transaction in the copy.
    public private(set) var transaction = TransactionNumber.none
    /// The number of bytes of the copy.
    public private(set) var byteCount = 0
    /// The number of checkpoints in the copy. With a checkpoint, the copy opens quickly.
    package private(set) var checkpointCount = 0

    /// Copies a store with all of its transactions and checkpoints. If the store is compacted while it is being copied, copies it again.
    /// Throws `.ioFailure` if that happens ten times.
    package init(_ source: any Volume, to target: any Volume) throws {
        self = try LogReader.rereading(source) { reader in
            let retiredEnd = try reader.retiredEnd()
            let names = try LogCopy.names(in: source)
            let (copy, lock) = try StoreCreation.make(in: target, store: reader.settings.store, expecting: names) { volume in
                do {
                    return try Self.copy(reader, retiredEnd, to: volume)
                } catch let error as CambiumError where error.code == .corrupted {
                    if try reader.retiredEnd() == retiredEnd { throw error }
                    // The log only seems corrupt: a compaction retired transactions during the backup, and the copy may lack the checkpoint
                    // that replaces them.
                    throw Self.compacted(error)
                }
            }
            lock.unlock()
            return copy
        }
    }

    private init() {}

    private static func copy(_ reader: LogReader, _ retiredEnd: TransactionNumber, to volume: any Volume) throws -> Backup {
        let copy = try LogCopy(reader, to: volume)
        // If a compaction retired transactions during the backup, the copy may lack the checkpoint that replaces them.
        if try reader.retiredEnd() != retiredEnd { throw compacted(nil) }
        var backup = Backup()
        (backup.byteCount, backup.checkpointCount) = (copy.byteCount, copy.rootCount)
        // Opening the copy replays the transactions after its newest checkpoint, so the backup fails if these transactions are corrupt.
        // Closing the copy records in HEAD that the log is closed.
        var tuning = LogTuning.standard
        // Sealing would replace segments, but the copy must have the same segments as the store.
        tuning.sealsSegments = false
        let store = try Store.open(volume, durability: nil, tuning: tuning)
        backup.transaction = store.graph.transaction
        try store.close()
        return backup
    }

    private static func compacted(_ error: CambiumError?) -> CambiumError {
        CambiumError(
            .ioFailure, "The store was compacted during the backup, so no copy was made. Start the backup again.", underlying: error)
    }

    /// Copies the transactions up to `last` into an independent store. Throws `.notFound` if the changes of the first transactions were
    /// retired from the log.
    package init(_ volume: any Volume, to target: any Volume, last: TransactionNumber, environment: StoreEnvironment) throws {
        let reader = try LogReader(volume)
        guard try reader.retiredEnd() == .none else {
            throw CambiumError(
                .notFound,
                "The changes of the first transactions were retired from the log, so a copy up to a moment cannot be made. "
                    + "Copy the whole store (restore without --at), and read the moment in the copy.\(reader.archiveHint())")
        }
        var settings = reader.settings
        // The copy and its source will have different later transactions, so the copy gets a new id.
        settings.store = environment.randomBytes(16)
        settings.indexSecret = environment.randomBytes(16)
        let (byteCount, lock) = try StoreCreation.make(in: target, store: settings.store) { volume in
            try LogWriter.create(volume, settings, saltSeed: environment.randomBytes(16))
            let empty = try LogReader(volume)
            let writer = try LogWriter(empty, try empty.scan { _ in }, preallocates: false) { environment.randomBytes(16) }
            _ = try reader.scan(makesDurable: true) { if $0.number <= last { try writer.append($0) } }
            try writer.close()
            return try LogDirectory.files(volume).byteCount
        }
        lock.unlock()
        (transaction, self.byteCount) = (last, byteCount)
    }
}

extension Store {
    /// Copies a store with its whole history: the same transactions, the same root of the Merkle tree over them, and the checkpoints.
    ///
    /// Another process may write to the store during the backup. Everything that is durable when the backup begins is in the copy.
    ///
    /// Throws `.notFound` if there is no store, `.cannotCreate` if the new directory is not empty, and `.corrupted` if the log is corrupt.
    /// Throws `.ioFailure` if a file cannot be read or written, or if the store was compacted during each of ten attempts. After an
    /// error, there is no store in the new directory. Complexity: O(bytes).
    ///
    /// ```swift
    /// try Store.backUp(at: "notes", to: "notes-copy")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - newPath: The directory of the copy, which does not exist or is empty.
    ///   - point: The last moment in the copy. A copy of an earlier moment is an independent store. Throws `.notFound` if there is no such
    ///     moment, or if transactions that led to it were retired.
    ///   - archive: The directory of the archive, which contains the retired parts of the log. If the archive is given, the copy contains
    ///     the whole history. Throws `.notFound` if a retired part is not in the archive. Throws `.conflict` if the archive belongs to
    ///     another store, and `.corrupted` if it differs from the retired parts.
    @discardableResult
    public static func backUp(at path: String, to newPath: String, point: Point = .latest, archive: String? = nil) throws -> Backup {
        let target = try target(newPath, of: path, archive)
        let volume = try source(path, archive)
        if point == .latest {
            return try target.withDirectory { try Backup(volume, to: target) }
        }
        let last = try ReadOnlyStore(volume, point: point).graph.transaction
        return try target.withDirectory { try Backup(volume, to: target, last: last, environment: .system) }
    }

    /// Throws `.cannotCreate` if the copy would be inside the store or the archive.
    private static func target(_ newPath: String, of path: String, _ archive: String?) throws(CambiumError) -> SystemVolume {
        let target = SystemVolume(root: newPath)
        for source in [path, archive].compactMap({ $0 }) { try target.checkIsOutside(of: SystemVolume(root: source)) }
        return target
    }

    /// Returns the files of a store. If an archive is given, returns the files as they were before anything was retired.
    private static func source(_ path: String, _ archive: String?) throws -> any Volume {
        let store = SystemVolume(root: path)
        guard let archive else { return store }
        return try ArchivedVolume(store, archive: SystemVolume(root: archive))
    }
}
