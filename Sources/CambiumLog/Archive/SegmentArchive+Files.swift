internal import CambiumModel

/// Writes the files of an archive. Each file gets its name only after it is durable.
extension SegmentArchive {
    /// Removes the incomplete files of compactions that were interrupted. Later compactions might never replace these files, because the
    /// log may have merged their segments. The caller holds the lock of the archive.
    func removeInterrupted() throws(CambiumError) {
        let suffix = LogFileName.replacementSuffix
        for name in try volume.list(LogDirectory.name)
        where name.hasSuffix(suffix) && LogFileName.parse(String(name.dropLast(suffix.utf8.count))) != nil {
            try volume.remove(LogDirectory.name + "/" + name)
        }
    }

    /// Makes a file of the archive durable. If the sync fails, replaces the file with a durable copy of itself. The kernel reports a failed
    /// sync only once. Without the copy, a later compaction would mistake the lost bytes for durable ones, and would retire their
    /// transactions.
    func sync(_ path: String) throws(CambiumError) {
        let file = try volume.open(path, .read)
        defer { file.close() }
        do throws(CambiumError) {
            try file.sync()
        } catch {
            try replace(path) { newPath throws(CambiumError) in try file.copy(try file.byteCount(), to: volume, newPath) }
        }
    }

    /// Copies a file of the log, or creates a hard link to it. A link is safe, because a compaction archives a segment only if another
    /// segment follows. Nothing is ever written to such a segment or to its files of ops.
    func put(_ path: String, from source: any Volume) throws(CambiumError) -> Int {
        let file = try source.open(path, .read)
        defer { file.close() }
        let byteCount = try file.byteCount()
        try replace(path) { newPath throws(CambiumError) in
            if try !link(path, from: source, as: newPath) { try file.copy(byteCount, to: volume, newPath) }
        }
        return byteCount
    }

    /// Creates a durable hard link to a file of the log. Returns `false` if the file systems do not allow that, or if the file cannot be
    /// made durable.
    private func link(_ path: String, from source: any Volume, as newPath: String) throws(CambiumError) -> Bool {
        guard try source.link(path, into: volume, as: newPath) else { return false }
        do throws(CambiumError) {
            let file = try volume.open(newPath, .read)
            defer { file.close() }
            try file.sync()
            return true
        } catch {
            try volume.remove(newPath)
            return false
        }
    }

    /// Calls `make`, which must create a durable file with a temporary name. Then gives the file its name in the archive.
    private func replace(_ path: String, _ make: (_ newPath: String) throws(CambiumError) -> Void) throws(CambiumError) {
        let newPath = path + LogFileName.replacementSuffix
        if try volume.exists(newPath) { try volume.remove(newPath) }
        do throws(CambiumError) {
            try make(newPath)
            try volume.rename(newPath, to: path)
        } catch {
            if (try? volume.exists(newPath)) == true { try? volume.remove(newPath) }  // Otherwise the next call removes it.
            throw error
        }
    }
}
