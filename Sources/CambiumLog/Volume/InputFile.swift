package import CambiumModel
import Glibc

/// An input file that the user names. It is read once, from its beginning to its end. The path may be a link. Bytes from a FIFO or a device
/// are read as they arrive.
///
/// SENDABLE: the descriptor does not change, and only one thread at a time reads.
package final class InputFile: @unchecked Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens the file. Waits for the writer of a FIFO.
    ///
    /// - Throws: `.notFound` if the path names no file, or a directory, and `.ioFailure` if the file cannot be opened.
    package init(_ path: String) throws(CambiumError) {
        let descriptor = SystemCalls.system.openUninterrupted(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure.unopened(path, errno) }
        var status = stat()
        let code = SystemCalls.uninterrupted { fstat(descriptor, &status) }
        if code != 0 {
            Glibc.close(descriptor)
            throw SystemFailure.error("determine the kind of", path, code)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            Glibc.close(descriptor)
            throw CambiumError(.notFound, "'\(path)' is a directory; pass the path of a file.")
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { Glibc.close(descriptor) }

    /// Whether a file can be read more than once. Returns `true` if there is no such file: the later attempt to open the file reports the
    /// error.
    package static func isRepeatable(_ path: String) -> Bool {
        var status = stat()
        return SystemCalls.uninterrupted { stat(path, &status) } != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads the next bytes of the file into a buffer. Returns their number, which is 0 at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(CambiumError) -> Int {
        while true {
            // SAFETY: the kernel writes at most `buffer.count` bytes.
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            let code = errno
            if code != EINTR { throw SystemFailure.error("read", path, code) }
        }
    }
}
