import Foundation
import Testing

@testable import CambiumCommand

@Suite struct ArgumentTests {
    /// Runs a shell command in which `$0` is the program and `$bad` is not UTF-8.
    private func run(_ place: Workplace, _ command: String) throws -> Workplace.Outcome {
        let script = "bad=$(printf 'a\\351b'); export bad; \(command)"
        return try place.run(executable: URL(filePath: "/bin/sh"), ["-c", script, Workplace.binary.path])
    }

    @Test(arguments: [
        "init \"$bad\" --schema schema.json", "insert notes Note id=1 \"title=$bad\"", "insert notes Note id=1 --actor \"$bad\"",
        "insert notes Note id=1 --request \"$bad\"", "backup notes \"$bad\"", "clone notes Note/1 --map \"$bad\"", "show \"$bad\" Note/1",
        "compact notes --retain all --archive \"$bad\"", "import notes Note \"$bad\"", "label notes \"$bad\"", "\"$bad\"",
    ])
    func `an argument that is not UTF-8 is refused before anything is done`(command: String) throws {
        let place = try Workplace.withStore()
        let before = try FileManager.default.contentsOfDirectory(atPath: place.directory.path).filter { !$0.hasPrefix(".") }.sorted()
        let log = try place.bytes(of: "notes/log/00000000000000000001.log")
        let outcome = try run(place, "\"$0\" \(command)")
        #expect(outcome.code == 64 && outcome.errors.hasPrefix("cambium: Argument ") && outcome.errors.contains("is not UTF-8"))
        let after = try FileManager.default.contentsOfDirectory(atPath: place.directory.path).filter { !$0.hasPrefix(".") }.sorted()
        #expect(try after == before && place.bytes(of: "notes/log/00000000000000000001.log") == log)
    }

    @Test func `environment variables that are not UTF-8 are refused`() throws {
        let place = try Workplace.withStore()
        #expect(try run(place, "CAMBIUM_MEMORY=$bad \"$0\" insert notes Note id=1").code == 65)
    }

    @Test func `an empty TMPDIR means tmp`() {
        #expect(TemporaryDirectory.path("") == "/tmp")
        #expect(TemporaryDirectory.path(nil) == "/tmp")
        #expect(TemporaryDirectory.path("/var/tmp") == "/var/tmp")
    }

    @Test(arguments: ["\u{301}a", "\u{338}=b", "\u{FE0F}", "\u{200D}:=c"])
    func `a text that begins with a mark is assigned unchanged`(text: String) throws {
        let plain = try #require(AssignmentArgument(argument: "title=" + text))
        #expect(plain.name == "title" && !plain.isJSON && plain.text.utf8.elementsEqual(text.utf8))
        let json = try #require(AssignmentArgument(argument: "title:=" + text))
        #expect(json.name == "title" && json.isJSON && json.text.utf8.elementsEqual(text.utf8))
        #expect(AssignmentArgument(argument: "=" + text) == nil && AssignmentArgument(argument: ":=" + text) == nil)
    }

    @Test(arguments: [["-", "-"], ["-", "--mapping", "-"]])
    func `an import cannot read standard input twice`(arguments: [String]) throws {
        let place = try Workplace.withStore()
        let outcome = try place.run(executable: Workplace.binary, ["import", "notes", "Note"] + arguments, input: "{}")
        #expect(outcome.code == 64 && outcome.errors.contains("only once"), "\(outcome.errors)")
    }

    @Test(arguments: [
        ["schema", "notes", "--set", "-"], ["init", "new", "--schema", "-"], ["export", "notes", "Note", "--mapping", "-"],
        ["import", "notes", "Note", "rows.json", "--mapping", "-"],
    ])
    func `an error names standard input, and not the argument -`(arguments: [String]) throws {
        let place = try Workplace.withStore()
        try place.write("{}", to: "rows.json")
        for (input, start) in [("{", ":1:1: "), (#"{"x":1}"#, " at /x: ")] {
            let outcome = try place.run(executable: Workplace.binary, arguments, input: input)
            #expect(outcome.code == 65 && outcome.errors.hasPrefix("cambium: standard input\(start)"), "\(outcome.errors)")
        }
    }

    @Test(arguments: [
        ("find", ["Note", "--where", "id == 1", "--where=id == 2"]),
        ("find", ["Note", "--count", "--having=count > 1", "--having", "true"]),
        ("walk", ["Note/1", "items", "--where", "true", "--where", "true"]), ("diff", ["1", "--where=true", "--where=true"]),
        ("export", ["Note", "--where=true", "--where", "true"]),
        ("import", ["Note", "-", "--absent", "delete", "--scope", "true", "--scope=true"]),
    ])
    func `a condition that is given twice is refused with the usage of the command`(command: String, rest: [String]) throws {
        let place = try Workplace.withStore()
        let outcome = try place.run(executable: Workplace.binary, [command, "notes"] + rest)
        #expect(outcome.code == 64 && outcome.errors.contains(" is given twice. Join the conditions with 'and'."), "\(outcome.errors)")
        #expect(outcome.errors.contains("Usage: cambium \(command) "), "\(outcome.errors)")
    }

    @Test func `transaction 0 and numbers of more than 64 bits are not moments`() throws {
        let place = try Workplace.withStore()
        for arguments in [
            ["show", "notes", "Note/1", "--at", "0"], ["label", "notes", "x", "0"], ["restore", "notes", "copy", "--at", "0"],
        ] {
            let outcome = try place.run(executable: Workplace.binary, arguments)
            #expect(outcome.code == 66 && outcome.errors.contains("The first transaction of a store is 1"), "\(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: place.directory.appending(path: "copy/store.json").path))
        let huge = try place.run("show", "notes", "Note/1", "--at", String(repeating: "9", count: 30))
        #expect(huge.code == 66 && huge.errors.contains("the last transaction is 1"), "\(huge.errors)")
        #expect(huge.errors.contains("A transaction with this number does not exist") && !huge.errors.contains("18446744073709551615"))
    }
}
