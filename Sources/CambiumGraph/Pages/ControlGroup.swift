import Glibc

/// The limits of the control groups of a process (cgroups(7)), read from the files of the kernel.
///
/// A group is limited by its own limit and by the limits of all groups above it, so the smallest limit applies. Examples of limits are the
/// `MemoryMax` of a service or of its slice, and the limit of a container.
enum ControlGroup {
    /// Returns the smallest limit of memory, in bytes, or `nil` if no group has a limit.
    ///
    /// - Parameter root: A prefix for the paths that begin with `/proc` and `/sys`. Tests pass a directory.
    static func memoryLimit(root: String = "") -> Int? {
        let memberships = text("\(root)/proc/self/cgroup") ?? ""
        var found = memberships.split(separator: "\n").flatMap { (line: Substring) -> [Int] in
            // Version 2 writes "0::/path", and version 1 writes "4:memory:/path".
            let fields: [Substring] = line.split(separator: Character(":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            if fields[0] == "0", fields[1].isEmpty { return limits(of: fields[2], in: root + unified, file: currentFile) }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return limits(of: fields[2], in: root + memoryController, file: oldFile)
        }
        // A process that cannot read which groups it is in may still read the limits of its container.
        if memberships.isEmpty { found = limits(of: "/", in: root + unified, file: currentFile) }
        return found.min()
    }

    private static let unified = "/sys/fs/cgroup"
    private static let memoryController = "/sys/fs/cgroup/memory"
    private static let currentFile = "memory.max"
    private static let oldFile = "memory.limit_in_bytes"

    /// Returns the limits of a group and of all groups above it. For a group outside the mounted hierarchy, there are no files, so the
    /// method finds no limit.
    private static func limits(of path: Substring, in mount: String, file: String) -> [Int] {
        var names = path.split(separator: "/")
        // A path with ".." means a group outside the part of the hierarchy that the process can see.
        if names.contains("..") { names = [] }
        return (0...names.count).compactMap { depth in
            let directory = names.prefix(depth).reduce(mount) { "\($0)/\($1)" }
            // If there is no limit, the file contains "max", and the number is `nil`.
            return text("\(directory)/\(file)").flatMap { Int($0.prefix { $0.isNumber }) }
        }
    }

    /// Returns the first `byteCountMax` bytes of a file, or `nil` if the file cannot be opened.
    private static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: byteCountMax)
        var end = 0
        while end < bytes.count {
            // SAFETY: the buffer exists during the call, and the requested bytes fit into the buffer from `end` on.
            let count = bytes.withUnsafeMutableBytes { buffer in
                read(file, buffer.baseAddress.map { $0 + end }, buffer.count - end)
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            end += count
        }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    private static let byteCountMax = 64 << 10
}
