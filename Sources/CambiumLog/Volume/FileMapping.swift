import CambiumBytes
import Glibc

/// A file, or a part of a file, that is mapped into memory.
///
/// SAFETY: the file keeps its length while it is mapped. The kernel would kill a process (SIGBUS) that touches a mapping beyond the end of
/// its file.
///
/// SENDABLE: the address and the size do not change. A caller that writes to the memory ensures that no thread is reading it at the same
/// time.
package final class FileMapping: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int
    private let slackByteCount: Int
    package var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: byteCount) }

    /// Maps zeroed memory that does not belong to a file, for volumes that only imitate files of the operating system. A part that no
    /// thread touches takes address space, but no memory.
    package convenience init(byteCount: Int) {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let base = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            Trap.because("The operating system cannot supply \(byteCount) bytes of memory. Give the process more memory.")
        }
        self.init(base: base, byteCount: byteCount)
    }

    /// - Parameter slackByteCount: the number of bytes that are mapped beyond the file.
    init(base: UnsafeMutableRawPointer, byteCount: Int, slackByteCount: Int = 0) {
        self.base = base
        self.byteCount = byteCount
        self.slackByteCount = slackByteCount
    }

    /// Asks the kernel to read a part of the file that will soon be touched, but not the bytes around it.
    func beginReading(offset: Int, byteCount: Int) { _ = madvise(base + offset, byteCount, MADV_WILLNEED) }

    deinit { munmap(base, byteCount + slackByteCount) }
}
