internal import CambiumModel
import Glibc

/// Creates the errors of failed system calls, with a reason and a remedy.
enum SystemFailure {
    static func error(_ call: String, _ path: String, _ code: Int32, isCreation: Bool = false) -> CambiumError {
        let reason = String(cString: strerror(code))
        let kind: CambiumError.Code = isCreation ? .cannotCreate : code == ENOENT ? .notFound : .ioFailure
        let message = "The operating system could not \(call) '\(path)': \(reason). \(remedy(code))"
        return CambiumError(kind, message, underlying: SystemError(code: code))
    }

    /// Returns the error for an input file that cannot be opened. A path that is too long, or that leads through a file or a ring of links,
    /// counts as missing, because it names no file.
    static func unopened(_ path: String, _ code: Int32) -> CambiumError {
        var failure = Self.error("open", path, code)
        if [ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP].contains(code) { failure.code = .notFound }
        return failure
    }

    /// Returns a sentence that states how the user can remove the cause of a failed call.
    private static func remedy(_ code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP: "Check the path."
        case EISDIR, ENXIO, ENODEV: "Use the path of a regular file."
        case EACCES, EPERM: "Check the permissions of the file and of the directories above it."
        case EROFS: "Use a file system that can be written."
        case ENOSPC, EDQUOT: "Free space on the disk."
        case EFBIG: "Raise the limit for the length of files ('ulimit -f')."
        case EMFILE, ENFILE: "Raise the limit for open files ('ulimit -n')."
        case ENOMEM: "Raise the memory limit of the process ('ulimit -v'), or free memory."
        default: "Check the disk and the file system."
        }
    }

    /// Returns the error for a path of a store that leads to the wrong kind of file, such as a link or a device.
    ///
    /// - Parameter kind: the kind that the store expects: "regular file" or "directory".
    static func irregular(_ path: String, _ kind: String) -> CambiumError {
        CambiumError(
            .corrupted, "'\(path)' is not a \(kind), so it does not belong to the store. Move it away, or restore the store from a backup.")
    }
}

/// The number that a system call left in `errno`.
package struct SystemError: Error, Hashable, Sendable {
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// Whether no space is left: the disk or the user's quota is full, or the file has the maximum length (`RLIMIT_FSIZE`). The process
    /// must ignore `SIGXFSZ`, because this signal would end it.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Whether no file can be opened, because the process or the system has too many open files.
    var isOutOfFiles: Bool { code == EMFILE || code == ENFILE }
}

extension CambiumError {
    /// Whether the operating system refused the call because no space is left.
    var isOutOfSpace: Bool { (underlying as? SystemError)?.isOutOfSpace ?? false }

    /// Whether the operating system refused the call because no space or no file descriptor is left. The caller can repeat such a call
    /// after the shortage, because the state of the disk is known.
    var isShortage: Bool { isOutOfSpace || (underlying as? SystemError)?.isOutOfFiles ?? false }
}
