import Cambium
import Foundation
import Testing

@Suite struct CheckpointCommandTests {
    private func made() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            for number in 1...6 { #expect(try place.run("insert", "notes", "Note", "id=\(number)", "title=t\(number)").code == 0) }
            return place
        }
    }

    private func count(_ place: Workplace, _ options: String...) throws -> Int? {
        try place.run(executable: Workplace.binary, ["find", "notes", "Note", "--count", "--json"] + options).json.first?["count"] as? Int
    }

    @Test func `a checkpoint is made once and counted, and later transactions are shown`() throws {
        let place = try made()
        let first = try #require(try place.run("checkpoint", "notes", "--json").json.first)
        #expect(first["transaction"] as? Int == 7 && (first["bytes"] as? Int ?? 0) > 65_536 && first["dropped"] as? Int == 0)
        let again = try #require(try place.run("checkpoint", "notes", "--json").json.first)
        #expect(again["transaction"] as? Int == 7 && again["bytes"] as? Int == 0)
        #expect(try place.run("delete", "notes", "Note/2").code == 0)
        #expect(try count(place) == 5 && count(place, "--at", "7") == 6 && count(place, "--at", "3") == 2)
        let statistics = try #require(try place.run("stats", "notes", "--json").json.first)
        #expect(statistics["checkpoints"] as? Int == 1 && statistics["transactions"] as? Int == 8)
        #expect(try place.run("verify", "notes", "--json").json.first?["ok"] as? Bool == true)
    }

    @Test func `the number of kept checkpoints can be set, and the setting stays`() throws {
        let place = try made()
        for number in 7...12 {
            #expect(try place.run("insert", "notes", "Note", "id=\(number)", "title=t").code == 0)
            #expect(try place.run("checkpoint", "notes").code == 0)
        }
        func count() throws -> Int? { try place.run("stats", "notes", "--json").json.first?["checkpoints"] as? Int }
        #expect(try count() == 6)
        #expect(try place.run("insert", "notes", "Note", "id=20", "title=t").code == 0)
        #expect(try place.run("checkpoint", "notes", "--keep", "4", "--json").json.first?["dropped"] as? Int == 3)
        #expect(try place.run("insert", "notes", "Note", "id=21", "title=t").code == 0)
        #expect(try place.run("checkpoint", "notes").code == 0 && count() == 4)
        #expect(try place.run("checkpoint", "notes", "--keep", "0").code == 64)
        #expect(try place.run("checkpoint", "notes", "--history-percent", "-1").code == 64)
        let statistics = try #require(try place.run("stats", "notes", "--json").json.first)
        #expect(statistics["checkpointsRead"] as? Int == 0)
    }

    @Test func `corrupt pages are never shown`() throws {
        let place = try made()
        #expect(try place.run("checkpoint", "notes").code == 0)
        let pages = try #require(
            FileManager.default.contentsOfDirectory(atPath: place.directory.appending(path: "notes").path).first { $0.hasPrefix("pages-") })
        var bytes = try Array(place.bytes(of: "notes/\(pages)"))
        for index in bytes.indices where index % 997 == 0 { bytes[index] ^= 0xFF }
        try Data(bytes).write(to: place.directory.appending(path: "notes/\(pages)"))
        #expect(try count(place) == 6)
        let verified = try place.run("verify", "notes", "--json")
        #expect(verified.code == 1)
        #expect(try verified.json.first?["ok"] as? Bool == false)
        #expect(try place.run("set", "notes", "Note/1", "title=new").code == 0 && count(place) == 6)
        #expect(try place.run("checkpoint", "notes").code == 0 && place.run("verify", "notes").code == 0)
    }

    @Test func `a label shows its moment`() throws {
        let place = try made()
        #expect(try place.run("label", "notes", "three", "4", "--json").json.first?["transaction"] as? Int == 4)
        #expect(try place.run("label", "notes", "now", "--json").json.first?["transaction"] as? Int == 8)
        #expect(try place.run("delete", "notes", "Note/1").code == 0)
        #expect(try count(place, "--at", "label:three") == 3 && count(place, "--at", "label:now") == 6 && count(place) == 5)
        #expect(try place.run("label", "notes", "three").code == 1 && place.run("label", "notes", "three", "--move").code == 0)
        #expect(try place.run("label", "notes", "--json").json.compactMap { $0["label"] as? String } == ["now", "three"])
        #expect(try place.run("show", "notes", "Note/1", "--at", "label:none").code == 66)
        #expect(try place.run("label", "notes", "later", "99").code == 66 && place.run("label", "notes", "").code == 65)
    }

    @Test func `a label is quoted if its spaces would not be visible`() throws {
        let place = try made()
        for name in [" ", "a b", "a ", "\"a\""] { #expect(try place.run("label", "notes", name, "4").code == 0) }
        let lines = try place.run("label", "notes").output.split(separator: "\n")
        #expect(lines == [#"4  " ""#, #"4  "\"a\"""#, #"4  "a ""#, "4  a b"])
        let changes = try place.run("diff", "notes", "7", "8").output
        #expect(changes.contains(#"The label " " is new, and names transaction 4."#), "\(changes)")
    }

    @Test func `a compaction and its dry run report the retired transactions`() throws {
        let place = try made()
        #expect(try place.run("checkpoint", "notes").code == 0)
        for number in 7...9 { #expect(try place.run("insert", "notes", "Note", "id=\(number)", "title=t").code == 0) }
        let planned = try #require(try place.run("compact", "notes", "--retain", "since:8", "--dry-run", "--json").json.first)
        #expect(planned["retired"] as? Int == 7 && planned["firstMoment"] as? Int == 7 && planned["dryRun"] as? Bool == true)
        #expect(planned["storedBytesFreed"] as? Int == 0 && planned["logBytesFreed"] as? Int ?? 0 > 0)
        #expect(try count(place, "--at", "3") == 2)
        let early = try #require(try place.run("compact", "notes", "--retain", "since:2001-01-01T00:00:00Z", "--json").json.first)
        #expect(early["retired"] as? Int == 0 && early["segments"] as? Int == 0 && early["firstMoment"] as? Int == 1)
        let root = try #require(try place.run("verify", "notes", "--json").json.first?["root"] as? String)
        let done = try #require(try place.run("compact", "notes", "--retain", "since:8", "--json").json.first)
        #expect(done["retired"] as? Int == 7 && done["segments"] as? Int == 1)
        #expect(try place.run("show", "notes", "Note/1", "--at", "3").code == 66)
        #expect(try count(place, "--at", "7") == 6 && count(place, "--at", "8") == 7 && count(place) == 9)
        #expect(try place.run("verify", "notes", "--against", root).code == 0)
        let entries = try place.run("log", "notes", "--ops", "--json").json
        #expect(entries.count == 10 && entries[0]["retired"] as? Bool == true && entries[0]["ops"] == nil && entries[8]["ops"] != nil)
        #expect(try place.run("compact", "notes", "--retain", "some").code == 64 && place.run("compact", "notes").code == 64)
    }

    @Test func `a compaction that retires nothing states the reason`() throws {
        let place = try made()
        #expect(try place.run("checkpoint", "notes").code == 0)
        func compact(_ retention: String) throws -> String {
            try place.run(executable: Workplace.binary, ["compact", "notes", "--dry-run", "--retain", retention]).output
        }
        #expect(try compact("since:3").contains("no checkpoint is as early as the given moment"))
        #expect(try compact("snapshots:9").contains("fewer than 9 checkpoints"))
        #expect(try !compact("all").contains("checkpoint is") && compact("all").contains("Every moment can still be shown"))
    }

    @Test func `a compaction that retires one small transaction reports the growth of the log`() throws {
        let place = try made()
        func compact(_ options: String...) throws -> String {
            #expect(try place.run("checkpoint", "notes").code == 0)
            return try place.run(executable: Workplace.binary, ["compact", "notes", "--retain", "snapshots:1"] + options).output
        }
        #expect(try compact().hasPrefix("Retired 1 segment of log, "))
        #expect(try place.run("delete", "notes", "Note/1").code == 0)
        #expect(try compact("--dry-run").hasPrefix("Would retire 1 segment of log, about "))
        #expect(try compact().hasPrefix("Retired 1 segment of log and dropped 1 checkpoint. The log grew by "))
    }

    @Test func `a dry run of a compaction needs no lock, and leaves the files of a store as they are`() throws {
        let place = try made()
        #expect(try place.run("checkpoint", "notes").code == 0)
        let log = "notes/log/00000000000000000001.log"
        let bytes = try place.bytes(of: log) + Data("incomplete".utf8)
        try bytes.write(to: place.directory.appending(path: log))
        let dryRun = ["compact", "notes", "--retain", "snapshots:1", "--archive", "kept", "--dry-run", "--json"]
        let planned = try place.run(executable: Workplace.binary, dryRun)
        let report = try planned.json.first
        #expect(report?["retired"] as? Int == 7 && report?["segmentsArchived"] as? Int == 1, "\(planned.errors)")
        #expect(try place.bytes(of: log) == bytes)
        let writer = try Store.open(at: place.directory.path + "/notes")
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1").code == 75)
        #expect(try place.run(executable: Workplace.binary, dryRun).json.first?["retired"] as? Int == 7)
        try writer.close()
        #expect(try place.run("compact", "nowhere", "--retain", "all", "--dry-run").code == 66)
        #expect(try place.run("compact", "notes", "--retain", "since:99", "--dry-run").code == 66)
    }

    @Test func `a backup is restored whole or to a moment`() throws {
        let place = try made()
        let backup = try #require(try place.run("backup", "notes", "copy", "--json").json.first)
        #expect(backup["transaction"] as? Int == 7)
        #expect(try place.run("delete", "notes", "Note/1").code == 0)
        #expect(try place.run("restore", "copy", "again").code == 0)
        let digests = try ["copy", "again"].map { try place.run("verify", $0, "--json").json.first?["root"] as? String }
        #expect(digests[0] != nil && digests[0] == digests[1])
        #expect(try place.run("restore", "notes", "past", "--at", "4").code == 0)
        #expect(try place.run("find", "past", "Note", "--count", "--json").json.first?["count"] as? Int == 3)
        #expect(try place.run("backup", "notes", "copy").code == 73 && place.run("backup", "nowhere", "x").code == 66)
        #expect(try place.run("restore", "notes", "other", "--at", "99").code == 66)
    }

    @Test func `the log of a store with an interrupted compaction is listed, and its requests are known`() throws {
        let place = try made()
        for number in 7...9 {
            #expect(try place.run("checkpoint", "notes").code == 0)
            #expect(try place.run("insert", "notes", "Note", "id=\(number)", "title=t", "--request", "r\(number)").code == 0)
        }
        #expect(try place.run("compact", "notes", "--retain", "since:8").code == 0)
        let segments = try FileManager.default.contentsOfDirectory(atPath: place.directory.appending(path: "notes/log").path).sorted()
        let paths = segments.prefix(2).map { "notes/log/" + $0 }
        let before = try paths.map { try place.bytes(of: $0) }
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1").code == 0)
        // The second segment was retired and merged with the first one.
        #expect(try segments.count == 3 && place.bytes(of: paths[0]) != before[0])
        for (path, bytes) in zip(paths, before) { try bytes.write(to: place.directory.appending(path: path)) }
        for options in [["--json"], ["--ops", "--json"], ["--object", "Note/8", "--json"]] {
            let outcome = try place.run(executable: Workplace.binary, ["log", "notes"] + options)
            #expect(try outcome.code == 0 && !outcome.json.isEmpty, "\(options): \(outcome.errors)")
        }
        let applied = try place.run("apply", "notes", "other")
        #expect(applied.code == 66 && applied.errors.contains("log/\(segments[0])") && applied.errors.contains("archive"))
        // The transaction is not retired, but no checkpoint leads to its moment.
        let again = try place.run("insert", "notes", "Note", "id=8", "title=t", "--request", "r8", "--json")
        #expect(again.code == 0, "\(again.errors)")
        #expect(try again.json.first?["transaction"] as? Int == 9 && again.json.first?["id"] as? String == "Note/8")
    }

    @Test func `a repeated clone writes no map if its moment is not available and a copy was deleted`() throws {
        let place = try made()
        let clone = ["clone", "notes", "Note/1", "--set", "id=8", "--request", "r8", "--map", "map.json"]
        for command in [["insert", "notes", "Note", "id=7"], clone, ["delete", "notes", "Note/8"]] {
            #expect(try place.run("checkpoint", "notes").code == 0)
            #expect(try place.run(executable: Workplace.binary, command).code == 0)
        }
        let map = try place.bytes(of: "map.json")
        // The files of the second compaction's input remain, as if it had been interrupted.
        #expect(try place.run("compact", "notes", "--retain", "since:8").code == 0)
        let segments = try FileManager.default.contentsOfDirectory(atPath: place.directory.appending(path: "notes/log").path).sorted()
        let paths = segments.prefix(2).map { "notes/log/" + $0 }
        let before = try paths.map { try place.bytes(of: $0) }
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1").code == 0)
        for (path, bytes) in zip(paths, before) { try bytes.write(to: place.directory.appending(path: path)) }
        let again = try place.run(executable: Workplace.binary, clone)
        #expect(again.code == 66 && again.errors.contains("a copy was deleted later"), "\(again.errors)")
        #expect(try place.bytes(of: "map.json") == map)
    }
}
