import CambiumBytes
internal import CambiumModel

/// The directory of a store that is being created. Before this volume creates a file, it durably writes the name of the file into the
/// creation mark.
///
/// The mark itself is not visible through this volume. `lock` takes no lock, because the creation already holds the lock of the directory.
final class CreationVolume: Volume {
    private let base: any Volume
    private let state: Guarded<State>

    private struct State {
        var mark: CreationMark
        let file: any VolumeFile
        var byteCount: Int
        /// The length of the creation mark without its final entry, which states that the store is complete. The mark gets this entry at
        /// the end of the creation.
        var namesByteCount: Int
    }

    /// Writes the mark. At this time, the directory contains only its lock file.
    ///
    /// - Parameter names: the files that will be written while the store is created. The mark lists them from the beginning, so one sync is
    ///   enough for all of these names.
    init(_ base: any Volume, store: [UInt8], expecting names: [String]) throws(CambiumError) {
        self.base = base
        var (mark, bytes) = CreationMark.begin(store: store)
        for name in names where !mark.names.contains(name) { bytes += mark.add(name) }
        let file = try base.open(CreationMark.fileName, .create)
        state = Guarded(State(mark: mark, file: file, byteCount: bytes.count, namesByteCount: bytes.count))
        try file.write(bytes, at: 0)
        try file.sync()
        try base.syncDirectory("")
    }

    deinit { state.withLock { $0.file.close() } }

    // MARK: The mark

    /// Adds the name of a file to the mark, before the file is created.
    private func track(_ path: String) throws(CambiumError) {
        try state.withLock { state throws(CambiumError) in
            if state.mark.names.contains(path) { return }
            // If the disk is full, the caller may continue without the file at `path`. So the mark in memory changes only after the entry
            // was written, because the checksum of each entry continues the checksum of the preceding entry.
            var mark = state.mark
            let entry = mark.add(path)
            try state.file.write(entry, at: state.byteCount)
            try state.file.sync()
            state.mark = mark
            state.byteCount += entry.count
            state.namesByteCount = state.byteCount
        }
    }

    /// Marks the store as complete, and removes the mark. After that, the directory is a store.
    func finish() throws(CambiumError) {
        try state.withLock { state throws(CambiumError) in
            let entry = state.mark.finish()
            try state.file.write(entry, at: state.byteCount)
            state.byteCount += entry.count
            try state.file.sync()
        }
        // If the mark cannot be removed, it does no harm: it states that the store is complete, and the next writer removes it.
        try? base.remove(CreationMark.fileName)
        try? base.syncDirectory("")
    }

    /// Returns the mark, which names the files to remove because the creation of the store has failed. If `finish` has already written the
    /// last entry, which marks the store as complete, first cuts off this entry.
    func reopenedMark() throws(CambiumError) -> CreationMark {
        try state.withLock { state throws(CambiumError) in
            if state.byteCount > state.namesByteCount || state.mark.isFinished {
                // After a sync has failed, each later sync through the same open file fails, too. So the file is opened again.
                let file = try base.open(CreationMark.fileName, .update)
                defer { file.close() }
                try file.truncate(to: state.namesByteCount)
                try file.sync()
            }
            return state.mark
        }
    }

    // MARK: Volume

    var name: String { base.name }

    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        if mode == .create { try track(path) }
        return try base.open(path, mode)
    }

    func list(_ directory: String) throws(CambiumError) -> [String] {
        let names = try base.list(directory)
        return directory.isEmpty ? names.filter { $0 != CreationMark.fileName } : names
    }

    func exists(_ path: String) throws(CambiumError) -> Bool {
        path == CreationMark.fileName ? false : try base.exists(path)
    }

    func rename(_ path: String, to newPath: String) throws(CambiumError) {
        try track(newPath)
        try base.rename(path, to: newPath)
    }

    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try track(newPath)
        return try base.renameUnlessShared(path, to: newPath)
    }

    func lock(_ path: String) throws(CambiumError) -> any VolumeLock { HeldLock() }

    func kind(of path: String) throws(CambiumError) -> FileKind? {
        path == CreationMark.fileName ? nil : try base.kind(of: path)
    }

    func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool { try base.names(path, file) }
    func remove(_ path: String) throws(CambiumError) { try base.remove(path) }
    func createDirectory(_ path: String) throws(CambiumError) { try base.createDirectory(path) }
    func removeDirectory(_ path: String) throws(CambiumError) { try base.removeDirectory(path) }
    func syncDirectory(_ path: String) throws(CambiumError) { try base.syncDirectory(path) }
    func share(_ path: String) throws(CambiumError) -> any VolumeLock { try base.share(path) }
    func isShared(_ path: String) throws(CambiumError) -> Bool { try base.isShared(path) }
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try base.removeUnlessShared(path) }
    func openNameless() throws(CambiumError) -> (any VolumeFile)? { try base.openNameless() }
    func diskByteCount(of path: String) throws(CambiumError) -> Int { try base.diskByteCount(of: path) }
}

/// A lock without effect. The code that creates the store holds the real lock of the directory until it has finished.
private final class HeldLock: VolumeLock {
    func unlock() {}
}
