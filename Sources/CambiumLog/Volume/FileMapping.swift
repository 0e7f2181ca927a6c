import CambiumBytes

#if canImport(Glibc)
    import Glibc
#endif

/// A file, or a part of one, in memory.
///
/// SAFETY: the file stays as long as it is: who shortens a file that is mapped has the process killed by the system (SIGBUS).
///
/// SENDABLE: the address and the size do not change; who writes there sees to it that nobody reads meanwhile.
public final class FileMapping: @unchecked Sendable {
    public let base: UnsafeMutableRawPointer
    public let byteCount: Int
    private let slackByteCount: Int
    package var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: byteCount) }

    /// Memory that is no file's, for volumes that only look like the system's. All of it is zero.
    package convenience init(byteCount: Int) {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let base = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            Trap.because("The system refused \(byteCount) bytes of memory.")
        }
        self.init(base: base, byteCount: byteCount)
    }

    /// - Parameter slackByteCount: what is mapped after the file.
    init(base: UnsafeMutableRawPointer, byteCount: Int, slackByteCount: Int = 0) {
        self.base = base
        self.byteCount = byteCount
        self.slackByteCount = slackByteCount
    }

    /// Has the system read a part of the file that is touched soon, and not what is around it.
    func beginReading(offset: Int, byteCount: Int) { _ = madvise(base + offset, byteCount, MADV_WILLNEED) }

    deinit { munmap(base, byteCount + slackByteCount) }
}
