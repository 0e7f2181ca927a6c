import Cambium
import Glibc

/// A pipe or FIFO whose bytes can be read more than once. The first reading copies them to a temporary file. The file has no name, so its
/// space is released when the process ends.
///
/// SENDABLE: only one thread at a time reads a source, and a source is opened again only after the previous reader has finished.
final class SpooledInput: @unchecked Sendable {
    private let source: ImportSource
    private let directory: String
    private var read: ImportSource.Reader?
    private var descriptor: Int32 = -1
    /// The number of bytes in the temporary file.
    private var length = 0
    private var isAtEnd = false

    /// - Parameter directory: The directory of the temporary file; by default, the directory for temporary files.
    init(_ source: ImportSource, directory: String? = nil) {
        self.source = source
        self.directory = directory ?? TemporaryDirectory.path(getenv("TMPDIR").map { String(cString: $0) })
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Begins to read the source, unless it was opened earlier. Throws `.ioFailure` if the file cannot be created.
    func open() throws {
        if read != nil { return }
        var path = Array("\(directory)/cambium-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        if descriptor < 0 { throw failure() }
        unlink(path)
        read = try source.open()
    }

    /// Fills a buffer with the bytes that begin at an offset, and returns their number; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
        if offset < length {
            let count = pread(descriptor, buffer.baseAddress, min(buffer.count, length - offset), off_t(offset))
            if count <= 0 { throw failure() }
            return count
        }
        guard let read, !isAtEnd else { return 0 }
        let count = try read(buffer)
        isAtEnd = count == 0
        try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        return count
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(length))
            if count < 0, errno != EINTR { throw failure() }
            if count > 0 { (done, length) = (done + count, length + count) }
        }
    }

    private func failure() -> CambiumError {
        let reason = String(cString: strerror(errno))
        return CambiumError(
            .ioFailure,
            "The rows cannot be kept in a temporary file in '\(directory)': \(reason). Set TMPDIR to another directory, or import a file.",
            place: .init(file: source.name))
    }
}

extension ImportSource {
    /// Returns a source that has the same bytes, and that can be read more than once.
    func spooled() -> ImportSource {
        if isRepeatable { return self }
        let spool = SpooledInput(self)
        var source = ImportSource(name: name, isRepeatable: true, format: format) {
            try spool.open()
            var offset = 0
            return { buffer in
                let count = try spool.read(into: buffer, at: offset)
                offset += count
                return count
            }
        }
        source.mayWait = true
        return source
    }
}
