internal import CMachine
import CambiumBytes
public import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

/// A directory of the file system.
public struct SystemVolume: Volume {
    public let root: String
    private let calls: SystemCalls
    public var name: String { root }

    public init(root: String) { self.init(root: root, calls: .system) }

    init(root: String, calls: SystemCalls) {
        self.root = root.hasSuffix("/") && root != "/" ? String(root.dropLast()) : root
        self.calls = calls
    }

    func full(_ path: String) -> String { path.isEmpty ? root : root + "/" + path }

    public func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .update: O_RDWR
            case .create: O_RDWR | O_CREAT | O_EXCL
            }
        let path = full(path)
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemFailure.error("open", path, errno, isCreation: mode == .create) }
        return SystemFile(descriptor: descriptor, path: path, calls: calls)
    }

    public func list(_ directory: String) throws(CambiumError) -> [String] {
        let path = full(directory)
        guard let stream = opendir(path) else {
            let code = errno
            if code == ENOENT { return [] }
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
            // SAFETY: the system ends the name with a zero, inside of the entry, which lives until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    public func exists(_ path: String) throws(CambiumError) -> Bool {
        let path = full(path)
        if access(path, F_OK) == 0 { return true }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return false }
        throw SystemFailure.error("look for", path, code)
    }

    public func remove(_ path: String) throws(CambiumError) {
        let path = full(path)
        if unlink(path) != 0 { throw SystemFailure.error("remove", path, errno) }
    }

    public func rename(_ path: String, to newPath: String) throws(CambiumError) {
        let (path, newPath) = (full(path), full(newPath))
        if Glibc.rename(path, newPath) != 0 { throw SystemFailure.error("rename", path, errno) }
    }

    public func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool {
        guard let other = other as? SystemVolume else { return false }
        let (path, newPath) = (full(path), other.full(newPath))
        if Glibc.link(path, newPath) == 0 { return true }
        let code = errno
        if [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(code) { return false }
        throw SystemFailure.error("link", path, code)
    }

    public func createDirectory(_ path: String) throws(CambiumError) {
        let path = full(path)
        var end = path.startIndex
        while end < path.endIndex {
            let parent = path[..<end]
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            if mkdir(String(path[..<end]), 0o755) == 0 {
                try syncDirectory(at: !parent.isEmpty ? String(parent) : path.hasPrefix("/") ? "/" : ".")
            } else {
                let code = errno
                if code != EEXIST { throw SystemFailure.error("make the directory", String(path[..<end]), code, isCreation: true) }
            }
        }
    }

    /// A path from the root of the file system, for who reads it in another directory.
    public static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        // SAFETY: the system ends the text with a zero, and it stays until it is freed behind this.
        return String(cString: directory) + "/" + path
    }

    public func syncDirectory(_ path: String) throws(CambiumError) { try syncDirectory(at: full(path)) }

    private func syncDirectory(at path: String) throws(CambiumError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure.error("open", path, errno) }
        defer { Glibc.close(descriptor) }
        let code = SystemCalls.uninterrupted { calls.fsync(descriptor) }
        if code != 0 { throw SystemFailure.error("sync", path, code) }
    }

    public func lock(_ path: String) throws(CambiumError) -> any VolumeLock {
        let path = full(path)
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemFailure.error("open", path, errno) }
        let file = SystemFile(descriptor: descriptor, path: path, calls: calls)
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            let holder = String(decoding: (try? file.read(at: 0, count: 20)) ?? [], as: UTF8.self)  // Only for the message.
            let isOwn = (try? file.status()).map { HeldLocks.has(FileIdentity($0)) } ?? false  // Only for the message.
            file.close()
            guard code == EWOULDBLOCK else { throw SystemFailure.error("lock", path, code) }
            throw SystemFailure.locked(path, holder: holder.split(separator: "\n").first.map(String.init), isOwn: isOwn)
        }
        try file.truncate(to: 0)
        try file.write(Array("\(getpid())\n".utf8), at: 0)
        return SystemLock(file: file, FileIdentity(try file.status()))
    }

    public func share(_ path: String) throws(CambiumError) -> any VolumeLock {
        let path = full(path)
        while true {
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw SystemFailure.error("open", path, errno) }
            let file = SystemFile(descriptor: descriptor, path: path, calls: calls)
            let code = SystemCalls.uninterrupted { flock(descriptor, LOCK_SH) }
            if code != 0 { throw SystemFailure.error("lock", path, code) }
            var status = stat()
            if fstat(descriptor, &status) != 0 { throw SystemFailure.error("look at", path, errno) }
            // Who had it for himself may have removed it, or given its name to another one.
            if status.st_nlink > 0 { return SystemShare(file: file) }
            file.close()
        }
    }

    public func isShared(_ path: String) throws(CambiumError) -> Bool {
        let path = full(path)
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return false }
        guard descriptor >= 0 else { throw SystemFailure.error("open", path, errno) }
        // The lock, where it is had, goes with the descriptor; who wants to share the file meanwhile waits for that.
        defer { Glibc.close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return false }
        let code = errno
        guard code == EWOULDBLOCK else { throw SystemFailure.error("lock", path, code) }
        return true
    }

    public func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool {
        try unlessShared(path) { () throws(CambiumError) in
            let path = full(path)
            if unlink(path) != 0 { throw SystemFailure.error("remove", path, errno) }
        }
    }

    public func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try unlessShared(newPath) { () throws(CambiumError) in try rename(path, to: newPath) }
    }

    /// Has a file for itself while `body` is called. False where somebody shares it.
    private func unlessShared(_ path: String, _ body: () throws(CambiumError) -> Void) throws(CambiumError) -> Bool {
        let path = full(path)
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure.error("open", path, errno) }
        defer { Glibc.close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EWOULDBLOCK || code == EINTR { return false }
            throw SystemFailure.error("lock", path, code)
        }
        try body()
        return true
    }

    public func roomByteCount(of path: String) throws(CambiumError) -> Int {
        let path = full(path)
        var status = stat()
        if stat(path, &status) != 0 { throw SystemFailure.error("look at", path, errno) }
        return Int(status.st_blocks) * 512
    }

    public func openNameless() throws(CambiumError) -> (any VolumeFile)? {
        let descriptor = Glibc.open(root, O_RDWR | Self.withoutName | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure.error("make a file without a name in", root, errno) }
        return SystemFile(descriptor: descriptor, path: root, calls: calls)
    }

    /// `O_TMPFILE`, a macro that is not imported.
    private static let withoutName: Int32 = 0o20_000_000 | O_DIRECTORY
}

/// What the system said, as an error that people understand.
enum SystemFailure {
    static func error(_ call: String, _ path: String, _ code: Int32, isCreation: Bool = false) -> CambiumError {
        let reason = String(cString: strerror(code))
        let kind: CambiumError.Code = isCreation ? .cannotCreate : code == ENOENT ? .notFound : .ioFailure
        return CambiumError(kind, "The system could not \(call) '\(path)': \(reason).", underlying: SystemError(code: code))
    }
}

/// The number that a system call left in `errno`.
public struct SystemError: Error, Hashable, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }

    /// Whether the disk, or what the user may have of it, is full.
    public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
}

extension CambiumError {
    /// Whether the system refused because there is no space left.
    var isOutOfSpace: Bool { (underlying as? SystemError)?.isOutOfSpace ?? false }
}

/// An open file of the system.
///
/// SENDABLE: the descriptor is a number; who owns the file lets one thread at a time use it.
final class SystemFile: VolumeFile, @unchecked Sendable {
    private var descriptor: Int32
    /// Why a sync failed; 0 while none has.
    private let syncCode = Guarded<Int32>(0)
    private let path: String
    private let calls: SystemCalls

    init(descriptor: Int32, path: String, calls: SystemCalls) {
        self.descriptor = descriptor
        self.path = path
        self.calls = calls
    }

    deinit { close() }

    func status() throws(CambiumError) -> stat {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw SystemFailure.error("look at", path, errno) }
        return status
    }

    func byteCount() throws(CambiumError) -> Int { Int(try status().st_size) }

    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                // SAFETY: what is read lies between what was read and the end of the buffer.
                let got = calls.pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
                if got > 0 {
                    done += got
                } else if got == 0 {
                    break
                } else if errno != EINTR {
                    failure = errno
                    break
                }
            }
        }
        if failure != 0 { throw SystemFailure.error("read", path, failure) }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        var done = 0
        var failure: Int32 = 0
        bytes.withUnsafeBytes { buffer in
            while done < buffer.count {
                // SAFETY: what is written lies between what was written and the end of the buffer.
                let put = calls.pwrite(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
                if put > 0 {
                    done += put
                } else if put == 0 {
                    // Nothing says that the next call would write something.
                    failure = EIO
                    break
                } else if errno != EINTR {
                    failure = errno
                    break
                }
            }
        }
        if failure != 0 { throw SystemFailure.error("write", path, failure) }
    }

    func truncate(to byteCount: Int) throws(CambiumError) {
        let code = SystemCalls.uninterrupted { calls.ftruncate(descriptor, off_t(byteCount)) }
        if code != 0 { throw SystemFailure.error("truncate", path, code) }
    }

    func beginSync(at offset: Int, count: Int) { cmachine_begin_sync(descriptor, Int64(offset), Int64(count)) }

    func sync() throws(CambiumError) {
        // The system tells a failure once: of two threads that sync at the same time one would take it from the other.
        let code = syncCode.withLock { code in
            if code == 0 { code = SystemCalls.uninterrupted { calls.fdatasync(descriptor) } }
            return code
        }
        if code != 0 { throw SystemFailure.error("sync", path, code) }
    }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    func map(byteCount: Int) throws(CambiumError) -> FileMapping? {
        guard let base = mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0), base != MAP_FAILED else {
            throw SystemFailure.error("map", path, errno)
        }
        return FileMapping(base: base, byteCount: byteCount)
    }

    func takeRoom(offset: Int, byteCount: Int) throws(CambiumError) {
        // It returns its error, and leaves `errno` alone.
        var code = calls.posix_fallocate(descriptor, off_t(offset), off_t(byteCount))
        while code == EINTR { code = calls.posix_fallocate(descriptor, off_t(offset), off_t(byteCount)) }
        if code != 0 { throw SystemFailure.error("take room for", path, code) }
    }

    func mapForWriting(offset: Int, byteCount: Int) throws(CambiumError) -> FileMapping? {
        try takeRoom(offset: offset, byteCount: byteCount)
        guard let base = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(offset)), base != MAP_FAILED else {
            throw SystemFailure.error("map", path, errno)
        }
        return FileMapping(base: base, byteCount: byteCount)
    }

    func replace(_ memory: UnsafeMutableRawPointer, offset: Int, byteCount: Int) -> Bool {
        mmap(memory, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, off_t(offset)) == memory
    }

    func discard(offset: Int, byteCount: Int) throws(CambiumError) {
        let code = SystemCalls.uninterrupted { cmachine_discard(descriptor, Int64(offset), Int64(byteCount)) }
        if code != 0, code != EOPNOTSUPP { throw SystemFailure.error("give back room of", path, code) }
    }
}

/// A lock that the system gives up when its file is closed, at the latest with the process.
final class SystemLock: VolumeLock {
    private let file: Guarded<SystemFile?>
    private let identity: FileIdentity

    init(file: SystemFile, _ identity: FileIdentity) {
        self.file = Guarded(file)
        self.identity = identity
        HeldLocks.insert(identity)
    }

    deinit { unlock() }

    func unlock() {
        file.withLock { file in
            if file != nil { HeldLocks.remove(identity) }
            try? file?.truncate(to: 0)  // The pid is for messages only; who opens the file next writes its own.
            file?.close()
            file = nil
        }
    }
}

/// A lock that many may have, given up when its file is closed.
final class SystemShare: VolumeLock {
    private let file: Guarded<SystemFile?>

    init(file: SystemFile) { self.file = Guarded(file) }

    deinit { unlock() }

    func unlock() {
        file.withLock { file in
            file?.close()
            file = nil
        }
    }
}
