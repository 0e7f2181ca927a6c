#if canImport(Glibc)
    import Glibc
#endif

/// A file in memory, for reading.
///
/// SAFETY: the file stays as long as it is: who shortens a file that is mapped has the process killed by the system (SIGBUS).
///
/// SENDABLE: the address and what is there do not change.
public final class FileMapping: @unchecked Sendable {
    public let base: UnsafeMutableRawPointer
    public let byteCount: Int

    init(base: UnsafeMutableRawPointer, byteCount: Int) {
        self.base = base
        self.byteCount = byteCount
    }

    deinit { munmap(base, byteCount) }
}
