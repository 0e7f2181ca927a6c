import Foundation
import Testing

struct RepositoryTests {
    @Test func `the root is found from the place of this file`() {
        #expect(Repository.current.exists("Package.swift"))
        #expect(Repository.current.exists("Tests/RepositoryTests/RepositoryTests.swift"))
    }

    @Test func `listing enters neither what is built nor what belongs to git`() throws {
        let paths = try Repository.current.paths()
        #expect(paths.contains("Tests/RepositoryTests/RepositoryTests.swift"))
        #expect(!paths.contains { $0.contains(".build/") || $0.hasPrefix(".git/") })
    }

    @Test func `every script can be run`() throws {
        for script in try Repository.current.texts(in: ["script", ".ci"]) {
            let path = Repository.current.root.appendingPathComponent(script.path).path
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(script.path)")
            #expect(script.text.contains("\nset -euo pipefail\n"), "\(script.path)")
        }
    }
}
