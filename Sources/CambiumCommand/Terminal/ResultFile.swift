import Cambium
import Glibc

/// A file for a result, such as a proof, that replaces the file of this name as a whole.
enum ResultFile {
    /// Writes a text to a file, or to standard output if there is no path.
    static func write(_ text: String, to path: String?) throws(CambiumError) {
        let bytes = Array(text.utf8)
        guard let path else { return Terminal.write(bytes) }
        let newPath = "\(path).\(getpid()).new"
        let descriptor = open(newPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(.cannotCreate, path) }
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(.ioFailure, path, removing: newPath) }
            done += count
        }
        guard rename(newPath, path) == 0 else { throw failure(.ioFailure, path, removing: newPath) }
    }

    private static func failure(_ code: CambiumError.Code, _ path: String, removing newPath: String? = nil) -> CambiumError {
        let reason = String(cString: strerror(errno))
        if let newPath { unlink(newPath) }
        return CambiumError(code, "The file cannot be written: \(reason). Name another file.", place: .init(file: path))
    }
}
