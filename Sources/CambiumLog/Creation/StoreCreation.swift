import CambiumBytes
package import CambiumModel

/// The only way to create a store. The result is either the whole store and nothing else, or an unchanged directory.
///
/// Before a file is created, its name is written to a mark. The mark is removed when the store is complete and durable. As long as the mark
/// exists, the directory is not a store. After a process has ended too early, the next creation removes the files that the mark names, and
/// nothing else.
package enum StoreCreation {
    /// Creates a store.
    ///
    /// Throws `.cannotCreate` if the directory contains anything except the files of an interrupted creation, and `.locked` if another
    /// process is creating a store there. In both cases nothing was changed. Throws the errors of `body`, after removing the files that
    /// `body` created.
    ///
    /// - Parameters:
    ///   - target: the directory, which must exist.
    ///   - store: the id of the new store, 16 bytes.
    ///   - names: the files that `body` will create. Each file that is not in this list costs a separate sync.
    ///   - body: creates the store's files through the volume that it receives, and makes them durable, including the first transaction.
    /// - Returns: the result of `body`, and the lock of the new store, which the caller must release.
    package static func make<Result>(
        in target: any Volume, store: [UInt8], expecting names: [String] = [], _ body: (any Volume) throws -> Result
    ) throws -> (result: Result, lock: any VolumeLock) {
        try checkIsOutsideOfStores(target)
        _ = try Place(target)
        let hasLock = try target.exists(StoreFileName.lock)
        let lock = try lock(target)
        do {
            // Another process may have created a store since the directory was first checked.
            try Place(target).clear()
        } catch {
            lock.unlock()
            throw error
        }
        do {
            return (try make(in: target, store, names, body), lock)
        } catch {
            if !hasLock { try? removeLock(target) }  // If this fails, the remaining lock file does not prevent the next creation.
            lock.unlock()
            throw error
        }
    }

    private static func make<Result>(
        in target: any Volume, _ store: [UInt8], _ names: [String], _ body: (any Volume) throws -> Result
    ) throws -> Result {
        var volume: CreationVolume?
        do {
            let marked = try CreationVolume(target, store: store, expecting: files + names)
            volume = marked
            let result = try body(marked)
            try marked.finish()
            return result
        } catch {
            do throws(CambiumError) {
                if let volume { try remove(try volume.reopenedMark(), from: target) } else { try Place(target).clear() }
            } catch let failure {
                throw CambiumError(
                    .ioFailure,
                    "\(error) The files that remain in '\(target.name)' cannot be removed. \(failure.message) Remove the files yourself.",
                    underlying: failure)
            }
            throw error
        }
    }

    /// Checks that a directory is not inside a store, or inside the directory of an interrupted creation. Otherwise, throws
    /// `.cannotCreate`, because the outer store would report the files as corruption, and a removal of the store would remove them.
    package static func checkIsOutsideOfStores(_ target: any Volume) throws(CambiumError) {
        for outer in try target.enclosing() {
            let hasSettings = try outer.kind(of: StoreFileName.settings) == .regularFile
            let hasLog = try outer.kind(of: LogDirectory.name) == .directory
            let isInterrupted = try isInterrupted(outer)
            guard hasSettings && hasLog || isInterrupted else { continue }
            throw CambiumError(
                .cannotCreate, "'\(target.name)' is inside the store '\(outer.name)'; choose another place. Nothing was changed.")
        }
    }

    /// The files that every creation writes.
    private static let files = [
        LogFileName.path(TransactionNumber(rawValue: 1), .segment), Head.fileName, StoreSettings.fileName,
        StoreSettings.fileName + LogFileName.replacementSuffix,
    ]

    private static func lock(_ target: any Volume) throws(CambiumError) -> any VolumeLock {
        do {
            return try target.lock(StoreFileName.lock)
        } catch {
            guard error.code == .ioFailure || error.code == .notFound else { throw error }
            throw CambiumError(.cannotCreate, error.message, place: error.place, underlying: error.underlying)
        }
    }

    static func removeLock(_ target: any Volume) throws(CambiumError) {
        guard try target.exists(StoreFileName.lock) else { return }
        try target.remove(StoreFileName.lock)
        try target.syncDirectory("")
    }

    // MARK: Interrupted creations

    /// Whether a creation in the directory was interrupted or is in progress.
    package static func isInterrupted(_ volume: any Volume) throws(CambiumError) -> Bool {
        guard case .mark(let mark)? = try read(volume) else { return false }
        return !mark.isFinished
    }

    /// Checks that no creation in the directory was interrupted or is in progress; otherwise, throws `.notFound`. Complexity: O(bytes of
    /// the mark).
    ///
    /// A process may have died after it wrote the last entry of the mark and before it synced the entry. So each process that finds the
    /// entry makes it durable. Otherwise, a power failure could turn a store that has been used into an interrupted creation.
    static func checkComplete(_ volume: any Volume) throws(CambiumError) {
        guard case .mark(let mark)? = try read(volume) else { return }
        if mark.isFinished { return try syncMark(volume) }
        throw CambiumError(
            .notFound,
            "'\(volume.name)' is not a store yet: its creation was interrupted, or is still running. "
                + "Wait until the store is complete, or repeat the command that creates it.")
    }

    /// Removes the mark after the store was completely created. The caller holds the store's lock.
    package static func removeFinishedMark(_ volume: any Volume) throws(CambiumError) {
        guard case .mark(let mark)? = try read(volume), mark.isFinished else { return }
        try syncMark(volume)
        try volume.remove(CreationMark.fileName)
        try volume.syncDirectory("")
    }

    /// Makes the content of the mark durable, if the mark still exists.
    private static func syncMark(_ volume: any Volume) throws(CambiumError) {
        do throws(CambiumError) {
            let file = try volume.open(CreationMark.fileName, .read)
            defer { file.close() }
            try file.sync()
        } catch {
            guard error.code == .notFound else { throw error }  // Another process has removed the mark.
        }
    }

    /// Reads the mark. Returns `nil` if there is no such file.
    static func read(_ volume: any Volume) throws(CambiumError) -> CreationMark.Content? {
        guard try volume.kind(of: CreationMark.fileName) == .regularFile else { return nil }
        do throws(CambiumError) {
            let file = try volume.open(CreationMark.fileName, .read)
            defer { file.close() }
            return CreationMark.decode(try file.read(at: 0, count: min(try file.byteCount(), CreationMark.byteCountMax)))
        } catch {
            guard error.code == .notFound else { throw error }
            return nil  // The creation has ended and removed the mark in the meantime.
        }
    }

    /// Removes the files whose names are in a mark, makes their removal durable, and then removes the mark.
    static func remove(_ mark: CreationMark?, from volume: any Volume) throws(CambiumError) {
        for name in (mark?.names ?? []).sorted() where try volume.kind(of: name) == .regularFile { try volume.remove(name) }
        for directory in [LogDirectory.name, CheckpointRecord.directory] where try volume.exists(directory) {
            try volume.syncDirectory(directory)
            try volume.removeDirectory(directory)
        }
        // A removed file must not reappear after the mark has been removed.
        try volume.syncDirectory("")
        try volume.remove(CreationMark.fileName)
        try volume.syncDirectory("")
    }
}

/// A directory in which a store can be created: it is empty, or contains only the files of an interrupted creation.
private struct Place {
    private let volume: any Volume
    /// The mark that an interrupted creation of a store left; `nil` if the directory is empty.
    private var content: CreationMark.Content?

    /// Examines a directory. Throws `.cannotCreate` if a store cannot be created there because of the files in it.
    init(_ volume: any Volume) throws(CambiumError) {
        self.volume = volume
        var names = Set(try volume.list(""))
        if names.contains(StoreFileName.lock), try Self.isOurLock(volume) { names.remove(StoreFileName.lock) }
        if names.isEmpty { return }
        content = try StoreCreation.read(volume)
        names.remove(CreationMark.fileName)
        switch content {
        case .torn? where names.isEmpty: break
        case .mark(let mark)? where !mark.isFinished: try check(names, mark)
        default: throw refusal(names)
        }
    }

    private func check(_ names: Set<String>, _ mark: CreationMark) throws(CambiumError) {
        for name in names {
            var files = [name]
            if name == LogDirectory.name || name == CheckpointRecord.directory, try volume.kind(of: name) == .directory {
                files = try volume.list(name).map { "\(name)/\($0)" }
            }
            for file in files {
                guard mark.names.contains(file), try volume.kind(of: file) == .regularFile else { throw refusal(names) }
            }
        }
    }

    private func refusal(_ names: Set<String>) -> CambiumError {
        let reason = names.contains(StoreSettings.fileName) ? "A store already exists at '\(volume.name)'" : "'\(volume.name)' is not empty"
        return CambiumError(.cannotCreate, "\(reason); choose another place. Nothing was changed.")
    }

    /// Whether the lock file has the form of a store's lock file: it is empty, or contains a process id.
    private static func isOurLock(_ volume: any Volume) throws(CambiumError) -> Bool {
        guard try volume.kind(of: StoreFileName.lock) == .regularFile else { return false }
        let file = try volume.open(StoreFileName.lock, .read)
        defer { file.close() }
        return LockHolder.isOne(try file.read(at: 0, count: LockHolder.byteCount + 1))
    }

    /// Removes the files that an interrupted creation left.
    func clear() throws(CambiumError) {
        guard let content else { return }
        if case .mark(let mark) = content {
            try StoreCreation.remove(mark, from: volume)
        } else {
            try StoreCreation.remove(nil, from: volume)
        }
    }
}

extension StoreCreation {
    /// Creates a store as `make(in:store:expecting:_:)` does, and then opens it. If opening the store fails, removes the store.
    ///
    /// - Parameter open: opens the new store, and takes over its lock.
    package static func make<Opened>(
        in target: any Volume, store: [UInt8], _ body: (any Volume) throws -> Void, open: (any VolumeLock) throws -> Opened
    ) throws -> Opened {
        let hasLock = try target.exists(StoreFileName.lock)
        let (_, lock) = try make(in: target, store: store, body)
        do {
            return try open(lock)
        } catch {
            defer { lock.unlock() }
            do throws(CambiumError) {
                try removeStore(from: target, store)
            } catch let failure {
                throw CambiumError(
                    .ioFailure,
                    "\(error) The new store in '\(target.name)' cannot be removed. \(failure.message) "
                        + "If you cannot open the store, create it again or remove it yourself.",
                    underlying: failure)
            }
            if !hasLock { try? removeLock(target) }  // If this fails, the remaining lock file does not prevent the next creation.
            throw error
        }
    }

    /// Removes the files of a new store, except the lock file and files with names that no store uses. First writes a mark that names the
    /// files, so that an interrupted removal leaves the same files as an interrupted creation.
    private static func removeStore(from target: any Volume, _ store: [UInt8]) throws(CambiumError) {
        var names: [String] = []
        for name in try target.list("") where name != StoreFileName.lock && name != CreationMark.fileName {
            if try target.kind(of: name) == .directory {
                names += try target.list(name).map { "\(name)/\($0)" }
            } else {
                names.append(name)
            }
        }
        // The creation may have left its own mark, which states that the store is complete.
        if try target.exists(CreationMark.fileName) { try target.remove(CreationMark.fileName) }
        let volume = try CreationVolume(target, store: store, expecting: names.filter(CreationMark.isName))
        try remove(try volume.reopenedMark(), from: target)
    }
}
