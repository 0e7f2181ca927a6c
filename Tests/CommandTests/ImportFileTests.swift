import CambiumTesting
import Foundation
import Testing

/// Imports of files of every kind, and of input that is cut off.
@Suite struct ImportFileTests {
    private static let schema = """
        { "entities": { "Note": { "identity": ["id"],
            "attributes": { "id": {"type": "int64"}, "title": {"type": "string", "optional": true} },
            "relationships": { "related": {"to": "Note", "many": true, "inverse": "related"} } } } }
        """

    private static func place(_ stores: [String] = ["notes"]) throws -> Workplace {
        try Workplace.copy("\(stores)") {
            let place = try Workplace()
            try place.write(schema, to: "schema.json")
            for store in stores { #expect(try place.run("init", store, "--schema", "schema.json").code == 0) }
            return place
        }
    }

    @Test func `JSON and CSV are imported from plain and compressed files and from standard input`() throws {
        let place = try Self.place()
        try place.write("[{\"id\":1,\"title\":\"a\"}]", to: "one.json")
        try place.write("id,title\r\n2,\"b,c\"\r\n", to: "two.csv")
        try place.write("{\"id\":3}\n{\"id\":4}\n", to: "three.jsonl")
        try place.write("title,id,related\nfive,5,1;2\n", to: "five.csv")
        for name in ["three.jsonl", "five.csv"] { #expect(try place.run(executable: Self.gzip, ["-k", name]).code == 0) }
        let files = ["one.json", "two.csv", "three.jsonl.gz", "five.csv.gz"]
        let report = try #require(try place.run(executable: Workplace.binary, ["import", "notes", "Note"] + files + ["--json"]).json.first)
        #expect(report["inserted"] as? Int == 5 && report["rows"] as? Int == 5 && report["transaction"] as? Int == 2)
        let again = try place.run("import", "notes", "Note", "-", "--format", "csv", "--json", input: "id,title\n2,\"b,c\"\n")
        #expect(try again.json.first?["unchanged"] as? Int == 1)
        let exported = try place.run("export", "notes", "Note", "--format", "csv", "--references", "identity").output
        #expect(exported == "id,title,related\r\n1,a,5\r\n2,\"b,c\",5\r\n3,,\r\n4,,\r\n5,five,1;2\r\n")
        #expect(try place.run("export", "notes", "--ids-only", "--format", "array").output.hasPrefix("[{\"_id\":\"Note/1\"},\n"))
        #expect(try place.run("export", "notes", "--format", "csv").code == 64)
        #expect(try place.run("export", "notes", "Note", "--depth", "65").code == 64)
    }

    @Test func `a path that names no file is a missing file, and the error advises to check the path`() throws {
        let place = try Self.place()
        try place.link("ring", to: place.path("ring"))
        for path in ["nowhere", "schema.json/rows", "schema.json/", "ring", String(repeating: "n", count: 300)] {
            for command in [
                ["import", "notes", "Note", path], ["import", "notes", "Note", "schema.json", "--mapping", path],
                ["init", "other", "--schema", path], ["schema", "notes", "--set", path],
            ] {
                let outcome = try place.run(executable: Workplace.binary, command)
                #expect(outcome.code == 66 && outcome.errors.hasSuffix(". Check the path.\n"), "\(command[0]): \(outcome.errors)")
            }
        }
        let archive = String(repeating: "n", count: 300)
        #expect(try place.run("verify", "notes", "--archive", archive).code == 66)
    }

    @Test func `schemas, mappings and rows may begin with a byte order mark`() throws {
        let place = try Workplace()
        try place.write("\u{FEFF}" + Self.schema, to: "schema.json")
        try place.write("\u{FEFF}" + #"{"attributes":{"title":"name"}}"#, to: "mapping.json")
        try place.write("\u{FEFF}" + #"{"id":1,"name":"a"}"#, to: "one.json")
        try place.write("\u{FEFF}id,name\n2,b\n", to: "two.csv")
        #expect(try place.run("init", "notes", "--schema", "schema.json").code == 0)
        let outcome = try place.run("import", "notes", "Note", "one.json", "two.csv", "--mapping", "mapping.json")
        #expect(outcome.code == 0, "\(outcome.errors)")
        let rows = try place.run("export", "notes", "Note", "--mapping", "mapping.json").output
        #expect(rows == #"{"id":1,"name":"a","related":[]}"# + "\n" + #"{"id":2,"name":"b","related":[]}"# + "\n")
    }

    @Test func `a file with the name of standard input does not belong to a request`() throws {
        let place = try Self.place()
        for text in ["before", "after"] {
            try place.write(text, to: "-")
            let outcome = try place.run("import", "notes", "Note", "-", "--request", "r", input: "{\"id\":1}")
            #expect(outcome.code == 0, "\(text): \(outcome.errors)")
        }
    }

    @Test func `an import from standard input takes the lock only after its first byte`() throws {
        let place = try Self.place()
        let process = Process()
        process.executableURL = Workplace.binary
        process.arguments = ["import", "notes", "Note", "-"]
        process.currentDirectoryURL = place.directory
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        usleep(300_000)  // An import that took the lock at once would have it after this time.
        let insert = try place.run("insert", "notes", "Note", "id=1")
        try pipe.fileHandleForWriting.write(contentsOf: Data(#"{"id":1,"title":"a"}"#.utf8))
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(insert.code == 0 && process.terminationStatus == 0, "\(insert.errors)")
        #expect(try place.run("export", "notes", "--json").json.map { $0["title"] as? String } == ["a"])
    }

    @Test(arguments: [("nowhere", "Note", 66), ("notes", "Nothing", 64)])
    func `an import reports a wrong store or entity before standard input has its first byte`(
        store: String, entity: String, code: Int
    ) throws {
        let place = try Self.place()
        let process = Process()
        process.executableURL = Workplace.binary
        process.arguments = ["import", store, entity, "-"]
        process.currentDirectoryURL = place.directory
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The limit of 10 seconds ends the test if the import waits for its input.
        let hasEnded = (0..<500).contains { _ in
            usleep(20_000)
            return !process.isRunning
        }
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(hasEnded && Int(process.terminationStatus) == code)
    }

    @Test func `a directory in place of an input file is no such file`() throws {
        let place = try Self.place()
        try place.write("{\"id\":1}", to: "rows.json")
        for arguments in [
            ["import", "notes", "Note", "notes"], ["import", "notes", "Note", "rows.json", "--mapping", "notes"],
            ["init", "new", "--schema", "notes"],
        ] {
            let outcome = try place.run(executable: Workplace.binary, arguments)
            #expect(outcome.code == 66 && outcome.errors.contains("'notes' is a directory"), "\(arguments): \(outcome.errors)")
        }
    }

    @Test func `a corrupt compressed file is bad input, and nothing is imported`() throws {
        let place = try Self.place()
        try place.write((1...5000).map { "{\"id\":\($0)}" }.joined(separator: "\n"), to: "rows.json")
        #expect(try place.run(executable: Self.gzip, ["rows.json"]).code == 0)
        var bytes = try place.bytes(of: "rows.json.gz")
        try bytes.dropLast(9).write(to: place.directory.appending(path: "cut.json.gz"))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: place.directory.appending(path: "rows.json.gz"))
        for name in ["cut.json.gz", "rows.json.gz"] {
            let outcome = try place.run("import", "notes", "Note", name)
            #expect(outcome.code == 65 && outcome.errors.hasPrefix("cambium: \(name): "))
        }
        #expect(try place.run("find", "notes", "Note", "--count").output.hasPrefix("0"))
    }

    private static let gzip = URL(filePath: "/usr/bin/gzip")

    // MARK: Killed imports

    private static let rowCount = 6000

    /// Each row refers to two others, one of which comes later.
    private static let rows = (1...rowCount).map { row in
        let text = "note \(row) " + String(repeating: "x", count: row % 90)
        return "{\"id\":\(row * 7 % (rowCount + 1)),\"title\":\"\(text)\",\"related\":[\(row),\(row / 2 + 1)]}\n"
    }

    /// Starts an import from standard input, supplies `count` rows, and kills the import.
    private func kill(_ place: Workplace, _ store: String, _ options: [String], afterRows count: Int) throws {
        let process = Process()
        process.executableURL = Workplace.binary
        process.arguments = ["import", store, "Note", "-"] + options
        process.currentDirectoryURL = place.directory
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        // Returns when the process has read everything except at most 64 KiB.
        try pipe.fileHandleForWriting.write(contentsOf: Data(Self.rows[..<count].joined().utf8))
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: [[], ["--batch", "500"]])
    func `an import that is killed and run again has the result of one that was not killed`(options: [String]) throws {
        let place = try Self.place(["whole", "killed"])
        try place.write(Self.rows.joined(), to: "rows.jsonl")
        let arguments = ["import", "whole", "Note", "rows.jsonl"] + options
        #expect(try place.run(executable: Workplace.binary, arguments).code == 0)
        let whole = try #require(try place.run("verify", "whole", "--json").json.first)
        var reached: [Int] = []
        for count in [Self.rowCount * 3 / 10, Self.rowCount * 9 / 10] {
            try kill(place, "killed", options, afterRows: count)
            let found = try #require(try place.run("find", "killed", "Note", "--count", "--json").json.first)
            reached.append(try #require(found["count"] as? Int))
            #expect(try place.run("verify", "killed").code == 0)
        }
        #expect(options.isEmpty ? reached == [0, 0] : reached[0] > 0 && reached[0] < reached[1])
        let again = try place.run(executable: Workplace.binary, ["import", "killed", "Note", "rows.jsonl"] + options)
        #expect(again.code == 0)
        let killed = try #require(try place.run("verify", "killed", "--json").json.first)
        #expect(killed["digest"] as? String == whole["digest"] as? String && killed["ok"] as? Bool == true)
    }
}
