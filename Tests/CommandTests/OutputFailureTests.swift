import CambiumTesting
import Foundation
import Testing

/// Commands whose standard output fails.
@Suite struct OutputFailureTests {
    private func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            try place.write("{\"id\":7}\n", to: "rows.json")
            try place.write(
                Workplace.notes.replacingOccurrences(
                    of: "\"text\": {", with: "\"more\": {\"type\": \"string\", \"optional\": true}, \"text\": {"), to: "wide.json")
            #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
            #expect(try place.run("link", "notes", "Note/1", "items", "Item/1").code == 66)
            #expect(try place.run("insert", "notes", "Item", "name=a").code == 0)
            return place
        }
    }

    /// Runs a command with a shell redirection.
    private func run(_ place: Workplace, _ command: String, _ redirection: String) throws -> Workplace.Outcome {
        try place.run(executable: URL(filePath: "/bin/sh"), ["-c", "\"$0\" \(command) \(redirection)", Workplace.binary.path])
    }

    @Test(
        .enabled(if: LongTests.areWanted),
        arguments: [
            "insert notes Note id=9", "set notes Note/1 title=x", "link notes Note/1 items Item/1", "delete notes Item/1",
            "clone notes Note/1",
            "import notes Note rows.json", "label notes here", "schema notes --set wide.json", "init other --schema schema.json",
            "insert notes Note id=9 --json", "import notes Note rows.json --json", "clone notes Note/1 --json --set id=5",
        ])
    func `a command whose output fails after a commit reports the number of the transaction`(command: String) throws {
        for redirection in [">/dev/full", ">&-"] {
            let place = try place()
            let command = command.hasPrefix("clone") && !command.contains("--set") ? command + " --set id=4" : command
            let outcome = try run(place, command, redirection)
            #expect(outcome.code == 74, "\(redirection) \(outcome.errors)")
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.first?.hasPrefix("cambium: Standard output cannot be written: ") == true)
            let number = command.hasPrefix("init") ? 1 : 4
            #expect(lines.last?.contains("ransaction \(number) was committed.") == true, "\(outcome.errors)")
            let store = command.hasPrefix("init") ? "other" : "notes"
            #expect(try place.run("log", store, "--json").json.last?["transaction"] as? Int == number)
            #expect(try place.run("verify", store).code == 0)
        }
    }

    @Test(arguments: ["log notes --follow --json", "find notes Note --watch --json"])
    func `a command that waits for transactions ends after its reader`(command: String) throws {
        let place = try Workplace.withStore()
        // The command prints only one line, so it never writes to the closed pipe.
        let pipeline = "{ timeout 20 \"$0\" \(command); echo $? >status; } | head -n 1"
        let outcome = try place.run(executable: URL(filePath: "/bin/sh"), ["-c", pipeline, Workplace.binary.path])
        #expect(try outcome.json.count == 1)
        let status = String(decoding: try place.bytes(of: "status"), as: UTF8.self)
        #expect(["141\n", "74\n"].contains(status), "\(status)")
    }

    @Test func `an import whose output fails lists its bad rows`() throws {
        let place = try place()
        try place.write("{\"id\":7}\n{\"id\":\"x\"}\n", to: "rows.json")
        let outcome = try run(place, "import notes Note rows.json --on-error skip", ">/dev/full")
        #expect(outcome.code == 74 && outcome.errors.contains("cambium: rows.json:2: row 2 at /id: "), "\(outcome.errors)")
        #expect(outcome.errors.hasSuffix("ransaction 4 was committed.\n"), "\(outcome.errors)")
    }

    @Test(arguments: [
        ("backup notes copy", "The copy 'copy' is complete"), ("apply notes copy", "'copy' has every transaction of 'notes'"),
        ("checkpoint notes", "is stored"), ("compact notes --retain all", "The log was compacted"),
        ("repair notes --to copy", "The store 'copy' was created."),
    ])
    func `a command whose output fails reports its effect`(command: String, done: String) throws {
        let outcome = try run(try place(), command, ">/dev/full")
        #expect(outcome.code == 74 && outcome.errors.contains(done), "\(outcome.errors)")
    }

    @Test(
        .enabled(if: LongTests.areWanted),
        arguments: [
            "show notes Note/1", "find notes Note", "export notes", "log notes --ops", "stats notes", "verify notes", "schema notes",
            "label notes",
            "--help", "--version", "insert --help", "import notes Note rows.json --dry-run", "find notes Note --json",
            "compact notes --retain all --dry-run",
        ])
    func `a command that only reads reports a failure of its output`(command: String) throws {
        for redirection in [">/dev/full", ">&-"] {
            let outcome = try run(try place(), command, redirection)
            #expect(outcome.code == 74, "\(outcome.errors)")
            #expect(outcome.errors.hasPrefix("cambium: Standard output cannot be written: "))
            #expect(outcome.errors.split(separator: "\n").count == 1)
        }
    }

    @Test func `an import whose report cannot be written reports why it failed`() throws {
        let place = try place()
        try place.write("{\"id\":8}\n{\"id\":\"x\"}\n", to: "bad.json")
        let failed = try run(place, "import notes Note bad.json --json", ">/dev/full")
        let lines = failed.errors.split(separator: "\n")
        #expect(failed.code == 74 && lines.count == 2, "\(failed.errors)")
        #expect(lines.first?.hasPrefix("cambium: bad.json:2 at /id: ") == true)
        #expect(lines.last?.hasPrefix("cambium: Standard output cannot be written: ") == true)
        let batches = try run(place, "import notes Note bad.json --json --batch 1", "")
        #expect(batches.code == 65 && batches.errors.split(separator: "\n").last == "cambium: Transaction 4 was committed.")
        #expect(try batches.json.first?["transaction"] as? Int == 4)
    }

    @Test func `a closed pipe ends a reading command quietly, and is reported after a commit`() throws {
        let place = try place()
        // The reader closes the pipe before the program starts.
        let script =
            "mkfifo gate; { read line <gate; \"$0\" COMMAND 2>errors; echo $? >code; } | { exec <&-; echo go >gate; }; cat code errors"
        for (command, isQuiet) in [("export notes", true), ("insert notes Note id=9", false)] {
            let text = script.replacingOccurrences(of: "COMMAND", with: command)
            let outcome = try place.run(executable: URL(filePath: "/bin/sh"), ["-c", "rm -f gate; " + text, Workplace.binary.path])
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.first == (isQuiet ? "141" : "74"), "\(outcome.output) \(outcome.errors)")
            #expect(lines.count == (isQuiet ? 1 : 3))
            if !isQuiet { #expect(lines.last?.contains("Transaction 4 was committed.") == true) }
        }
    }

    @Test func `no file of a store gets the descriptor of a closed stream`() throws {
        let place = try place()
        for redirection in [">&-", "2>&-", "<&-", ">&- 2>&- <&-"] {
            _ = try run(place, "insert notes Memo text=closed --json", redirection)
            #expect(try place.run("verify", "notes").code == 0)
        }
        #expect(try place.run("find", "notes", "Memo", "--count").output == "4\n")
        #expect(try run(place, "import notes Note -", "<&-").code == 74)
    }
}
