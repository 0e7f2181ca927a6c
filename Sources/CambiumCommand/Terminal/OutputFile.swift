import Cambium
import Glibc

/// A file that a command writes for an option. Until `keep`, a temporary file next to the requested file contains the bytes, so that no
/// reader finds half a file.
struct OutputFile {
    private let path: String
    private let temporary: String
    private let descriptor: Int32
    /// The option of the command line that names the file, such as `--map`.
    private let option: String

    /// Creates the temporary file. Throws `.cannotCreate` if no file can be created next to the requested file.
    ///
    /// - Parameter mode: the permissions of the file, from which the file mode creation mask of the process takes some.
    init(_ path: String, option: String, mode: mode_t = 0o666) throws(CambiumError) {
        self.option = option
        self.path = try Self.place(path, option)
        let temporary = self.path + ".\(getpid()).new"
        self.temporary = temporary
        descriptor = Self.uninterrupted { open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        if descriptor < 0 { throw Self.error(.cannotCreate, "cannot be created", path, option) }
    }

    /// Returns the path of the file that will be replaced. If the requested path is a symbolic link, returns the path to which the link
    /// leads.
    private static func place(_ path: String, _ option: String) throws(CambiumError) -> String {
        if path.isEmpty { throw CambiumError(.cannotCreate, "\(option) has an empty file name. Name a file.") }
        var status = stat()
        guard lstat(path, &status) == 0 else { return path }
        guard let place = path.resolvedPath else { throw error(.cannotCreate, "cannot be created", path, option) }
        guard stat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let message = "\(option) would replace something that is not a regular file. Name another file."
            throw CambiumError(.cannotCreate, message, place: .init(file: path))
        }
        return place
    }

    /// Writes a text to the file of `--to`, or to standard output if there is no path.
    static func write(_ text: String, to path: String?) throws(CambiumError) {
        guard let path else { return Terminal.write(Array(text.utf8)) }
        try replace(path, with: text, option: "--to")
    }

    /// Replaces the text of a file, or creates the file.
    static func replace(_ path: String, with text: String, option: String, mode: mode_t = 0o666) throws(CambiumError) {
        let file = try OutputFile(path, option: option, mode: mode)
        do throws(CambiumError) {
            try file.write(Array(text.utf8))
            try file.end()
        } catch {
            file.discard()
            throw error
        }
        try file.keep()
    }

    private func error(_ code: CambiumError.Code, _ what: String) -> CambiumError { Self.error(code, what, path, option) }

    private static func error(_ code: CambiumError.Code, _ what: String, _ path: String, _ option: String) -> CambiumError {
        let remedy = code == .cannotCreate ? " Name another file." : ""
        return CambiumError(code, "The file of \(option) \(what): \(String(cString: strerror(errno))).\(remedy)", place: .init(file: path))
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(CambiumError) {
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done) }
            if put < 0, errno != EINTR { throw error(.ioFailure, "cannot be written") }
            if put > 0 { done += put }
        }
    }

    /// Makes the bytes durable. No bytes may follow.
    func end() throws(CambiumError) {
        if Self.uninterrupted({ fsync(descriptor) }) != 0 { throw error(.ioFailure, "cannot be written") }
    }

    /// Renames the file to its requested name.
    func keep() throws(CambiumError) {
        Glibc.close(descriptor)
        if rename(temporary, path) != 0 {
            let what =
                "is complete, but it still has the name '\(temporary)'. Rename it to the requested name. "
                + "The command could not rename it"
            throw error(.ioFailure, what)
        }
        try syncDirectory()
    }

    /// Syncs the directory of the file, because the new name could otherwise be lost in a power failure.
    private func syncDirectory() throws(CambiumError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = end.map { String(path[...$0]) } ?? "."
        let descriptor = Self.uninterrupted { open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        // A directory in which the user may create files, but which the user may not read, cannot be synced.
        if descriptor < 0, errno == EACCES { return }
        guard descriptor >= 0 else { throw error(.ioFailure, Self.unsynced) }
        defer { Glibc.close(descriptor) }
        // Some file systems refuse each sync of a directory with EINVAL. No other call could make the name durable there.
        if Self.uninterrupted({ fsync(descriptor) }) != 0, errno != EINVAL { throw error(.ioFailure, Self.unsynced) }
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
