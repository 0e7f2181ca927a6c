import Cambium
import CambiumJSON
import Glibc

/// The file for the old and the new ids of a clone. Until the clone is committed, a temporary file next to the requested file contains the
/// ids. After the commit, the temporary file replaces the requested file.
struct CloneMapFile {
    private let path: String
    private let temporary: String
    private let descriptor: Int32

    /// Creates the temporary file. Throws `.cannotCreate` if no file can be created next to the requested file.
    init(_ path: String) throws(CambiumError) {
        self.path = try Self.place(path)
        let temporary = self.path + ".\(getpid()).new"
        self.temporary = temporary
        descriptor = Self.uninterrupted { open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
        if descriptor < 0 { throw Self.error(.cannotCreate, "cannot be created", path) }
    }

    /// Returns the path of the file that the map will replace. If the requested path is a symbolic link, returns the path to which the link
    /// leads.
    private static func place(_ path: String) throws(CambiumError) -> String {
        if path.isEmpty { throw CambiumError(.cannotCreate, "--map has an empty file name. Name the file for the ids.") }
        var status = stat()
        guard lstat(path, &status) == 0 else { return path }
        guard let found = realpath(path, nil) else { throw error(.cannotCreate, "cannot be created", path) }
        defer { free(found) }
        // SAFETY: the operating system terminates the text with a zero byte, and the text is freed only after this use.
        let place = String(cString: found)
        guard stat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let message = "--map would replace something that is not a regular file. Name another file."
            throw CambiumError(.cannotCreate, message, place: .init(file: path))
        }
        return place
    }

    private static func error(_ code: CambiumError.Code, _ what: String, _ path: String) -> CambiumError {
        CambiumError(code, "The file of --map \(what): \(String(cString: strerror(errno))).", place: .init(file: path))
    }

    /// Writes a line for each object, in ascending order of id.
    func write(_ map: CloneMap, _ graph: Graph) throws(CambiumError) {
        var writer = JSONWriter()
        try map.forEach { (original: ObjectID, copy: ObjectID) throws(CambiumError) in
            // A copy has the same entity as its original. The copy itself is not in this graph yet.
            guard let entity = graph.entity(of: original) else { return }
            try add(original, copy, entity, graph.schema, to: &writer)
        }
        try end(&writer)
    }

    /// Writes a line for each object of an earlier clone. The op of that clone was read from the log. Throws `.notFound` if a copy is not
    /// in the graph.
    func write(_ op: CloneOp, _ graph: Graph) throws(CambiumError) {
        var writer = JSONWriter()
        // A clone assigns ascending serials to the copies, in ascending order of the originals. So the lines are in ascending order of the
        // originals, too.
        for hierarchy in op.hierarchies {
            for serial in hierarchy.firstSerial..<hierarchy.firstSerial + UInt64(hierarchy.objectCount) {
                let copy = ObjectID(root: hierarchy.root, serial: serial)
                guard let original = graph.source(of: copy), let entity = graph.entity(of: copy) else {
                    throw CambiumError(
                        .notFound,
                        "The map cannot be written, because a copy was deleted later, and the moment of the clone is not available. "
                            + "Omit --map.", place: .init(file: path))
                }
                try add(original, copy, entity, graph.schema, to: &writer)
            }
        }
        try end(&writer)
    }

    private func add(
        _ original: ObjectID, _ copy: ObjectID, _ entity: Entity, _ schema: Schema, to writer: inout JSONWriter
    ) throws(CambiumError) {
        writer.beginObject()
        writer.key("old")
        writer.string(schema.text(of: original, entity: entity))
        writer.key("new")
        writer.string(schema.text(of: copy, entity: entity))
        writer.endObject()
        writer.endLine()
        if writer.bytes.count >= 1 << 16 { try flush(&writer) }
    }

    private func end(_ writer: inout JSONWriter) throws(CambiumError) {
        try flush(&writer)
        if Self.uninterrupted({ fsync(descriptor) }) != 0 { throw Self.error(.ioFailure, "cannot be written", path) }
    }

    private func flush(_ writer: inout JSONWriter) throws(CambiumError) {
        let bytes = writer.bytes
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done) }
            if put < 0, errno != EINTR { throw Self.error(.ioFailure, "cannot be written", path) }
            if put > 0 { done += put }
        }
        writer.removeAll()
    }

    /// Renames the map to its final path after the clone is committed.
    func keep() throws(CambiumError) {
        Glibc.close(descriptor)
        if rename(temporary, path) != 0 {
            let what =
                "is complete, but it still has the name '\(temporary)'. Rename it to the requested name. "
                + "The command could not rename it"
            throw Self.error(.ioFailure, what, path)
        }
        try syncDirectory()
    }

    /// Syncs the directory of the map, because the new name could otherwise be lost in a power failure. The clone would remain without its
    /// map.
    private func syncDirectory() throws(CambiumError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = end.map { String(path[...$0]) } ?? "."
        let descriptor = Self.uninterrupted { open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        // A directory in which the user may create files, but which the user may not read, cannot be synced.
        if descriptor < 0, errno == EACCES { return }
        guard descriptor >= 0 else { throw Self.error(.ioFailure, Self.unsynced, path) }
        defer { Glibc.close(descriptor) }
        // Some file systems refuse each sync of a directory with EINVAL. No other call could make the name durable there.
        if Self.uninterrupted({ fsync(descriptor) }) != 0, errno != EINVAL { throw Self.error(.ioFailure, Self.unsynced, path) }
    }

    /// Repeats a call as long as signals interrupt it. Returns the result of the last call, which is negative if the call failed. In that
    /// case, `errno` has the cause.
    static func uninterrupted(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private static let unsynced = "is complete, but its directory could not be synced, so a power failure may remove it"

    func discard() {
        Glibc.close(descriptor)
        unlink(temporary)
    }
}
