import Foundation
import Testing

/// The checkout that these tests were compiled from, seen as files.
struct Repository {
    let root: URL

    /// The checkout that holds this file: Tests/RepositoryTests/Repository.swift lies three levels below its root.
    static let current = Repository(
        root: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    )

    func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// What is not UTF-8 is replaced and not refused: binary test data lies among the texts.
    func text(_ path: String) throws -> TextFile {
        try TextFile(path: path, text: String(decoding: Data(contentsOf: root.appendingPathComponent(path)), as: UTF8.self))
    }

    /// The paths of all files and directories, relative to the root and sorted; what is built or belongs to git is not entered.
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

    /// The texts of all files in the named places, each a directory or one file; a place that does not exist holds none.
    func texts(in places: [String], suffix: String = "") throws -> [TextFile] {
        try paths()
            .filter { path in path.hasSuffix(suffix) && places.contains { path == $0 || path.hasPrefix($0 + "/") } }
            .filter { !isDirectory($0) }
            .map(text)
    }

    /// The names of the directories in Sources that hold a file: git keeps no empty ones.
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
