import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

/// What the system said, as an error that people understand.
enum SystemFailure {
    static func error(_ call: String, _ path: String, _ code: Int32, isCreation: Bool = false) -> CambiumError {
        let reason = String(cString: strerror(code))
        let kind: CambiumError.Code = isCreation ? .cannotCreate : code == ENOENT ? .notFound : .ioFailure
        return CambiumError(kind, "The system could not \(call) '\(path)': \(reason).", underlying: SystemError(code: code))
    }

    /// The error of a store in which a link, a device, a FIFO, a socket or a directory has the name of a file.
    static func irregular(_ path: String, _ kind: String) -> CambiumError {
        CambiumError(.damaged, "'\(path)' is not a \(kind), so it is not the store's. Move it away, or restore the store from a backup.")
    }
}

/// The number that a system call left in `errno`.
public struct SystemError: Error, Hashable, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }

    /// Whether the disk, or what the user may have of it, is full, or the file as long as the system lets the process make one
    /// (`RLIMIT_FSIZE`; the process has to ignore `SIGXFSZ`).
    public var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
}

extension CambiumError {
    /// Whether the system refused because there is no space left.
    var isOutOfSpace: Bool { (underlying as? SystemError)?.isOutOfSpace ?? false }
}
