internal import CambiumModel

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
