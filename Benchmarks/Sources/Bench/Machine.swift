import Glibc

/// The kernel's figures for this process.
enum Process {
    /// Returns the resident memory in bytes.
    static func residentByteCount() throws -> Double {
        let fields = try File.text("/proc/self/statm").split(separator: " ")
        let pages = try fields.dropFirst().first.flatMap { Double($0) }.required("the resident size in /proc/self/statm")
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Returns the peak resident memory in MB of 2^20 bytes, the unit that the other programs print.
    static func peakMegabytes() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_maxrss) / 1024
    }

    /// Returns the number of bytes handed to write calls.
    static func writtenByteCount() throws -> Double {
        let line = try File.text("/proc/self/io").split(separator: "\n").first { $0.hasPrefix("wchar:") }
        return try line.flatMap { Double($0.dropFirst(6).drop { $0 == " " }) }.required("wchar in /proc/self/io")
    }
}

enum File {
    /// Returns the contents of a file as text.
    static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// Returns the contents of a file. This also brings the file into the page cache.
    static func bytes(_ path: String) throws -> [UInt8] {
        var contents: [UInt8] = []
        try forEachPart(path) { contents.append(contentsOf: $0) }
        return contents
    }

    /// Brings a file into the page cache.
    static func warm(_ path: String) throws { try forEachPart(path) { _ in } }

    /// Writes a file, which replaces one of the same name.
    static func write(_ contents: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0, Glibc.write(file, contents, contents.count) == contents.count, close(file) == 0 else {
            throw Failure("cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func forEachPart(_ path: String, _ body: (ArraySlice<UInt8>) -> Void) throws {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { throw Failure("cannot open \(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count >= 0 else { throw Failure("cannot read \(path): \(String(cString: strerror(errno)))") }
            if count == 0 { return }
            body(buffer[..<count])
        }
    }

    /// Drops the pages of a file from the page cache.
    static func evict(_ path: String) {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return }
        fsync(file)
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
        close(file)
    }
}

/// A directory and everything below it.
struct Tree {
    let path: String

    init(_ path: String) { self.path = path }

    func remove() throws {
        for entry in try entries().reversed() where Glibc.remove(entry.path) != 0 {
            throw Failure("cannot remove \(entry.path): \(String(cString: strerror(errno)))")
        }
    }

    /// Returns the disk space of the files in MB of 10^6 bytes.
    func megabytes() throws -> Double { Double(try entries().reduce(0) { $0 + $1.blockCount }) * 512 / 1e6 }

    /// Copies the tree to a path that does not exist yet.
    func copy(to target: String) throws {
        for entry in try entries() {
            let copy = target + entry.path.dropFirst(path.count)
            var status = stat()
            guard lstat(entry.path, &status) == 0 else { throw Failure("cannot inspect \(entry.path)") }
            if status.st_mode & S_IFMT == S_IFDIR {
                guard mkdir(copy, 0o755) == 0 else { throw Failure("cannot create \(copy)") }
                continue
            }
            let contents = try File.bytes(entry.path)
            let file = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0o644)
            guard file >= 0, write(file, contents, contents.count) == contents.count, close(file) == 0 else {
                throw Failure("cannot write \(copy)")
            }
        }
    }

    func evict() throws { for entry in try entries() { File.evict(entry.path) } }

    /// Returns all entries, each directory before its contents. Returns no entries if the path does not exist.
    private func entries() throws -> [(path: String, blockCount: Int)] {
        var status = stat()
        guard lstat(path, &status) == 0 else { return [] }
        var found = [(path, Int(status.st_blocks))]
        guard status.st_mode & S_IFMT == S_IFDIR else { return found }
        guard let directory = opendir(path) else { throw Failure("cannot list \(path)") }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { found += try Tree("\(path)/\(name)").entries() }
        }
        return found
    }
}
