import CambiumGraph
package import CambiumLog
public import CambiumModel

/// A copy of a store, made while somebody may be writing to it.
public struct Backup: Sendable, Equatable {
    /// The last transaction that is in the copy.
    public private(set) var transaction = TransactionNumber.none
    /// Bytes of the copy.
    public private(set) var byteCount = 0
    /// Checkpoints that are in it, with which it opens at once.
    public private(set) var checkpointCount = 0

    /// Copies a store with all of its history: the same transactions, the same root of the tree, and its checkpoints.
    ///
    /// Somebody may be writing to it meanwhile; what is durable when this begins is in the copy. Throws `.notFound` where there is no
    /// store, `.cannotCreate` where something is in the way, `.damaged` where its log is corrupt, `.ioFailure`, also where the store
    /// was compacted meanwhile; then there is no store in the new place. Complexity: O(bytes).
    ///
    /// - Parameter archive: where what was retired of the log was put: with it the copy has all that happened. Then it throws, too,
    ///   `.notFound` where something that was retired is not in it, `.conflict` where it is another store's, `.damaged` where what it has
    ///   is not what was retired.
    public init(of path: String, to newPath: String, archive: String? = nil) throws {
        let target = SystemVolume(root: newPath)
        let reader = try LogReader(Self.source(path, archive))
        try target.createDirectory("")
        try self.init(reader, to: target)
    }

    /// Copies a store as it was at a moment. What came later is not in the copy, which is a store of its own from there on.
    ///
    /// Throws as the other one, `.notFound` where there is no such moment, or where what led to it was retired.
    public init(of path: String, to newPath: String, point: Point, archive: String? = nil) throws {
        if point == .latest {
            try self.init(of: path, to: newPath, archive: archive)
            return
        }
        let target = SystemVolume(root: newPath)
        let volume = try Self.source(path, archive)
        let last = try ReadOnlyStore(volume, point: point).graph.transaction
        try target.createDirectory("")
        try self.init(volume, to: target, last: last, surroundings: .system)
    }

    /// A store as it is, or as it was before anything was retired.
    private static func source(_ path: String, _ archive: String?) throws -> any Volume {
        let store = SystemVolume(root: path)
        guard let archive else { return store }
        return try ArchivedVolume(store, archive: SystemVolume(root: archive))
    }

    package init(_ reader: LogReader, to target: any Volume) throws {
        let lock = try Self.lock(target)
        defer { lock.unlock() }
        let retiredEnd = try reader.retiredEnd()
        do {
            let copy = try LogCopy(reader, to: target)
            // What was retired meanwhile is in the copy in part, and the checkpoint that stands for it may not be.
            guard try reader.retiredEnd() == retiredEnd else {
                throw CambiumError(.ioFailure, "The store was compacted while it was copied; make the backup again.")
            }
            (transaction, byteCount, checkpointCount) = (copy.lastTransaction, copy.byteCount, copy.rootCount)
            lock.unlock()
            // Looks at all that is behind the checkpoint, and notes that the log is closed.
            let store = try Store.open(target, durability: nil)
            transaction = store.graph.transaction
            try store.close()
        } catch let error as CambiumError where error.code == .damaged && (try? reader.retiredEnd()) != retiredEnd {
            // The checkpoint that stands for what was retired meanwhile may not be in the copy.
            let told = CambiumError(.ioFailure, "The store was compacted while it was copied; make the backup again.", underlying: error)
            try Self.remove(target, after: told)
        } catch {
            try Self.remove(target, after: error)
        }
    }

    package init(_ volume: any Volume, to target: any Volume, last: TransactionNumber, surroundings: Surroundings) throws {
        let reader = try LogReader(volume)
        guard try reader.retiredEnd() == .none else {
            throw CambiumError(
                .notFound,
                "What the first transactions did was retired, so the store cannot be copied as it was; copy all of it."
                    + "\(try reader.archiveTold())")
        }
        let lock = try Self.lock(target)
        defer { lock.unlock() }
        var settings = reader.settings
        // It goes on in another way than the one that it is a copy of.
        settings.store = surroundings.randomBytes(16)
        try LogWriter.create(target, settings, saltSeed: surroundings.randomBytes(16))
        do {
            let empty = try LogReader(target)
            let writer = try LogWriter(empty, try empty.scan { _ in }, keepsRoom: false) { surroundings.randomBytes(16) }
            _ = try reader.scan(makesDurable: true) { if $0.number <= last { try writer.append($0) } }
            try writer.close()
            (transaction, byteCount) = (last, try LogReader.files(target).byteCount)
        } catch {
            try Self.remove(target, after: error)
        }
    }

    private static func lock(_ target: any Volume) throws(CambiumError) -> any VolumeLock {
        let lock = try target.lock(LogWriter.lockFileName)
        let names = try target.list("").filter { $0 != LogWriter.lockFileName }
        if names.isEmpty { return lock }
        lock.unlock()
        throw CambiumError(.cannotCreate, "'\(target.name)' is not empty; choose another place.")
    }

    private static func remove(_ target: any Volume, after error: any Error) throws -> Never {
        do {
            try LogWriter.removeFiles(target)
        } catch let failure {
            throw CambiumError(
                .ioFailure, "\(error) What is left in the new place cannot be removed: \(failure.message)", underlying: failure)
        }
        throw error
    }
}
