internal import CMachine
import CambiumBytes
package import CambiumModel
import Glibc

/// A volume that is a directory of the file system.
package struct SystemVolume: Volume {
    /// The absolute path of the directory, or an empty path. It is relative if the working directory of the process was removed.
    package let root: String
    let calls: SystemCalls
    /// The path of the directory in messages, as the caller wrote it.
    package let name: String

    /// Creates a volume whose directory stays the same if the process changes its working directory later.
    package init(root path: String) { self.init(root: path, calls: .system) }

    init(root path: String, calls: SystemCalls) {
        name = path.hasSuffix("/") && path != "/" ? String(path.dropLast()) : path
        // An empty path names no directory, but `absolute` would return the current directory for it.
        root = name.isEmpty ? "" : Self.absolute(name)
        self.calls = calls
    }

    /// Returns the root followed by a path, or only the root if the path is empty. If the root is empty, returns an empty path, which names
    /// no file.
    func full(_ path: String) -> String { path.isEmpty || root.isEmpty ? root : root + "/" + path }

    package func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .update: O_RDWR
            case .create: O_RDWR | O_CREAT | O_EXCL
            }
        return SystemFile(descriptor: try descriptor(path, flags), path: full(path), calls: calls)
    }

    /// Opens a regular file. Refuses a symbolic link in place of the file, or in place of the directory that contains the file. Only the
    /// volume's own directory may be a link. Does not wait for a FIFO or a device.
    func descriptor(_ path: String, _ flags: Int32) throws(CambiumError) -> Int32 {
        if let slash = path.firstIndex(of: "/"), try kind(of: String(path[..<slash])) == .other {
            throw SystemFailure.irregular(full(String(path[..<slash])), "directory")
        }
        let path = full(path)
        let descriptor = calls.openUninterrupted(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
        guard descriptor >= 0 else {
            let code = errno
            // `open` returns these errors for a link, for a directory that is opened for writing, and for a socket.
            if [ELOOP, EISDIR, ENXIO].contains(code) { throw SystemFailure.irregular(path, "regular file") }
            throw SystemFailure.error("open", path, code, isCreation: flags & O_EXCL != 0)
        }
        var status = stat()
        let code = SystemCalls.uninterrupted { fstat(descriptor, &status) }
        if code == 0, status.st_mode & S_IFMT == S_IFREG { return descriptor }
        Glibc.close(descriptor)
        throw code == 0 ? SystemFailure.irregular(path, "regular file") : SystemFailure.error("examine", path, code)
    }

    package func kind(of path: String) throws(CambiumError) -> FileKind? {
        let path = full(path)
        var status = stat()
        let code = SystemCalls.uninterrupted { lstat(path, &status) }
        guard code == 0 else {
            // The system refuses a path that is too long, or that leads through a file or a ring of links. So no file has this path.
            if [ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP].contains(code) { return nil }
            throw SystemFailure.error("examine", path, code)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .regularFile
        case S_IFDIR: return .directory
        default: return .other
        }
    }

    package func list(_ directory: String) throws(CambiumError) -> [String] {
        let path = full(directory)
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (directory.isEmpty ? 0 : O_NOFOLLOW)
        let descriptor = calls.openUninterrupted(path, flags)
        guard descriptor >= 0, let stream = fdopendir(descriptor) else {
            let code = errno
            if descriptor >= 0 { Glibc.close(descriptor) }
            // A path that is too long names no directory, as in `kind`.
            if code == ENOENT || code == ENAMETOOLONG { return [] }
            if !directory.isEmpty, code == ENOTDIR || code == ELOOP {
                if try kind(of: directory) != nil { throw SystemFailure.irregular(path, "directory") }
                // The root is not a directory, so it contains no names.
                return []
            }
            throw SystemFailure.error("read the directory", path, code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let code = errno
                if code != 0 { throw SystemFailure.error("read the directory", path, code) }
                break
            }
            // SAFETY: a zero byte inside the entry terminates the name, and the entry stays valid until the next call to `readdir`.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    package func exists(_ path: String) throws(CambiumError) -> Bool { try kind(of: path) != nil }

    package func remove(_ path: String) throws(CambiumError) {
        let path = full(path)
        if unlink(path) == 0 { return }
        let code = errno
        // A store never removes a directory as a file, so another program has made the directory.
        throw code == EISDIR ? SystemFailure.irregular(path, "regular file") : SystemFailure.error("remove", path, code)
    }

    package func rename(_ path: String, to newPath: String) throws(CambiumError) {
        let (path, newPath) = (full(path), full(newPath))
        if Glibc.rename(path, newPath) == 0 { return }
        let code = errno
        throw code == EISDIR ? SystemFailure.irregular(newPath, "regular file") : SystemFailure.error("rename", path, code)
    }

    package func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool {
        guard let other = other as? SystemVolume else { return false }
        let (path, newPath) = (full(path), other.full(newPath))
        if Glibc.link(path, newPath) == 0 { return true }
        let code = errno
        if [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(code) { return false }
        throw SystemFailure.error("link", path, code)
    }

    package func syncDirectory(_ path: String) throws(CambiumError) { try syncDirectory(at: full(path)) }

    func syncDirectory(at path: String) throws(CambiumError) {
        let descriptor = calls.openUninterrupted(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure.error("open", path, errno) }
        defer { Glibc.close(descriptor) }
        let code = SystemCalls.uninterrupted { calls.fsync(descriptor) }
        if code != 0 { throw SystemFailure.error("sync", path, code) }
    }

    package func diskByteCount(of path: String) throws(CambiumError) -> Int {
        let path = full(path)
        var status = stat()
        let code = SystemCalls.uninterrupted { lstat(path, &status) }
        if code != 0 { throw SystemFailure.error("examine", path, code) }
        return Int(status.st_blocks) * 512
    }

    package func openNameless() throws(CambiumError) -> (any VolumeFile)? {
        let descriptor = calls.openUninterrupted(root, O_RDWR | Self.withoutName | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure.error("create a file without a name in", root, errno) }
        return SystemFile(descriptor: descriptor, path: root, calls: calls)
    }

    /// `O_TMPFILE`, a macro that Swift does not import.
    private static let withoutName: Int32 = 0o20_000_000 | O_DIRECTORY
}

/// The identity of a file of the operating system, which is the same for all paths that lead to the file.
struct FileIdentity: Hashable {
    let device: UInt64
    let number: UInt64

    init(_ identity: cmachine_identity_t) {
        device = identity.device
        number = identity.number
    }
}

/// The lock files that this process has locked. They distinguish the locks of this process from the locks of other processes. Process ids
/// are not enough: two processes in different containers may have the same id.
enum HeldLocks {
    private static let identities = Guarded<Set<FileIdentity>>([])

    static func insert(_ identity: FileIdentity) { identities.withLock { _ = $0.insert(identity) } }
    static func remove(_ identity: FileIdentity) { identities.withLock { _ = $0.remove(identity) } }
    static func has(_ identity: FileIdentity) -> Bool { identities.withLock { $0.contains(identity) } }
}

extension SystemVolume {
    package func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool {
        guard let file = file as? SystemFile else { return false }
        let opened = try file.identity()
        if opened.nameCount == 0 { return false }
        // If the working directory was removed, the root is a relative path. Such a path may lead to another file after the process has
        // changed its working directory, so the path is not checked.
        guard Self.isAbsolute(root) else { return true }
        let path = full(path)
        var found = cmachine_identity_t()
        if cmachine_identity(-1, path, &found) == 0 { return FileIdentity(found) == FileIdentity(opened) }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return false }
        throw SystemFailure.error("find", path, code)
    }
}

extension SystemFailure {
    /// Returns the error for a lock that is already taken.
    ///
    /// - Parameters:
    ///   - holder: the id of the process that has the lock; `nil` if it is not known.
    ///   - isOwn: whether this process has the lock.
    static func locked(_ path: String, holder: Int32?, isOwn: Bool) -> CambiumError {
        if isOwn {
            return CambiumError(
                .locked, "This process already has the store open for writing. Use the store that is open, or close it first.",
                place: .init(file: path))
        }
        // If the id equals the id of this process, the holder is a process in another container. The id would mislead the user.
        let pid = holder.flatMap { $0 == getpid() ? nil : " (process \($0))" } ?? ""
        return CambiumError(
            .locked, "Another process\(pid) has the store open for writing. Wait until it ends, or stop it.", place: .init(file: path))
    }
}
