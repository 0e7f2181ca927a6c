import Foundation
import Testing

struct RepositoryTests {
    @Test func `the root of the repository is found from the path of this file`() {
        #expect(Repository.current.exists("Package.swift"))
        #expect(Repository.current.exists("Tests/RepositoryTests/RepositoryTests.swift"))
    }

    @Test func `a listing omits the contents of build directories and of git`() throws {
        let paths = try Repository.current.paths()
        #expect(paths.contains("Tests/RepositoryTests/RepositoryTests.swift"))
        #expect(!paths.contains { $0.contains(".build/") || $0.hasPrefix(".git/") })
    }

    @Test func `every script is executable and stops at the first error`() throws {
        let scripts = try Repository.current.texts(in: ["script", ".ci"])
        #expect(scripts.count > 10)
        for script in scripts {
            let path = Repository.current.root.appendingPathComponent(script.path).path
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(script.path)")
            // A script in Python ends at the first exception.
            let isPython = script.text.hasPrefix("#!/usr/bin/env python3\n")
            #expect(isPython || script.text.contains("\nset -euo pipefail\n"), "\(script.path)")
        }
    }
}
