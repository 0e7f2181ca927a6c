import Cambium
import CambiumJSON

#if canImport(Glibc)
    import Glibc
#endif

/// Where a clone's old and new ids are written: beside the file that was asked for until the clone is committed, then in its place.
struct CloneMapFile {
    private let path: String
    private let temporary: String
    private let descriptor: Int32

    /// Throws `.cannotCreate`.
    init(_ path: String) throws(CambiumError) {
        self.path = try Self.place(path)
        temporary = self.path + ".\(getpid()).new"
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor < 0 { throw Self.error(.cannotCreate, "cannot be created", path) }
    }

    /// Where the map gets its name: a link stays, and the file that it leads to is replaced.
    private static func place(_ path: String) throws(CambiumError) -> String {
        var status = stat()
        guard lstat(path, &status) == 0 else { return path }
        guard let found = realpath(path, nil) else { throw error(.cannotCreate, "cannot be created", path) }
        defer { free(found) }
        // SAFETY: the system ends the text with a zero, and it stays until it is freed after this.
        let place = String(cString: found)
        guard stat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CambiumError(.cannotCreate, "The map would replace something that is not a regular file.", place: .init(file: path))
        }
        return place
    }

    private static func error(_ code: CambiumError.Code, _ what: String, _ path: String) -> CambiumError {
        CambiumError(code, "The map \(what): \(String(cString: strerror(errno))).", place: .init(file: path))
    }

    /// Writes a line for each object, by ascending id.
    func write(_ map: CloneMap, _ graph: Graph) throws(CambiumError) {
        var writer = JSONWriter()
        try map.forEach { (original: ObjectID, copy: ObjectID) throws(CambiumError) in
            // A copy is of its original's entity, and not in this graph yet.
            guard let entity = graph.entity(of: original) else { return }
            writer.beginObject()
            writer.key("old")
            writer.string(graph.schema.text(of: original, entity: entity))
            writer.key("new")
            writer.string(graph.schema.text(of: copy, entity: entity))
            writer.endObject()
            writer.endLine()
            if writer.bytes.count >= 1 << 16 { try flush(&writer) }
        }
        try flush(&writer)
        if fsync(descriptor) != 0 { throw Self.error(.ioFailure, "cannot be written", path) }
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

    /// Gives the map its name, once the clone is committed.
    func keep() throws(CambiumError) {
        Glibc.close(descriptor)
        if rename(temporary, path) != 0 { throw Self.error(.ioFailure, "is in '\(temporary)', because it cannot be renamed", path) }
    }

    func discard() {
        Glibc.close(descriptor)
        unlink(temporary)
    }
}
