import CambiumLog
import Foundation

/// A store in its own directory, and a process that runs every operation on the store.
final class ForgedReader {
    private let directory: URL

    init(_ files: [String: [UInt8]]) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
        for (path, bytes) in files {
            let file = directory.appending(path: path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }  // A failure is harmless: the directory is temporary.

    /// Returns the exit code of the process, or the negative number of the signal that ended it, and its output on standard error.
    func run() throws -> (code: Int32, message: String) {
        let errors = Pipe()
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "ForgedReader")
        let sibling = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "ForgedReader")
        if FileManager.default.isExecutableFile(atPath: sibling.path) { process.executableURL = sibling }
        process.arguments = [directory.path]
        process.standardError = errors
        try process.run()
        let bytes = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let code = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return (code, String(decoding: bytes, as: UTF8.self))
    }
}
