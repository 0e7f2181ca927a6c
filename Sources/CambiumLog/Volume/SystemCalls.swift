import Glibc

/// `Glibc.flock` would name the type and not the function, so the call is not qualified.
@Sendable private func lock(_ descriptor: Int32, _ operation: Int32) -> Int32 { flock(descriptor, operation) }

/// The calls that open, read, write, sync and lock files. Tests replace them to cause results that the kernel returns only rarely.
struct SystemCalls: Sendable {
    var open: @Sendable (_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 = { Glibc.open($0, $1, $2) }
    var pread = { @Sendable in Glibc.pread($0, $1, $2, $3) }
    var pwrite = { @Sendable in Glibc.pwrite($0, $1, $2, $3) }
    var ftruncate = { @Sendable in Glibc.ftruncate($0, $1) }
    var fdatasync = { @Sendable in Glibc.fdatasync($0) }
    var fsync = { @Sendable in Glibc.fsync($0) }
    var flock: @Sendable (_ descriptor: Int32, _ operation: Int32) -> Int32 = lock
    var posix_fallocate = { @Sendable in Glibc.posix_fallocate($0, $1, $2) }
    /// Whether an open file is on a file system that is mounted read-only. Returns `false` if the system does not know.
    var isOnReadOnlyFileSystem = { @Sendable (descriptor: Int32) -> Bool in
        var status = statvfs()
        return Glibc.fstatvfs(descriptor, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }

    static let system = SystemCalls()

    /// Repeats a call as long as signals interrupt it. Returns its error number, or 0 if the call succeeded.
    static func uninterrupted(_ call: () -> Int32) -> Int32 {
        while call() != 0 {
            let code = errno
            if code != EINTR { return code }
        }
        return 0
    }

    /// Opens a file or a directory, and repeats the call as long as signals interrupt it. Returns -1 and sets `errno` on failure.
    func openUninterrupted(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
        while true {
            let descriptor = open(path, flags, mode)
            if descriptor >= 0 || errno != EINTR { return descriptor }
        }
    }
}
