import CambiumTesting
import Foundation
import Testing

@testable import CambiumCommand

/// The map that `cambium clone` writes to a file.
extension CloneCommandTests {
    @Test func `a map has the old and the new id of each object, by ascending old id`() throws {
        let place = try place()
        #expect(try place.run("clone", "notes", "Note/1", "--map", "map.json").code == 0)
        let map = String(decoding: try place.bytes(of: "map.json"), as: UTF8.self)
        #expect(
            map == """
                {"old":"Note/1","new":"Note/3"}
                {"old":"Item/1","new":"Item/3"}
                {"old":"Item/2","new":"Item/4"}
                {"old":"Part/1","new":"Part/3"}
                {"old":"Part/2","new":"Part/4"}

                """)
        #expect(try files(place) == ["map.json", "notes", "schema.json"])
    }

    @Test func `a call for a map is repeated after a signal, but not after another failure`() {
        var codes = [EINTR, EINTR, EIO]
        func fail() -> Int32 {
            errno = codes.removeFirst()
            return -1
        }
        #expect(OutputFile.uninterrupted(fail) == -1 && codes.isEmpty)
        codes = [EINTR]
        #expect(OutputFile.uninterrupted { codes.isEmpty ? 7 : fail() } == 7)
    }

    @Test func `a map replaces an existing file`() throws {
        let place = try place()
        try place.write("old", to: "map.json")
        #expect(try place.run("clone", "notes", "Note/2", "--map", "map.json").code == 0)
        #expect(try place.bytes(of: "map.json") == Data((#"{"old":"Note/2","new":"Note/3"}"# + "\n").utf8))
        #expect(try files(place) == ["map.json", "notes", "schema.json"])
    }

    @Test func `a repeated request writes the same map until its changes are retired`() throws {
        let place = try place()
        func clone() throws -> Workplace.Outcome { try place.run("clone", "notes", "Note/1", "--request", "r", "--map", "map.json") }
        #expect(try clone().code == 0)
        let map = try place.bytes(of: "map.json")
        #expect(try place.run("delete", "notes", "Note/3").code == 0)
        try place.write("old", to: "map.json")
        let again = try clone()
        #expect(again.code == 0 && again.output.contains("the request was applied then"), "\(again.errors)")
        #expect(try place.bytes(of: "map.json") == map)
        #expect(try place.run("compact", "notes", "--retain", "since:5").code == 0)
        let late = try clone()
        #expect(late.code == 66 && late.errors.contains("its changes were retired"), "\(late.errors)")
        #expect(try place.bytes(of: "map.json") == map)
        #expect(try files(place) == ["map.json", "notes", "schema.json"])
    }

    @Test func `a map that cannot be created leaves the store as it was`() throws {
        let place = try place()
        let before = try place.bytes(of: Self.log)
        let outcome = try place.run("clone", "notes", "Note/1", "--map", "nowhere/map.json")
        let message = "cambium: nowhere/map.json: The file of --map cannot be created"
        #expect(outcome.code == 73 && outcome.errors.hasPrefix(message), "\(outcome.errors)")
        try expectUnchanged(place, before)
        #expect(try files(place) == ["notes", "schema.json"])
    }

    @Test func `a map that would replace a directory is refused before anything is cloned`() throws {
        let place = try place()
        let before = try place.bytes(of: Self.log)
        try FileManager.default.createDirectory(at: place.directory.appending(path: "taken/x"), withIntermediateDirectories: true)
        let outcome = try place.run("clone", "notes", "Note/2", "--map", "taken")
        #expect(outcome.code == 73 && outcome.errors.hasPrefix("cambium: taken: "), "\(outcome.errors)")
        try expectUnchanged(place, before)
        #expect(try files(place) == ["notes", "schema.json", "taken"])
    }

    @Test func `a refused clone leaves no map and no part of one, and an existing file as it was`() throws {
        let place = try place()
        try place.write("old", to: "map.json")
        let before = try place.bytes(of: Self.log)
        #expect(try place.run("clone", "notes", "Code/1", "--map", "map.json").code == 1)
        #expect(try place.run("clone", "notes", "Note/1", "--map", "map.json", "--max-objects", "1").code == 65)
        #expect(try place.run("clone", "notes", "Note/9", "--map", "map.json").code == 66)
        #expect(try place.run("clone", "nowhere", "Note/1", "--map", "map.json").code == 66)
        #expect(try place.bytes(of: "map.json") == Data("old".utf8))
        #expect(try files(place) == ["map.json", "notes", "schema.json"])
        try expectUnchanged(place, before)
    }
}
