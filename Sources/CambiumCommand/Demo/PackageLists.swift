import Cambium

#if canImport(Glibc)
    import Glibc
#endif

/// The package graph of this machine, or a made-up graph if the machine has no package lists.
struct PackageLists {
    /// The source of the paragraphs, in words that the demo prints.
    let origin: String
    let paragraphs: [ControlFile.Paragraph]

    /// Reads apt's package lists. If there are no such lists, reads the packages that dpkg has installed. If dpkg has no packages either,
    /// generates a graph.
    static func read() -> PackageLists {
        let lists = "/var/lib/apt/lists"
        let names = FileNames.sorted(in: lists).filter { $0.contains("_Packages") }
        var paragraphs: [ControlFile.Paragraph] = []
        for name in names { paragraphs += Self.paragraphs(of: "\(lists)/\(name)") }
        if !paragraphs.isEmpty { return PackageLists(origin: "\(names.count) package lists of apt", paragraphs: paragraphs) }
        let installed = Self.paragraphs(of: "/var/lib/dpkg/status")
        if !installed.isEmpty { return PackageLists(origin: "the packages that dpkg has installed", paragraphs: installed) }
        return PackageLists(origin: "a made-up package graph, because there are no package lists", paragraphs: madeUp())
    }

    /// Returns the paragraphs of a list. An unreadable list is skipped, because the demo needs only some lists.
    private static func paragraphs(of path: String) -> [ControlFile.Paragraph] {
        let isPlain = path.hasSuffix("_Packages") || path.hasSuffix("status")
        let contents = isPlain ? try? Terminal.contents(of: path, byteCountMax: 1 << 30) : decompressed(path)  // Skipped if unreadable.
        guard let bytes = contents else { return [] }
        var file = ControlFile(bytes)
        var paragraphs: [ControlFile.Paragraph] = []
        while let paragraph = file.paragraph() {
            if paragraph["Package"] != nil { paragraphs.append(paragraph) }
        }
        return paragraphs
    }

    /// Returns the output of apt's own helper for a compressed list.
    private static func decompressed(_ path: String) -> [UInt8]? {
        guard path.utf8.allSatisfy({ $0 != UInt8(ascii: "'") }) else { return nil }
        guard let pipe = popen("/usr/lib/apt/apt-helper cat-file '\(path)' 2>/dev/null", "r") else { return nil }
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Returns 20,000 packages. Each package depends on up to five earlier packages.
    private static func madeUp() -> [ControlFile.Paragraph] {
        (0..<20_000).map { number in
            let dependencies = (1...5).map { (number * 7919 + $0 * 104_729) % max(number, 1) }.map { "package-\($0)" }
            return [
                "Package": "package-\(number)", "Version": "1.\(number % 10)-\(number % 3 + 1)", "Architecture": "all",
                "Section": ["libs", "utils", "net", "doc"][number % 4],
                "Maintainer": "Maintainer \(number % 500) <m\(number % 500)@example.org>",
                "Size": "\(10_000 + number * 37 % 900_000)", "Installed-Size": "\(40 + number % 9000)",
                "Depends": number == 0 ? "" : dependencies.joined(separator: ", "), "Description": "the package with the number \(number)",
                "Tag": "role::program, number::\(number % 100)",
            ]
        }
    }
}

/// The names of the files in a directory.
enum FileNames {
    /// Returns the names of the files, sorted. Returns no names if the directory cannot be read.
    static func sorted(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // SAFETY: the operating system terminates the name with a zero byte inside the entry, which lives until the next call.
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.sorted()
    }
}
