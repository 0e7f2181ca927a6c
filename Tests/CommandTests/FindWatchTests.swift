import Foundation
import Testing

/// `cambium find --watch` while other processes write, and the end of commands that wait.
@Suite struct FindWatchTests {
    /// A command that runs, and the lines that it prints.
    private final class Watch {
        private let process = Process()
        private let output = Pipe()
        private let errors = Pipe()
        private var rest = Data()

        convenience init(_ place: Workplace, _ arguments: String...) throws {
            try self.init(place, command: ["find", "notes", "Note", "--watch"] + arguments)
        }

        init(_ place: Workplace, command: [String]) throws {
            process.executableURL = Workplace.binary
            process.arguments = command
            process.currentDirectoryURL = place.directory
            process.standardOutput = output
            process.standardError = errors
            try process.run()
        }

        /// Waits for the next line.
        func line() throws -> String {
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest = Data(rest[(end + 1)...]) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                let more = output.fileHandleForReading.availableData
                try #require(!more.isEmpty, "the command ended")
                rest += more
            }
        }

        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(line().utf8)) as? [String: Any])
        }

        /// Waits until the command fails, and returns its exit code and what it prints to standard error.
        func failure() -> (code: Int32, errors: String) {
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
        }

        func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

        /// Ends the command by SIGTERM, and returns whether this signal ended it within 20 seconds.
        func end() -> Bool {
            kill(process.processIdentifier, SIGTERM)
            let deadline = ContinuousClock.now + .seconds(20)
            while process.isRunning, ContinuousClock.now < deadline { usleep(10_000) }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            return process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    }

    private static func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            #expect(try place.run("insert", "notes", "Note", "id=1", "title=a").code == 0)
            #expect(try place.run("insert", "notes", "Note", "id=2", "title=b").code == 0)
            return place
        }
    }

    @Test func `changes follows the transactions of other processes`() throws {
        let place = try HistoryCommandTests.workplace()
        let follower = try Watch(place, command: ["changes", "notes", "--from", "6", "--follow"])
        #expect(try follower.json()["transaction"] as? Int == 6)
        #expect(try place.run("set", "notes", "Note/2", "title=d", "--actor", "jane").code == 0)
        #expect(try place.run("set", "notes", "Note/2", "title=e").code == 0)
        let next = try follower.json()
        #expect(next["transaction"] as? Int == 7 && next["actor"] as? String == "jane" && (next["changes"] as? [Any])?.count == 1)
        #expect(try follower.json()["transaction"] as? Int == 8)
        #expect(follower.end())
    }

    @Test func `the differences follow the result`() throws {
        let place = try Self.place()
        let watch = try Watch(place, "--where", "id < 10", "--sort", "title")
        #expect(try watch.line().hasPrefix("Note/1 "))
        #expect(try watch.line().hasPrefix("Note/2 "))
        #expect(try place.run("insert", "notes", "Note", "id=3", "title=aa").code == 0)
        #expect(try watch.line() == "transaction 4")
        #expect(try watch.line().hasPrefix("+ Note/3 "))
        #expect(try place.run("set", "notes", "Note/1", "title=c").code == 0)
        #expect(try watch.line() == "transaction 5")
        #expect(try watch.line().hasPrefix("> Note/1 "))
        #expect(try place.run("delete", "notes", "Note/2").code == 0)
        #expect(try watch.line() == "transaction 6")
        #expect(try watch.line() == "- Note/2 (2)")
        #expect(watch.end())
    }

    @Test func `with --json each update is one object`() throws {
        let place = try Self.place()
        let watch = try Watch(place, "--json", "--limit", "2", "--sort", "-id")
        let first = try watch.json()
        #expect(first["whole"] as? Bool == true && (first["inserted"] as? [[String: Any]])?.count == 2)
        #expect(try place.run("insert", "notes", "Note", "id=3").code == 0)
        let second = try watch.json()
        #expect(second["transaction"] as? Int == 4 && second["whole"] as? Bool == false)
        #expect(second["deleted"] as? [String] == ["Note/1"])
        let inserted = try #require((second["inserted"] as? [[String: Any]])?.first)
        #expect(inserted["index"] as? Int == 0 && (inserted["object"] as? [String: Any])?["_id"] as? String == "Note/3")
        #expect((second["moved"] as? [Any])?.isEmpty == true && (second["updated"] as? [Any])?.isEmpty == true)
        #expect(watch.end())
    }

    /// The beginning of each error about a migration that changed the names in the options.
    private static let cause = "A migration changed the schema, and the query no longer fits. "

    @Test func `a condition that no longer fits the schema is an error with its option`() throws {
        let place = try Self.place()
        let watch = try Watch(place, "--where", "id < 10 and title != \"x\"")
        #expect(try watch.line().hasPrefix("Note/1 "))
        let title = #""title": {"type": "string", "default": "", "maxLength": 9}"#
        let name = #""name": {"type": "string", "default": "", "renamedFrom": "title"}"#
        try place.write(Workplace.notes.replacing(title, with: name), to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        let failure = watch.failure()
        #expect(failure.code == 1 && failure.errors.hasPrefix("cambium: --where:1:13: " + Self.cause), "\(failure)")
    }

    @Test func `a nested relationship that the schema no longer has is an error`() throws {
        let place = try Self.place()
        let watch = try Watch(place, "--include", "items")
        #expect(try watch.line().hasPrefix("Note/1 "))
        let next = Workplace.notes.replacing(#""items": {"to""#, with: #""parts": {"renamedFrom": "items", "to""#)
        try place.write(next.replacing(#""inverse": "items""#, with: #""inverse": "parts""#), to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        let failure = watch.failure()
        #expect(failure.code == 1 && failure.errors.hasPrefix("cambium: \(Self.cause)'Note' has no relationship 'items'."), "\(failure)")
    }

    @Test func `an entity that a migration renamed is an error that names the migration`() throws {
        let place = try Self.place()
        let watch = try Watch(place)
        for _ in 1...2 { #expect(try watch.line().hasPrefix("Note/")) }
        let next = Workplace.notes.replacing(#""Note": { "identity""#, with: #""Page": { "renamedFrom": "Note", "identity""#)
        try place.write(next.replacing(#"{"to": "Note""#, with: #"{"to": "Page""#), to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        let failure = watch.failure()
        #expect(failure.code == 1 && failure.errors.hasPrefix("cambium: \(Self.cause)The schema has no entity 'Note'."), "\(failure)")
    }

    @Test func `after a migration a query of the schema is read again`() throws {
        let place = try Self.place()
        func migrate(_ condition: String, _ title: String = #""title": {"#) throws {
            let note = #""Note": { "queries": {"some": {"where": "\#(condition)"}}, "identity""#
            let schema = Workplace.notes.replacing(#""Note": { "identity""#, with: note)
            try place.write(schema.replacing(#""title": {"#, with: title), to: "next.json")
            #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        }
        try migrate("title != null and id == 1")
        let watch = try Watch(place, "--query", "some")
        #expect(try watch.line().hasPrefix("Note/1 "))
        try migrate("title != null and id == 2")
        #expect(try watch.line() == "transaction 5: the whole result" && watch.line().hasPrefix("Note/2 "))
        try migrate("name != null and id == 1", #""name": {"renamedFrom": "title", "#)
        #expect(try watch.line() == "transaction 6: the whole result" && watch.line().hasPrefix("Note/1 "))
        #expect(watch.end())
    }

    @Test func `--identity follows the identity from one object to another`() throws {
        let place = try Self.place()
        let watch = try Watch(place, "--json", "--identity", "2")
        #expect((try watch.json()["inserted"] as? [Any])?.count == 1)
        #expect(try place.run("set", "notes", "Note/2", "id=5").code == 0)
        try #require(try watch.json()["deleted"] as? [String] == ["Note/2"])
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        let inserted = try #require(try watch.json()["inserted"] as? [[String: Any]])
        #expect((inserted.first?["object"] as? [String: Any])?["_id"] as? String == "Note/3")
        #expect(watch.end())
    }

    /// Waits until no process reads a checkpoint. Returns `false` if a process still reads it after 20 seconds.
    private static func isReleased(_ checkpoint: URL) -> Bool {
        let file = open(checkpoint.path, O_RDONLY)
        defer { close(file) }
        let deadline = ContinuousClock.now + .seconds(20)
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            if ContinuousClock.now > deadline { return false }
            usleep(10_000)
        }
        return true
    }

    @Test func `an idle command holds only the checkpoint from which it continues`() throws {
        let place = try Self.place()
        #expect(try place.run("checkpoint", "notes").code == 0)
        let checkpoints = place.directory.appending(path: "notes/roots")
        let first = try #require(try FileManager.default.contentsOfDirectory(atPath: checkpoints.path).first)
        let watch = try Watch(place)
        for _ in 1...2 { #expect(try watch.line().hasPrefix("Note/")) }
        watch.send(SIGSTOP)  // When the command goes on, two checkpoints are newer than its first one, so it continues from the last one.
        for title in ["x", "y"] {
            #expect(try place.run("set", "notes", "Note/1", "title=\(title)").code == 0)
            #expect(try place.run("checkpoint", "notes").code == 0)
        }
        watch.send(SIGCONT)
        #expect(try watch.line() == "transaction 5")
        #expect(Self.isReleased(checkpoints.appending(path: first)))
        #expect(watch.end())
    }

    @Test(arguments: [["find", "notes", "Note", "--watch"], ["log", "notes", "--follow"]])
    func `a command that waits ends at SIGTERM, although the thread that starts it blocks the signal`(command: [String]) throws {
        let place = try Self.place()
        var (blocked, former) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &blocked, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        let watch = try Watch(place, command: command)
        _ = try watch.line()
        #expect(watch.end())
    }

    @Test(arguments: [["--select", "title"], ["--count"], ["--at", "1"], ["--explain"], ["--after", "Note/1"]])
    func `options of another form are refused`(options: [String]) throws {
        let place = try Workplace.withStore()
        let outcome = try place.run(executable: Workplace.binary, ["find", "notes", "Note", "--watch"] + options)
        #expect(outcome.code == 64 && outcome.errors.contains(options[0] == "--count" ? "aggregate" : options[0]))
    }
}
