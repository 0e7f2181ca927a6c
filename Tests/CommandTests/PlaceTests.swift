import CambiumTesting
import Foundation
import Testing

/// The places in which commands may create a store.
@Suite struct PlaceTests {
    /// Every command that creates a store. The target follows as the last argument.
    private static let creations = [
        ["init", "--schema", "schema.json"], ["backup", "notes"], ["restore", "notes"], ["restore", "notes", "--at", "1"],
        ["apply", "notes"],
        ["repair", "notes", "--to"],
    ]

    private func withForeignFiles() throws -> Workplace {
        let place = try Workplace.withStore()
        for name in ["place/log", "place/roots"] { try place.makeDirectory(name) }
        for name in ["place/log/server.log", "place/roots/oak", "place/pages-1", "place/HEAD"] { try place.write("mine", to: name) }
        return place
    }

    @Test(arguments: creations) func `a command that creates a store deletes no existing file`(command: [String]) throws {
        let place = try withForeignFiles()
        let before = try place.tree("place")
        let outcome = try place.runWithoutWaiting(command + ["place"])
        #expect(outcome.code == 73 && outcome.errors.contains("place"), "\(outcome.errors)")
        #expect(try place.tree("place") == before)
    }

    @Test(arguments: creations)
    func `a store is not created at a file, a dangling link or an empty name`(command: [String]) throws {
        let place = try Workplace.withStore()
        try place.write("mine", to: "file")
        try place.link("link", to: "nowhere")
        for target in ["file", "link", "", "file/below"] {
            let outcome = try place.runWithoutWaiting(command + [target])
            #expect(outcome.code == 73, "'\(target)': \(outcome.code) \(outcome.errors)")
        }
        #expect(try place.bytes(of: "file") == Data("mine".utf8))
        #expect(!FileManager.default.fileExists(atPath: place.path("nowhere")))
    }

    @Test(arguments: creations.dropFirst().dropLast())
    func `no copy of a store is created inside that store`(command: [String]) throws {
        let place = try Workplace.withStore()
        try place.link("other", to: "notes")
        let before = try place.tree("notes")
        for target in ["notes", "notes/log", "notes/roots", "notes/copy", "notes/deep/copy", "other/copy", "./notes/../notes/copy"] {
            let outcome = try place.runWithoutWaiting(command + [target])
            // A store that is applied to itself has all transactions already.
            let isItself = command[0] == "apply" && target == "notes"
            #expect(outcome.code == 73 || isItself, "'\(target)': \(outcome.code) \(outcome.errors)")
            #expect(try place.tree("notes") == before, "'\(target)'")
        }
    }

    @Test(arguments: creations)
    func `no store is created inside another store`(command: [String]) throws {
        let place = try Workplace.withStore()
        #expect(try place.run("init", "outer", "--schema", "schema.json").code == 0)
        try place.makeDirectory("outer/empty")
        try place.link("link", to: "outer/empty")
        let before = try place.tree("outer")
        for target in ["outer/log/x", "outer/x", "outer/deep/er/x", "outer/empty", "link", "link/x"] {
            let outcome = try place.runWithoutWaiting(command + [target])
            #expect(outcome.code == 73 && outcome.errors.contains("is inside the store '"), "'\(target)': \(outcome.errors)")
            #expect(try place.tree("outer") == before, "'\(target)'")
        }
        #expect(try place.run("verify", "outer").code == 0)
    }

    @Test func `a store can be created beside the files of another program`() throws {
        let place = try Workplace.withStore()
        try place.makeDirectory("other/new")
        try place.write("mine", to: "other/store.json")
        #expect(try place.run("init", "other/new", "--schema", "schema.json").code == 0)
    }

    @Test func `a store can be created at a link to an empty directory`() throws {
        let place = try Workplace.withStore()
        try place.makeDirectory("empty")
        try place.link("link", to: "empty")
        #expect(try place.run("init", "link", "--schema", "schema.json").code == 0)
        #expect(try place.run("verify", "empty").code == 0)
    }

    @Test func `every command reports an interrupted creation, and init repeats it`() throws {
        let place = try Workplace.withStore()
        try place.copy("notes", to: "half")
        // An ended process leaves a creation in this state: the mark of an unfinished creation, with the names of the files.
        try place.interruptedMark.write(to: place.directory.appending(path: "half/CREATING"))
        let before = try place.tree("half")
        for command in [
            ["show", "half", "Note/1"], ["verify", "half"], ["stats", "half"], ["log", "half"], ["repair", "half", "--to", "new"],
            ["backup", "half", "new"], ["insert", "half", "Note", "id=1"], ["checkpoint", "half"], ["apply", "half", "new"],
        ] {
            let outcome = try place.runWithoutWaiting(command)
            #expect(outcome.code == 66 && outcome.errors.contains("interrupted"), "\(command): \(outcome.code) \(outcome.errors)")
        }
        #expect(try place.tree("half") == before && place.tree("new").isEmpty)
        #expect(try place.run("init", "half", "--schema", "schema.json").code == 0)
        #expect(try place.run("verify", "half").code == 0)
        #expect(try place.tree("half")["CREATING"] == nil)
    }

    @Test(arguments: ["", "file", "file/below", "empty"]) func `every command that reads reports a place without a store`(source: String)
        throws
    {
        let place = try Workplace.withStore()
        try place.write("mine", to: "file")
        try place.makeDirectory("empty")
        for command in [
            ["show", source, "Note/1"], ["verify", source], ["stats", source], ["log", source], ["repair", source, "--to", "new"],
            ["backup", source, "new"], ["restore", source, "new"], ["apply", source, "new"], ["insert", source, "Note", "id=1"],
        ] {
            let outcome = try place.runWithoutWaiting(command)
            #expect(outcome.code == 66 && outcome.errors.contains("'\(source)'"), "\(command): \(outcome.code) \(outcome.errors)")
        }
        #expect(try place.tree("new").isEmpty)
        #expect(try place.tree("empty").count == 1, "the directory itself")
    }

    // MARK: Commands that fail

    private static let failing: [[String]] = [
        ["init", "notes", "--schema", "schema.json"], ["init", "new", "--schema", "missing.json"], ["init", "new", "--schema", "bad.json"],
        ["import", "notes", "Note", "bad.json"], ["import", "notes", "Note", "missing.json"], ["import", "notes", "Nobody", "good.json"],
        ["insert", "notes", "Note"], ["insert", "notes", "Note", "id=1", "nothing=1"], ["insert", "notes", "Note", "id=text"],
        ["set", "notes", "Note/1", "nothing=1"], ["set", "notes", "Note/9", "title=x"], ["set", "notes", "Note/1", "title=far too long"],
        ["link", "notes", "Note/1", "items", "Item/9"], ["unlink", "notes", "Note/1", "nothing", "Item/1"], ["delete", "notes", "Note/9"],
        ["move", "notes", "Note/1", "memos", "Memo/9", "--to", "0"], ["clone", "notes", "Note/9"], ["clone", "notes", "Note/1"],
        ["clone", "notes", "Note/9", "--map", "new"], ["clone", "notes", "Note/1", "--set", "id=2", "--map", "missing/map"],
        ["label", "notes", "name", "99"], ["label", "notes", ""], ["checkpoint", "notes", "--keep", "0"],
        ["checkpoint", "notes", "--history-percent", "-1"], ["compact", "notes", "--retain", "nothing"],
        ["compact", "notes", "--retain", "all", "--archive", "file"], ["compact", "notes", "--retain", "all", "--archive", "notes"],
        ["schema", "notes", "--set", "bad.json"], ["schema", "notes", "--set", "missing.json"], ["schema", "notes", "--set", "other.json"],
        ["backup", "notes", "file"], ["backup", "nothing", "new"], ["restore", "notes", "new", "--at", "99"],
        ["restore", "notes", "new", "--archive", "missing"], ["apply", "nothing", "new"], ["apply", "notes", "file"],
        ["repair", "nothing", "--to", "new"], ["export", "notes", "Nobody"], ["show", "notes", "Note/9"], ["log", "nothing"],
        ["find", "notes", "Note", "--at", "99"],
    ]

    @Test(.enabled(if: LongTests.areWanted), arguments: failing) func `a command that fails writes nothing`(command: [String]) throws {
        let place = try Workplace.withStore()
        try place.write(#"{"id":1,"title":"a"}"#, to: "good.json")
        try place.write(#"{"id":5}{"id":6,"title":"far too long"}"#, to: "bad.json")
        try place.write(Workplace.notes.replacing("int64", with: "date"), to: "other.json")
        try place.write("mine", to: "file")
        #expect(try place.run("import", "notes", "Note", "good.json").code == 0)
        try place.remove(".input")
        let names = ["notes", "new"]
        let before = try names.map { try place.tree($0) } + [["file": place.bytes(of: "file")]]
        let outcome = try place.runWithoutWaiting(command)
        #expect(![0, 124].contains(outcome.code) && outcome.errors.hasPrefix("cambium: "), "\(outcome.code) \(outcome.errors)")
        #expect(try names.map { try place.tree($0) } + [["file": place.bytes(of: "file")]] == before)
        #expect(!FileManager.default.fileExists(atPath: place.path("new")))
    }

    // MARK: Limits of the system

    private func runLimited(_ place: Workplace, kibibytes: Int, _ arguments: String) throws -> Workplace.Outcome {
        try place.run(
            executable: URL(filePath: "/bin/bash"), ["-c", "ulimit -f \(kibibytes); exec '\(Workplace.binary.path)' \(arguments)"])
    }

    /// When a process starts, the thread sanitizer writes a file of its own, which is longer than these limits.
    @Test(.disabled(if: TestSettings.value("sanitizer") == "thread"))
    func `a command that reaches the limit of a file's length fails, and nothing is lost`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        let rows = (10..<20_000).map { #"{"id":\#($0),"title":"\#(String($0 &* 2_654_435_761 % 999_999_937))"}"# }
        try place.write(rows.joined(separator: "\n"), to: "rows.json")
        let outcome = try runLimited(place, kibibytes: 40, "import notes Note rows.json")
        #expect(outcome.code == 74 && outcome.errors.hasPrefix("cambium: "), "\(outcome.code) \(outcome.errors)")
        #expect(try place.run("find", "notes", "Note", "--count").output == "1\n")
        #expect(try runLimited(place, kibibytes: 40, "insert notes Note id=2").code == 0)
        #expect(try place.run("import", "notes", "Note", "rows.json").code == 0)
        #expect(try place.run("verify", "notes").code == 0)
        #expect(try runLimited(place, kibibytes: 0, "init none --schema schema.json").code == 74)
        #expect(!FileManager.default.fileExists(atPath: place.path("none")))
    }
}

extension Workplace {
    /// The mark of an unfinished creation of `notes`, with the names of all files.
    fileprivate var interruptedMark: Data {
        get throws {
            let maker = "\(path("notes"))"
            let script = """
                import os, struct, sys
                table = []
                for n in range(256):
                    for _ in range(8): n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
                    table.append(n)
                def crc(data):
                    c = 0xFFFFFFFF
                    for b in data: c = table[(c ^ b) & 255] ^ (c >> 8)
                    return c ^ 0xFFFFFFFF
                root = sys.argv[1]
                head = b'CAMBMAKE' + struct.pack('<H', 2) + bytes(16)
                last = crc(head)
                out = head + struct.pack('<I', last)
                for folder, _, files in os.walk(root):
                    for name in files:
                        path = os.path.relpath(os.path.join(folder, name), root).encode()
                        if path == b'LOCK': continue
                        entry = bytes([len(path)]) + path
                        last = crc(struct.pack('<I', last) + entry)
                        out += entry + struct.pack('<I', last)
                open('mark', 'wb').write(out)
                """
            _ = try run(executable: URL(filePath: "/usr/bin/python3"), ["-c", script, maker])
            return try bytes(of: "mark")
        }
    }
}
