import Foundation
import Synchronization

extension Workplace {
    /// The files of each workplace that `copy` made, by the caller of `copy` and the variant.
    private static let made = Mutex<[String: [(path: String, content: Data)]]>([:])

    /// Returns a copy of the workplace that a closure makes. The closure runs once for each caller and variant in a process, so that the
    /// tests of a suite need not run the same commands again. Leaves out directories without files.
    static func copy(
        _ variant: String = "", file: String = #fileID, function: String = #function, _ make: () throws -> Workplace
    ) throws -> Workplace {
        let key = "\(file) \(function) \(variant)"
        // Without the lock, because `make` itself may call `copy`. If two tests make the same workplace, either result is kept.
        let files = try made.withLock { $0[key] } ?? make().files()
        made.withLock { $0[key] = files }
        let place = try Workplace()
        for (path, content) in files {
            let url = place.directory.appending(path: path)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try content.write(to: url)
        }
        return place
    }

    /// All files except those in which `run` keeps input and output.
    private func files() throws -> [(path: String, content: Data)] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).compactMap { path in
            let values = try directory.appending(path: path).resourceValues(forKeys: [.isRegularFileKey])
            return values.isRegularFile == true && !path.hasPrefix(".") ? (path, try bytes(of: path)) : nil
        }
    }
}
