import CambiumTesting
import Foundation
import Testing

@Suite struct ApplyCommandTests {
    private static let rows = (1...4000).map { row in
        "{\"id\":\(row),\"title\":\"note\",\"items\":[{\"name\":\"item \(row)\"}]}"
    }

    private func source() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            let rows = Self.rows[..<20].joined(separator: "\n")
            #expect(try place.run("import", "notes", "Note", "-", "--actor", "jane", input: rows).code == 0)
            #expect(try place.run("clone", "notes", "Note/1", "--set", "id=100", "--message", "a copy").code == 0)
            return place
        }
    }

    private func verify(_ place: Workplace, _ store: String) throws -> [String: Any] {
        try #require(try place.run("verify", store, "--json").json.first)
    }

    /// Returns the log of a store without the sizes of its transactions.
    private func logged(_ place: Workplace, _ store: String) throws -> String {
        try place.run("log", store, "--ops", "--json").output.replacing(#/"bytes":[0-9]+/#, with: "")
    }

    @Test func `the changes of a store are applied to a new store only once`() throws {
        let place = try source()
        let first = try #require(try place.run("apply", "notes", "copy", "--json").json.first)
        #expect(first["applied"] as? Int == 3 && first["present"] as? Int == 0 && first["transaction"] as? Int == 3)
        let (old, new) = (try verify(place, "notes"), try verify(place, "copy"))
        #expect(new["root"] as? String == old["root"] as? String && first["digest"] as? String == old["digest"] as? String)
        #expect(try logged(place, "copy") == logged(place, "notes"))
        let again = try #require(try place.run("apply", "notes", "copy", "--json").json.first)
        #expect(again["applied"] as? Int == 0 && again["present"] as? Int == 3)
        #expect(try place.run("set", "notes", "Note/1", "title=x").code == 0)
        let printed = try place.run("apply", "notes", "copy")
        #expect(printed.code == 0 && printed.output.hasPrefix("copy: 1 transaction applied, 3 already present\n"), "\(printed.output)")
        #expect(try place.run("export", "copy").output == place.run("export", "notes").output)
    }

    @Test func `a new store with the same schema takes the changes, too`() throws {
        let place = try source()
        #expect(try place.run("init", "copy", "--schema", "schema.json").code == 0)
        let report = try #require(try place.run("apply", "notes", "copy", "--json").json.first)
        #expect(report["applied"] as? Int == 2 && report["laterTimes"] as? Int == 2)
        #expect(try verify(place, "copy")["digest"] as? String == verify(place, "notes")["digest"] as? String)
        #expect(try place.run("apply", "notes", "copy", "--json").json.first?["applied"] as? Int == 0)
    }

    @Test func `an apply that is refused exits with the code of its reason`() throws {
        let place = try source()
        #expect(try place.run("apply", "nowhere", "copy").code == 66)
        #expect(!FileManager.default.fileExists(atPath: place.directory.appending(path: "copy").path))
        #expect(try place.run("apply", "notes", "copy").code == 0)
        #expect(try place.run("insert", "copy", "Note", "id=900").code == 0)
        let refused = try place.run("apply", "notes", "copy")
        #expect(refused.code == 1 && refused.errors.contains("Another program wrote to the target"), "\(refused.errors)")
        try FileManager.default.createDirectory(at: place.directory.appending(path: "other"), withIntermediateDirectories: false)
        try place.write("x", to: "other/file")
        #expect(try place.run("apply", "notes", "other").code == 73)
        #expect(try place.run("apply", "notes").code == 64)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `an apply that is killed and run again leads to the same store`() throws {
        let place = try source()
        let rows = Self.rows[20...].joined(separator: "\n")
        #expect(try place.run("import", "notes", "Note", "-", "--batch", "2", input: rows).code == 0)
        var reached: [Int] = []
        for _ in 0..<3 {
            let process = Process()
            process.executableURL = Workplace.binary
            process.arguments = ["apply", "notes", "copy"]
            process.currentDirectoryURL = place.directory
            process.standardOutput = FileHandle.nullDevice
            let log = place.directory.appending(path: "copy/log/00000000000000000001.log")
            func byteCount() -> Int { (try? FileManager.default.attributesOfItem(atPath: log.path)[.size] as? Int) ?? 0 }  // No file yet.
            let before = byteCount()
            try process.run()
            while process.isRunning, byteCount() <= before + (64 << 10) { usleep(200) }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let outcome = try place.run("verify", "copy", "--json")
            // Before its first transaction, the copy is not a store.
            let verified = outcome.code == 66 && reached.allSatisfy { $0 == 0 } ? [:] : try #require(outcome.json.first, "\(outcome)")
            #expect(verified.isEmpty || verified["ok"] as? Bool == true)
            reached.append(verified["transactions"] as? Int ?? 0)
        }
        #expect(reached == reached.sorted())
        let report = try #require(try place.run("apply", "notes", "copy", "--json").json.first)
        #expect(report["present"] as? Int == reached.last && report["transaction"] as? Int == 1993)
        let (old, new) = (try verify(place, "notes"), try verify(place, "copy"))
        #expect(new["root"] as? String == old["root"] as? String && new["digest"] as? String == old["digest"] as? String)
    }
}
