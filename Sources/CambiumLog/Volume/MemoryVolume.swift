import CambiumBytes
package import CambiumModel

/// A volume whose files exist only in memory, and only as long as the volume exists. It serves stores that are never on disk, and tests.
package final class MemoryVolume: Volume {
    private let files = Guarded<[String: MemoryFile]>([:])
    /// The paths that are locked.
    private let locked = Guarded<Set<String>>([])
    private let shares = SharedFiles()

    package let name = "memory"

    package init() {}

    /// The current files: the bytes of each file, by its path.
    package var contents: [String: [UInt8]] { files.withLock { $0.mapValues(\.bytes) } }

    /// Creates a volume with the given files: the bytes of each file, by its path.
    package init(contents: [String: [UInt8]]) {
        files.withLock { $0 = contents.mapValues { MemoryFile(bytes: $0) } }
    }

    package func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        let found = files.withLock { files -> MemoryFile? in
            if mode == .create, files[path] == nil {
                let file = MemoryFile(bytes: [])
                files[path] = file
                return file
            }
            return mode == .create ? nil : files[path]
        }
        if let found { return found }
        if mode == .create { throw CambiumError(.cannotCreate, "A file '\(path)' already exists.") }
        throw CambiumError(.notFound, "There is no file '\(path)'.")
    }

    package func list(_ directory: String) throws(CambiumError) -> [String] {
        let prefix = directory.isEmpty ? "" : directory + "/"
        let names = files.withLock { files in
            files.keys.compactMap { path in
                path.hasPrefix(prefix) ? path.dropFirst(prefix.count).split(separator: "/").first.map(String.init) : nil
            }
        }
        return Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    package func exists(_ path: String) throws(CambiumError) -> Bool {
        files.withLock { files in files.keys.contains { $0 == path || $0.hasPrefix(path + "/") } }
    }

    package func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool { files.withLock { $0[path] } === file }

    package func remove(_ path: String) throws(CambiumError) {
        let removed = files.withLock { $0.removeValue(forKey: path) }
        if removed == nil { throw CambiumError(.notFound, "There is no file '\(path)'.") }
    }

    package func rename(_ path: String, to newPath: String) throws(CambiumError) {
        let isThere = files.withLock { files in
            guard let file = files.removeValue(forKey: path) else { return false }
            files[newPath] = file
            return true
        }
        if !isThere { throw CambiumError(.notFound, "There is no file '\(path)'.") }
    }

    package func createDirectory(_ path: String) throws(CambiumError) {}
    package func syncDirectory(_ path: String) throws(CambiumError) {}

    package func lock(_ path: String) throws(CambiumError) -> any VolumeLock {
        let isTaken = locked.withLock { !$0.insert(path).inserted }
        if isTaken {
            throw CambiumError(
                .locked, "This process already has the store open for writing. Use the store that is open, or close it first.")
        }
        return MemoryLock { [self] in locked.withLock { _ = $0.remove(path) } }
    }

    package func share(_ path: String) throws(CambiumError) -> any VolumeLock {
        try shares.share(path, on: self)
    }

    package func isShared(_ path: String) throws(CambiumError) -> Bool { shares.isShared(path) }

    package func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try shares.removeUnlessShared(path, from: self) }

    package func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try shares.renameUnlessShared(path, to: newPath, on: self)
    }
}

final class MemoryFile: VolumeFile {
    private let content: Guarded<[UInt8]>

    init(bytes: [UInt8]) { content = Guarded(bytes) }

    var bytes: [UInt8] { content.withLock { $0 } }

    func byteCount() throws(CambiumError) -> Int { content.withLock { $0.count } }

    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        content.withLock { bytes in
            let start = min(offset, bytes.count)
            // The bytes are copied, so that a reader never shares the storage of the file. The thread sanitizer would not see that the
            // reader drops the storage before a writer changes it in place.
            return bytes.withUnsafeBufferPointer { [UInt8](UnsafeBufferPointer(rebasing: $0[start..<min(start + count, $0.count)])) }
        }
    }

    func write(_ added: [UInt8], at offset: Int) throws(CambiumError) {
        content.withLock { bytes in
            Self.extend(&bytes, to: offset)
            let end = min(offset + added.count, bytes.count)
            bytes.replaceSubrange(offset..<end, with: added)
        }
    }

    func truncate(to byteCount: Int) throws(CambiumError) {
        content.withLock { bytes in
            if bytes.count > byteCount { bytes.removeLast(bytes.count - byteCount) }
            Self.extend(&bytes, to: byteCount)
        }
    }

    /// Adds zeros up to a length. Does nothing if there are at least that many bytes.
    private static func extend(_ bytes: inout [UInt8], to byteCount: Int) {
        // Without optimization, an array is appended as a whole, but other sequences are appended byte by byte.
        if byteCount > bytes.count { bytes += [UInt8](repeating: 0, count: byteCount - bytes.count) }
    }

    func sync() throws(CambiumError) {}
    func close() {}
}

/// The shared locks on the files of a volume in memory: the number of locks on each file.
package final class SharedFiles: Sendable {
    private let counts = Guarded<[String: Int]>([:])

    package init() {}

    /// Takes a shared lock, as `Volume.share` promises.
    package func share(_ path: String, on volume: any Volume) throws(CambiumError) -> any VolumeLock {
        counts.withLock { $0[path, default: 0] += 1 }
        let share = MemoryLock { [self] in counts.withLock { $0[path, default: 1] -= 1 } }
        if try volume.exists(path) { return share }
        share.unlock()
        throw CambiumError(.notFound, "There is no file '\(path)'.")
    }

    /// Whether a file has a shared lock, as `Volume.isShared` specifies.
    package func isShared(_ path: String) -> Bool { counts.withLock { $0[path, default: 0] > 0 } }

    /// Removes a file, as `Volume.removeUnlessShared` promises.
    package func removeUnlessShared(_ path: String, from volume: any Volume) throws(CambiumError) -> Bool {
        try unlessShared(path) { () throws(CambiumError) in try volume.remove(path) }
    }

    /// Renames a file, as `Volume.renameUnlessShared` promises.
    package func renameUnlessShared(_ path: String, to newPath: String, on volume: any Volume) throws(CambiumError) -> Bool {
        try unlessShared(newPath) { () throws(CambiumError) in try volume.rename(path, to: newPath) }
    }

    /// Calls `body` while no thread can share the file at `path`. If the file is shared, returns `false` and does not call `body`. The lock
    /// of the counts is taken before the locks of the volume.
    private func unlessShared(_ path: String, _ body: () throws(CambiumError) -> Void) throws(CambiumError) -> Bool {
        try counts.withLock { counts throws(CambiumError) in
            if counts[path, default: 0] > 0 { return false }
            try body()
            return true
        }
    }
}

final class MemoryLock: VolumeLock {
    private let release: Guarded<(@Sendable () -> Void)?>

    init(release: @escaping @Sendable () -> Void) { self.release = Guarded(release) }

    deinit { unlock() }

    func unlock() {
        let release = release.withLock { release in
            defer { release = nil }
            return release
        }
        release?()
    }
}
