import Foundation
import Testing

/// The checkout from which these tests were compiled, as files.
struct Repository {
    let root: URL

    /// The checkout that contains this file. Tests/RepositoryTests/Repository.swift is three levels below its root.
    static let current = Repository(
        root: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    )

    func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// Returns the text of a file. Replaces bytes that are not UTF-8, because the checkout contains binary test data.
    func text(_ path: String) throws -> TextFile {
        try TextFile(path: path, text: String(decoding: Data(contentsOf: root.appendingPathComponent(path)), as: UTF8.self))
    }

    /// Returns the sorted paths of all files and directories, relative to the root. Skips the contents of `.git` and of build directories.
    func paths() throws -> [String] {
        let enumerator = try #require(FileManager.default.enumerator(atPath: root.path), "\(root.path) cannot be listed")
        var paths: [String] = []
        while let path = enumerator.nextObject() as? String {
            let name = path.split(separator: "/").last ?? ""
            if name == ".git" || name.hasPrefix(".build") {
                enumerator.skipDescendants()
            }
            paths.append(path)
        }
        return paths.sorted()
    }

    /// Returns the texts of all files in the named places, each a directory or a file. A place that does not exist has no files.
    func texts(in places: [String], suffix: String = "") throws -> [TextFile] {
        try paths()
            .filter { path in path.hasSuffix(suffix) && places.contains { path == $0 || path.hasPrefix($0 + "/") } }
            .filter { !isDirectory($0) }
            .map(text)
    }

    /// Returns the names of the directories in Sources that contain a file. Git keeps no empty directories.
    func targets() throws -> Set<String> {
        let parts = try paths().filter { $0.hasPrefix("Sources/") && !isDirectory($0) }.map { $0.split(separator: "/") }
        return Set(parts.filter { $0.count > 2 }.map { String($0[1]) })
    }

    private func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        let path = root.appendingPathComponent(path).path
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}
