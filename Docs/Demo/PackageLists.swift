import Foundation

/// The package graph of this machine, or a made-up graph if the machine has no package lists.
struct PackageLists {
    /// The source of the paragraphs, in words that the demo prints.
    let origin: String
    let paragraphs: [ControlFile.Paragraph]

    /// Reads apt's package lists. If there are no such lists, reads the packages that dpkg has installed. If dpkg has no packages either,
    /// generates a graph.
    static func read() -> PackageLists {
        let lists = "/var/lib/apt/lists"
        let names = Demo.fileNames(in: lists).filter { $0.contains("_Packages") }
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
        let contents = isPlain ? FileManager.default.contents(atPath: path) : decompressed(path)
        guard let bytes = contents else { return [] }
        var file = ControlFile(Array(bytes))
        var paragraphs: [ControlFile.Paragraph] = []
        while let paragraph = file.paragraph() {
            if paragraph["Package"] != nil { paragraphs.append(paragraph) }
        }
        return paragraphs
    }

    /// Returns the output of apt's own helper for a compressed list. Returns `nil` if there is no such helper.
    private static func decompressed(_ path: String) -> Data? {
        let (helper, pipe) = (Process(), Pipe())
        helper.executableURL = URL(filePath: "/usr/lib/apt/apt-helper")
        helper.arguments = ["cat-file", path]
        (helper.standardOutput, helper.standardError) = (pipe, FileHandle.nullDevice)
        do {
            try helper.run()
            defer { helper.waitUntilExit() }
            return try pipe.fileHandleForReading.readToEnd()
        } catch {
            return nil  // The demo then uses the other lists.
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
