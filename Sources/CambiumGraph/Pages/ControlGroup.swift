#if canImport(Glibc)
    import Glibc
#endif

/// The limits of the control groups that a process is in (cgroups(7)), read from the files of the kernel.
///
/// A group is bounded by its own limit and by those of all groups above it, so the smallest counts: a service's `MemoryMax`, its
/// slice's, a container's.
enum ControlGroup {
    /// The smallest limit of memory, in bytes; nil if there is none.
    ///
    /// - Parameter root: what stands before `/proc` and `/sys`; tests give a directory.
    static func memoryLimit(root: String = "") -> Int? {
        let memberships = text("\(root)/proc/self/cgroup") ?? ""
        var found = memberships.split(separator: "\n").flatMap { (line: Substring) -> [Int] in
            // "0::/path" of version 2, "4:memory:/path" of version 1.
            let fields: [Substring] = line.split(separator: Character(":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            if fields[0] == "0", fields[1].isEmpty { return limits(of: fields[2], in: root + unified, file: currentFile) }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return limits(of: fields[2], in: root + memoryController, file: oldFile)
        }
        // A process that cannot read its memberships may see the limits of its container all the same.
        if memberships.isEmpty { found = limits(of: "/", in: root + unified, file: currentFile) }
        return found.min()
    }

    private static let unified = "/sys/fs/cgroup"
    private static let memoryController = "/sys/fs/cgroup/memory"
    private static let currentFile = "memory.max"
    private static let oldFile = "memory.limit_in_bytes"

    /// The limits of a group and of all above it. Groups that are not mounted here have no files, and so no limit.
    private static func limits(of path: Substring, in mount: String, file: String) -> [Int] {
        var names = path.split(separator: "/")
        // The group is outside of what the process may see.
        if names.contains("..") { names = [] }
        return (0...names.count).compactMap { depth in
            let directory = names.prefix(depth).reduce(mount) { "\($0)/\($1)" }
            // Without a limit the file says "max".
            return text("\(directory)/\(file)").flatMap { Int($0.prefix { $0.isNumber }) }
        }
    }

    /// The beginning of a small file; nil if it cannot be read.
    private static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: byteCountMax)
        var end = 0
        while end < bytes.count {
            // SAFETY: the buffer lives for the call, and what is asked for fits behind `end`.
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
