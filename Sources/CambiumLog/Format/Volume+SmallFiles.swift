package import CambiumModel

/// Methods that read or replace small files as a whole.
extension Volume {
    /// The maximum number of bytes of a small file.
    package static var smallByteCountMax: Int { 1 << 20 }

    /// Returns all bytes of a small file of at most 1 MiB.
    package func bytes(of path: String) throws(CambiumError) -> [UInt8] {
        let file = try open(path, .read)
        defer { file.close() }
        let byteCount = try file.byteCount()
        guard byteCount <= Self.smallByteCountMax else {
            throw CambiumError(
                .corrupted, "The file is larger than 1 MiB, so it is not a file of a store. Restore it from a backup.",
                place: .init(file: path))
        }
        return try file.read(at: 0, count: byteCount)
    }

    func byteCount(of path: String) throws(CambiumError) -> Int {
        let file = try open(path, .read)
        defer { file.close() }
        return try file.byteCount()
    }

    /// Opens a file for reading and writing. Creates it if it does not exist. Two threads can call this method at the same time.
    func openOrCreate(_ path: String) throws(CambiumError) -> any VolumeFile {
        do throws(CambiumError) {
            return try open(path, try exists(path) ? .update : .create)
        } catch {
            // Another thread may have created the file in the meantime.
            guard error.code == .cannotCreate, try exists(path) else { throw error }
            return try open(path, .update)
        }
    }

    /// Replaces the content of a file. If the process is interrupted, the file contains either the new content or the old one.
    package func replace(_ path: String, _ bytes: [UInt8]) throws(CambiumError) {
        try withReplacement(of: path, bytes) { newPath throws(CambiumError) in try rename(newPath, to: path) }
    }

    /// Replaces a file as `replace` does, unless a process or a thread has a shared lock on it. In that case returns `false`, and the file
    /// stays unchanged.
    func replaceUnlessShared(_ path: String, _ bytes: [UInt8]) throws(CambiumError) -> Bool {
        try withReplacement(of: path, bytes) { newPath throws(CambiumError) in
            if try renameUnlessShared(newPath, to: path) { return true }
            try remove(newPath)
            return false
        }
    }

    /// Calls `body` with the path of a new file that contains these bytes. If an operation fails, removes that file again.
    private func withReplacement<Result>(
        of path: String, _ bytes: [UInt8], _ body: (_ newPath: String) throws(CambiumError) -> Result
    ) throws(CambiumError) -> Result {
        let newPath = path + LogFileName.replacementSuffix
        if try exists(newPath) { try remove(newPath) }
        do throws(CambiumError) {
            try create(newPath, bytes)
            return try body(newPath)
        } catch {
            if (try? exists(newPath)) == true { try? remove(newPath) }  // If this fails, the next checkpoint removes the file.
            throw error
        }
    }

    /// Creates a file with these bytes and syncs it. The caller syncs the directory.
    func create(_ path: String, _ bytes: [UInt8]) throws(CambiumError) {
        let file = try open(path, .create)
        defer { file.close() }
        try file.write(bytes, at: 0)
        try file.sync()
    }
}
