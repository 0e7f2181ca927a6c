import Cambium
import CambiumJSON
import Glibc

/// The file that keeps the lines of earlier prompts. A prompt also works without the file, so failures are ignored.
struct HistoryFile: Equatable {
    private let directory: String
    private var path: String { directory + "/history" }

    /// The number of lines that a prompt keeps.
    static let lineCountKept = 1000

    /// The number of lines beyond which the file is shortened.
    private static let lineCountMax = 2 * lineCountKept

    private static let byteCountMax = 16 << 20

    /// Uses the file `history` in a directory. The directory is created when the first line is added.
    init(directory: String) { self.directory = directory }

    /// Uses the history in `$XDG_STATE_HOME/cambium`, or in `$HOME/.local/state/cambium` if `XDG_STATE_HOME` is not an absolute path.
    /// Returns `nil` if `HOME` is not an absolute path either.
    init?(environment: (String) -> String?) {
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            directory = state + "/cambium"
        } else if let home = environment("HOME"), home.hasPrefix("/") {
            directory = home + "/.local/state/cambium"
        } else {
            return nil
        }
    }

    static func ofUser() -> HistoryFile? {
        HistoryFile { name in getenv(name).map { String(cString: $0) } }
    }

    /// Returns the lines, the newest one last. Omits lines with control characters. Empties a file with more than `byteCountMax` bytes.
    func lines() -> [String] {
        let bytes: [UInt8]
        do {
            bytes = try Terminal.contents(of: path, byteCountMax: Self.byteCountMax)
        } catch {
            // A missing or unreadable file is treated as an empty file. A file that is too long is emptied, because it would only grow.
            if (error as? CambiumError)?.code == .limitExceeded { write([String](), O_TRUNC) }
            return []
        }
        let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }.filter { ControlText.escaped($0) == $0 }
        if lines.count > Self.lineCountMax { write(lines.suffix(Self.lineCountKept), O_TRUNC) }
        return lines.suffix(Self.lineCountKept)
    }

    /// Adds a line at the end. Only the user may read the file, because lines may contain confidential values.
    func add(_ line: String) {
        guard ControlText.escaped(line) == line else { return }
        makeDirectory()
        write([line], O_APPEND)
    }

    private func write(_ lines: some Sequence<String>, _ flag: Int32) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // The file may be a link to /dev/null, which switches the history off. The permissions of a device must not change.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        fchmod(descriptor, 0o600)
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    private func makeDirectory() {
        var path = ""
        for part in directory.split(separator: "/") {
            path += "/" + part
            mkdir(path, 0o700)
        }
    }
}
