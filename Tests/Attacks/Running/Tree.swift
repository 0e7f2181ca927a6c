import Foundation

/// The nodes below a directory (files, directories, links and others) at one moment. Links are not followed, and only regular files are
/// opened.
struct Tree: Sendable, Equatable {
    enum Node: Sendable, Equatable {
        case directory
        case file([UInt8], changed: ChangeTime, mode: UInt32)
        case link(String)
        /// A FIFO, a socket or a device.
        case other(UInt32)
    }

    /// The time of the last change of a file.
    struct ChangeTime: Sendable, Equatable {
        let seconds: Int
        let nanoseconds: Int
    }

    /// The nodes by path, relative to the directory.
    private(set) var nodes: [String: Node] = [:]

    /// Creates the tree of an empty or absent directory.
    init() {}

    init(_ directory: String) throws { try add(directory, "") }

    /// Returns the paths of the segments (files of the log) that have the same contents and mode as in another tree. Zeros at the end and
    /// times of changes are ignored.
    func segments(asIn other: Tree) -> [String] {
        nodes.keys.filter { path in
            guard path.hasPrefix("log/"), path.hasSuffix(".log"), case .file(let bytes, _, let mode)? = nodes[path],
                case .file(let otherBytes, _, mode)? = other.nodes[path]
            else { return false }
            let count = min(bytes.count, otherBytes.count)
            let rest = bytes.dropFirst(count) + otherBytes.dropFirst(count)
            return bytes.prefix(count) == otherBytes.prefix(count) && rest.allSatisfy { $0 == 0 }
        }
    }

    /// Returns the paths of the segments that differ from those of another tree, or that exist in only one of the two trees. Ignores the
    /// last segment of the other tree.
    func closedSegments(with other: Tree) -> [String] {
        let paths = Set(nodes.keys).union(other.nodes.keys).filter { $0.hasPrefix("log/") && $0.hasSuffix(".log") }
        let last = other.nodes.keys.filter(paths.contains).max()
        return paths.filter { $0 != last && nodes[$0] != other.nodes[$0] }
    }

    private mutating func add(_ root: String, _ directory: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.isEmpty ? root : root + "/" + directory) {
            let path = directory.isEmpty ? name : directory + "/" + name
            let node = try Self.node(root + "/" + path)
            nodes[path] = node
            if node == .directory { try add(root, path) }
        }
    }

    static func node(_ path: String) throws -> Node {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Misuse("'\(path)' cannot be inspected: \(String(cString: strerror(errno)))") }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .directory
        case S_IFREG:
            let changed = ChangeTime(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            return .file([UInt8](try Data(contentsOf: URL(filePath: path))), changed: changed, mode: status.st_mode)
        case S_IFLNK: return .link(try FileManager.default.destinationOfSymbolicLink(atPath: path))
        default: return .other(status.st_mode & S_IFMT)
        }
    }

    /// The sorted paths of all regular files.
    var files: [String] {
        nodes.compactMap { if case .file = $0.value { $0.key } else { nil } }.sorted()
    }

    func bytes(_ path: String) -> [UInt8]? { if case .file(let bytes, _, _) = nodes[path] { bytes } else { nil } }

    /// Returns the first path outside `ignored` whose node differs from that of another tree, or `nil` if there is no such path.
    func difference(from other: Tree, ignoring ignored: Set<String> = []) -> String? {
        let paths = Set(nodes.keys).union(other.nodes.keys).subtracting(ignored)
        return paths.filter { nodes[$0] != other.nodes[$0] }.min()
    }

    /// Copies a directory with all nodes in it: directories, links, FIFOs and regular files.
    static func copy(_ source: String, to target: String) throws {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: source) {
            let (from, to) = (source + "/" + name, target + "/" + name)
            var status = stat()
            guard lstat(from, &status) == 0 else { continue }  // The file was removed after it was listed.
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try copy(from, to: to)
            case S_IFLNK:
                try FileManager.default.createSymbolicLink(
                    atPath: to, withDestinationPath: try FileManager.default.destinationOfSymbolicLink(atPath: from))
            case S_IFIFO: mkfifo(to, 0o644)
            default:
                try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to))
                chmod(to, status.st_mode & 0o7777)
            }
        }
    }
}
