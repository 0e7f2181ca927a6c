package import CambiumModel
import Glibc

extension SystemVolume {
    package func createDirectory(_ path: String) throws(CambiumError) {
        _ = try makeDirectories(full(path))
        // The kind of the volume's own directory is not checked, because it may be a link to a directory.
        if !path.isEmpty, try kind(of: path) != .directory { throw SystemFailure.irregular(full(path), "directory") }
    }

    package func removeDirectory(_ path: String) throws(CambiumError) {
        let path = full(path)
        guard rmdir(path) != 0 else { return }
        let code = errno
        if code != ENOTEMPTY, code != EEXIST, code != ENOENT { throw SystemFailure.error("remove the directory", path, code) }
    }

    /// Creates the volume's directory and the missing directories above it, and calls `body`. If `body` throws, removes the created
    /// directories from the innermost outward, and stops at the first directory that is not empty.
    ///
    /// - Throws: `.cannotCreate` if something other than a directory has the name, and the error of `body`.
    package func withDirectory<Result>(_ body: () throws -> Result) throws -> Result {
        let made = try makeDirectories(root)
        do {
            return try body()
        } catch {
            Self.remove(made)
            throw error
        }
    }

    private static func remove(_ directories: [String]) {
        // `rmdir` fails if another process already uses the directory. In that case, this directory and the directories above it stay.
        for path in directories.reversed() where rmdir(path) != 0 { return }
    }

    /// Creates a directory and the missing directories above it, durably. Returns the directories that it created, the outermost first.
    private func makeDirectories(_ path: String) throws(CambiumError) -> [String] {
        if path.isEmpty { throw Self.emptyName }
        var made: [String] = []
        // A combining mark at the beginning of a name forms one `Character` with the preceding slash. So the code searches for slashes in
        // the bytes.
        let bytes = path.utf8
        var end = bytes.startIndex
        do throws(CambiumError) {
            while end < bytes.endIndex {
                let parent = path[..<end]
                end = bytes[bytes.index(after: end)...].firstIndex(of: Self.slash) ?? bytes.endIndex
                let directory = String(path[..<end])
                if mkdir(directory, 0o755) == 0 {
                    made.append(directory)
                    try syncDirectory(at: !parent.isEmpty ? String(parent) : Self.isAbsolute(path) ? "/" : ".")
                } else {
                    try Self.checkIsDirectory(directory, errno)
                }
            }
        } catch {
            Self.remove(made)
            throw error
        }
        return made
    }

    /// Examines the failure of `mkdir`. Throws unless the path is already a directory.
    ///
    /// - Parameter code: the error number of `mkdir`.
    private static func checkIsDirectory(_ path: String, _ code: Int32) throws(CambiumError) {
        guard code == EEXIST else { throw SystemFailure.error("create the directory", path, code, isCreation: true) }
        if try isDirectory(path) != true { throw taken(path) }
    }

    /// Whether a path leads to a directory; `nil` if it leads to no file.
    private static func isDirectory(_ path: String) throws(CambiumError) -> Bool? {
        var status = stat()
        let code = SystemCalls.uninterrupted { stat(path, &status) }
        if code == 0 { return status.st_mode & S_IFMT == S_IFDIR }
        if absences.contains(code) { return nil }
        throw SystemFailure.error("examine", path, code, isCreation: true)
    }

    /// The error numbers that mean that a path leads to no file.
    private static let absences: Set<Int32> = [ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP]

    /// Checks that the path of the volume is a directory, or that a directory can be created there. Otherwise, throws `.cannotCreate`.
    package func checkIsPlace() throws(CambiumError) {
        if root.isEmpty { throw Self.emptyName }
        guard let isDirectory = try Self.isDirectory(root) else {
            // A link that leads nowhere still occupies the name. A path through a file or a ring of links cannot become a directory.
            if try Self.isFree(root) { return }
            throw Self.taken(root)
        }
        if !isDirectory { throw Self.taken(root) }
    }

    /// Whether nothing has the name at the end of a path, and a directory can be created there.
    private static func isFree(_ path: String) throws(CambiumError) -> Bool {
        var status = stat()
        let code = SystemCalls.uninterrupted { lstat(path, &status) }
        if code == 0 || absences.contains(code) { return code == ENOENT }
        throw SystemFailure.error("examine", path, code, isCreation: true)
    }

    private static var emptyName: CambiumError {
        CambiumError(.cannotCreate, "The name of the directory is empty; give a path.")
    }

    private static func taken(_ path: String) -> CambiumError {
        CambiumError(.cannotCreate, "'\(path)' is not a directory, and no directory can be created there; choose another place.")
    }

    /// Checks that the volume's directory is not the directory of another volume, nor inside it. Otherwise, throws `.cannotCreate`.
    package func checkIsOutside(of other: SystemVolume) throws(CambiumError) {
        if other.root.isEmpty { return }
        // The system compares the bytes of names. Different names may be equal strings, because Unicode can write a letter in several ways.
        let (path, otherPath) = (try Self.resolved(root).utf8, try Self.resolved(other.root).utf8)
        guard path.starts(with: otherPath), path.count == otherPath.count || path.dropFirst(otherPath.count).first == Self.slash else {
            return
        }
        throw CambiumError(.cannotCreate, "'\(name)' is in the directory '\(other.name)', which is being read; choose another place.")
    }

    package func enclosing() throws(CambiumError) -> [any Volume] {
        if root.isEmpty { return [] }
        var path = try Self.resolved(root)
        var volumes: [any Volume] = []
        while let slash = path.utf8.lastIndex(of: Self.slash), path != "/" {
            path = slash == path.startIndex ? "/" : String(path[..<slash])
            volumes.append(SystemVolume(root: path, calls: calls))
        }
        return volumes
    }

    /// Returns a path without links. The part of the path that does not exist is appended unchanged.
    private static func resolved(_ path: String) throws(CambiumError) -> String {
        var head = absolute(path)
        var tail = ""
        while true {
            if let found = realpath(head, nil) {
                defer { free(found) }
                // SAFETY: `realpath` terminates the text with a zero byte, and the text is freed only after it has been copied.
                return String(cString: found) + tail
            }
            let code = errno
            if code != EACCES, !absences.contains(code) { throw SystemFailure.error("resolve", head, code, isCreation: true) }
            guard let slash = head.utf8.lastIndex(of: Self.slash), slash > head.startIndex else { return head + tail }
            if head[slash...] != "/" { tail = head[slash...] + tail }
            head = String(head[..<slash])
        }
    }

    private static let slash = UInt8(ascii: "/")

    static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    /// Returns an absolute path, which a process with another working directory can use.
    package static func absolute(_ path: String) -> String {
        guard !isAbsolute(path), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        // SAFETY: `getcwd` terminates the text with a zero byte, and the text is freed only after it has been copied.
        return String(cString: directory) + "/" + path
    }
}
