import Foundation

extension Workplace {
    /// Returns everything below a directory: the bytes of files, the targets of links, and the types of other nodes. The result is empty if
    /// there is no such directory.
    func tree(_ name: String) throws -> [String: Data] {
        let root = directory.appending(path: name).path
        guard FileManager.default.fileExists(atPath: root) else { return [:] }
        var tree = [".": Data("directory".utf8)]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
            let file = root + "/" + path
            switch try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType {
            case .typeRegular?: tree[path] = try Data(contentsOf: URL(filePath: file))
            case .typeSymbolicLink?: tree[path] = Data(try FileManager.default.destinationOfSymbolicLink(atPath: file).utf8)
            case let type: tree[path] = Data((type?.rawValue ?? "").utf8)
            }
        }
        return tree
    }

    func path(_ name: String) -> String { directory.appending(path: name).path }

    func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }

    func copy(_ name: String, to newName: String) throws { try FileManager.default.copyItem(atPath: path(name), toPath: path(newName)) }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    func link(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: destination)
    }

    /// Runs a command that must not wait for anything. The code is 124 if the command still runs after 20 seconds.
    func runWithoutWaiting(_ arguments: [String]) throws -> Outcome {
        try run(executable: URL(filePath: "/usr/bin/timeout"), ["20", Self.binary.path] + arguments)
    }
}
