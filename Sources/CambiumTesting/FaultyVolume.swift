import CambiumBytes
package import CambiumLog
package import CambiumModel

/// A volume (a directory of files) in memory that simulates a disk. The volume knows which bytes of each file are written and which are
/// durable, so it can produce any state that a crash may leave. At any operation, the volume can simulate the death of the process, or a
/// failure of the disk.
///
///     let volume = FaultyVolume()
///     volume.crash(at: 17)                       // operation 17 and all later ones throw
///     ...
///     let disk = MemoryVolume(contents: volume.image(seed: 3))
///
/// An operation is a call that changes something: creating, writing, truncating, preallocating, mapping for writing, syncing, renaming,
/// linking or removing a file, and syncing a directory. Calls that change nothing are counted separately. A write to mapped memory is not
/// an operation. Until the file is synced, a power failure may keep or lose each page that was written.
///
/// Interrupted calls, and reads or writes that end early, are not simulated, because each implementation of `Volume` repeats them. A call
/// completes or fails. A failed write may have written some of its bytes, as on a real disk.
package final class FaultyVolume: Volume {
    private let state = Guarded(FaultyDisk())
    private let locks = MemoryVolume()
    private let shares = SharedFiles()

    package let name = "faulty"

    package init(contents: [String: [UInt8]] = [:]) {
        state.withLock { $0 = FaultyDisk(contents) }
    }

    // MARK: Faults

    /// The number of operations so far.
    package var operationCount: Int { state.withLock { $0.operationCount } }

    /// Simulates the death of the process at an operation, counted from 0. This operation and all later ones throw.
    package func crash(at operation: Int) { state.withLock { $0.crashOperation = operation } }

    /// Makes one operation, counted from 0, fail with an error number of the operating system. A write that fails still writes a part of
    /// its bytes. After a failed sync, some changes to the file are durable, and later syncs do not write the other changes. Later syncs of
    /// the same open file fail, too.
    package func fail(at operation: Int, with code: Int32) { state.withLock { $0.failure = (operation, code) } }

    /// The number of calls so far that change nothing: calls that open, read, list, map for reading, or ask for a length or for existence.
    package var readCount: Int { state.withLock { $0.readCount } }

    /// Makes one of the calls that change nothing fail, with an error number of the operating system. These calls are counted from 0, as in
    /// `readCount`.
    package func failRead(at read: Int, with code: Int32) { state.withLock { $0.readFailure = (read, code) } }

    /// Simulates the start of another process that uses the current files. The faults that were requested no longer apply.
    package func recover() { state.withLock { $0.recover() } }

    /// Whether the process has died and no other process has begun.
    package var isDead: Bool { state.withLock { $0.crashOperation != nil && $0.hasFailed } }

    /// Whether the requested fault has happened.
    package var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// The files as the process sees them.
    package var contents: [String: [UInt8]] {
        state.withLock { disk in
            for number in disk.files.indices { disk.files[number].absorb() }
            return disk.liveContents
        }
    }

    /// Returns the files that a power failure at this moment may leave. Any subset of the changes that were not synced survives: whole
    /// writes, parts of writes, and changes of directories.
    package func image(seed: UInt64) -> [String: [UInt8]] {
        var random = SplitMix64(seed: seed)
        return state.withLock { disk in
            for number in disk.files.indices { disk.files[number].absorb() }
            return disk.image(&random)
        }
    }

    // MARK: Volume

    package func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        let number = try state.withLock { disk throws(CambiumError) -> Int in
            if mode != .create {
                try disk.beginRead()
                guard let number = disk.live[path] else { throw CambiumError(.notFound, "File '\(path)' does not exist.") }
                return number
            }
            if disk.live[path] != nil { throw CambiumError(.cannotCreate, "File '\(path)' already exists.") }
            try disk.begin()
            return disk.create(path)
        }
        return FaultyFile(volume: self, number: number)
    }

    package func list(_ directory: String) throws(CambiumError) -> [String] {
        let prefix = directory.isEmpty ? "" : directory + "/"
        let names = try state.withLock { disk throws(CambiumError) in
            try disk.beginRead()
            return disk.live.keys.compactMap { path in
                path.hasPrefix(prefix) ? path.dropFirst(prefix.count).split(separator: "/").first.map(String.init) : nil
            }
        }
        return Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    package func exists(_ path: String) throws(CambiumError) -> Bool {
        try state.withLock { disk throws(CambiumError) in
            try disk.beginRead()
            return disk.live.keys.contains { $0 == path || $0.hasPrefix(path + "/") }
        }
    }

    /// Whether `path` leads to `file`. `readCount` does not count this call, because the call does not read from the disk.
    package func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool {
        guard let file = file as? FaultyFile else { return false }
        return state.withLock { $0.live[path] == file.number }
    }

    package func remove(_ path: String) throws(CambiumError) {
        try state.withLock { disk throws(CambiumError) in
            guard disk.live[path] != nil else { throw CambiumError(.notFound, "File '\(path)' does not exist.") }
            try disk.begin()
            disk.change([path: nil])
        }
    }

    package func rename(_ path: String, to newPath: String) throws(CambiumError) {
        try state.withLock { disk throws(CambiumError) in
            guard let number = disk.live[path] else { throw CambiumError(.notFound, "File '\(path)' does not exist.") }
            try disk.begin()
            disk.change([path: nil, newPath: number])
        }
    }

    package func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool {
        guard other as AnyObject === self else { return false }
        try state.withLock { disk throws(CambiumError) in
            guard let number = disk.live[path] else { throw CambiumError(.notFound, "File '\(path)' does not exist.") }
            if disk.live[newPath] != nil { throw CambiumError(.cannotCreate, "File '\(newPath)' already exists.") }
            try disk.begin()
            disk.change([newPath: number])
        }
        return true
    }

    package func createDirectory(_ path: String) throws(CambiumError) {}

    package func syncDirectory(_ path: String) throws(CambiumError) {
        try state.withLock { disk throws(CambiumError) in
            try disk.begin()
            disk.syncDirectory(path)
        }
    }

    package func lock(_ path: String) throws(CambiumError) -> any VolumeLock {
        try locks.lock(path)
    }

    package func share(_ path: String) throws(CambiumError) -> any VolumeLock {
        try shares.share(path, on: self)
    }

    package func isShared(_ path: String) throws(CambiumError) -> Bool { shares.isShared(path) }

    package func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try shares.removeUnlessShared(path, from: self) }

    package func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try shares.renameUnlessShared(path, to: newPath, on: self)
    }

    func with<Result>(
        _ body: (inout sending FaultyDisk) throws(CambiumError) -> sending Result
    ) throws(CambiumError) -> sending Result { try state.withLock(body) }
}
