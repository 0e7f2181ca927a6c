import Foundation
import Testing

@Suite struct ArchiveCommandTests {
    /// Returns a store with a checkpoint of transaction 7 and three later transactions.
    private func made() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            for number in 1...6 { #expect(try place.run("insert", "notes", "Note", "id=\(number)", "title=t\(number)").code == 0) }
            #expect(try place.run("checkpoint", "notes").code == 0)
            for number in 7...9 { #expect(try place.run("insert", "notes", "Note", "id=\(number)", "title=t").code == 0) }
            return place
        }
    }

    private func count(_ place: Workplace, _ store: String, _ moment: String) throws -> Int? {
        try place.run("find", store, "Note", "--count", "--json", "--at", moment).json.first?["count"] as? Int
    }

    /// Returns the transactions that changed the first note, with their ops. Omits their sizes, which depend on the segments.
    private func changes(_ place: Workplace, _ store: String) throws -> String {
        try place.run("log", store, "--object", "Note/1", "--ops", "--json").output.replacing(/"bytes":\d+,/, with: "")
    }

    @Test func `a compacted store is not applied to a new one, and the error names the command that restores the changes`() throws {
        let place = try made()
        #expect(try place.run("compact", "notes", "--retain", "since:8", "--archive", "kept").code == 0)
        let refused = try place.run("apply", "notes", "mirror")
        #expect(refused.code == 66 && refused.errors.contains("'cambium restore' and '--archive'"), "\(refused.errors)")
        #expect(try place.run("restore", "notes", "whole", "--archive", "kept").code == 0)
        #expect(try place.run("apply", "whole", "mirror").code == 0)
    }

    @Test func `retired segments go into the archive, and a restore brings them back`() throws {
        let place = try made()
        let root = try #require(try place.run("verify", "notes", "--json").json.first?["root"] as? String)
        let shown = try changes(place, "notes")
        #expect(shown.contains(#""title":"t1""#) && !shown.contains("bytes"))
        let compact = ["compact", "notes", "--retain", "since:8", "--archive", "kept", "--json"]
        let planned = try #require(try place.run(executable: Workplace.binary, compact + ["--dry-run"]).json.first)
        #expect(!FileManager.default.fileExists(atPath: place.directory.appending(path: "kept").path))
        let done = try #require(try place.run(executable: Workplace.binary, compact).json.first)
        #expect(planned["segmentsArchived"] as? Int == 1 && done["segmentsArchived"] as? Int == 1)
        // The segment is split, so the size of its sealed part is not known in advance.
        for outcome in [planned, done] { #expect(outcome["bytesArchived"] as? Int ?? 0 > 0) }
        #expect((done["missing"] as? [Any])?.isEmpty == true && done["retired"] as? Int == 7 && done["segments"] as? Int == 1)
        #expect(try place.run("restore", "notes", "plain").code == 0 && place.run("show", "plain", "Note/1", "--at", "3").code == 66)
        #expect(try place.run("restore", "notes", "whole", "--archive", "kept", "--json").json.first?["transaction"] as? Int == 10)
        #expect(try place.run("verify", "whole", "--against", root).code == 0)
        #expect(try count(place, "whole", "3") == 2 && changes(place, "whole") == shown)
        #expect(try place.run("log", "whole", "--ops", "--json").json.count { $0["ops"] != nil && $0["retired"] == nil } == 10)
        #expect(try place.run("restore", "notes", "early", "--archive", "kept", "--at", "4").code == 0)
        #expect(try place.run("find", "early", "Note", "--count", "--json").json.first?["count"] as? Int == 3)
    }

    @Test func `the error for a retired moment names the archive`() throws {
        let place = try made()
        #expect(try place.run("compact", "notes", "--retain", "since:8", "--archive", "kept").output.contains("into kept."))
        let archived = try place.run("show", "notes", "Note/1", "--at", "3")
        #expect(archived.code == 66 && archived.errors.contains("'\(place.directory.path)/kept'") && archived.errors.contains("restore"))
        let log = try place.run("log", "notes", "--object", "Note/1")
        #expect(log.code == 0 && log.errors.contains("'\(place.directory.path)/kept'. Run 'cambium restore'"), "\(log.errors)")
        let other = try made()
        #expect(try other.run("compact", "notes", "--retain", "since:8").code == 0)
        let unarchived = try other.run("show", "notes", "Note/1", "--at", "3")
        #expect(unarchived.code == 66 && !unarchived.errors.contains("archive"))
        #expect(try other.run("compact", "notes", "--retain", "since:10", "--archive", "kept").output.contains("transactions 1 to 7"))
    }

    @Test func `restoring a moment of a compacted store states how to read it`() throws {
        let place = try made()
        #expect(try place.run("compact", "notes", "--retain", "since:8").code == 0)
        for moment in ["8", "10"] {
            let refused = try place.run("restore", "notes", "copy", "--at", moment)
            #expect(refused.code == 66 && refused.errors.contains("Copy the whole store (restore without --at), and read the moment"))
        }
        #expect(try place.run("restore", "notes", "copy").code == 0 && place.run("show", "copy", "Note/1", "--at", "8").code == 0)
    }

    @Test func `an archive is verified with its store`() throws {
        let place = try made()
        #expect(try place.run("compact", "notes", "--retain", "since:8", "--archive", "kept").code == 0)
        let root = try #require(try place.run("verify", "notes", "--json").json.first?["root"] as? String)
        #expect(try place.run("verify", "notes", "--archive", "kept", "--against", root).code == 0)
        let path = "kept/log/00000000000000000001.log"
        var bytes = try Array(place.bytes(of: path))
        bytes[150] ^= 1
        try FileManager.default.removeItem(at: place.directory.appending(path: path))
        try Data(bytes).write(to: place.directory.appending(path: path))
        let verified = try place.run("verify", "notes", "--archive", "kept", "--json")
        #expect(try verified.code == 1 && verified.json.first?["ok"] as? Bool == false && verified.output.contains("kept"))
        #expect(try place.run("restore", "notes", "whole", "--archive", "kept").code == 74)
        #expect(try place.run("verify", "notes").code == 0)
    }

    @Test func `a link or a directory in the place of the archive note stops no command`() throws {
        let place = try made()
        #expect(try place.run("compact", "notes", "--retain", "since:8", "--archive", "kept").code == 0)
        for isLink in [true, false] {
            try place.remove("notes/ARCHIVE")
            if isLink { try place.link("notes/ARCHIVE", to: "nowhere") } else { try place.makeDirectory("notes/ARCHIVE") }
            #expect(try place.run("show", "notes", "Note/1", "--at", "3").code == 66)
            #expect(try place.run("verify", "notes").code == 0)
            for command in [
                ["backup", "notes", "copy"], ["repair", "notes", "--to", "copy"], ["restore", "notes", "copy", "--archive", "kept"],
            ] {
                let outcome = try place.runWithoutWaiting(command)
                // Without the archive, a repair reports the retired changes.
                #expect(outcome.code == (command[0] == "repair" ? 1 : 0), "\(command): \(outcome.errors)")
                try place.remove("copy")
            }
        }
    }

    /// Returns all files except the output of commands and the lock file, in which a writer leaves its process number.
    private func files(_ place: Workplace) throws -> [String: Data] {
        try place.tree(".").filter { !$0.key.hasPrefix(".") && !$0.key.hasSuffix("LOCK") }
    }

    @Test func `a place where no archive can be made is refused with 73, and nothing is written`() throws {
        let place = try made()
        try place.write("mine", to: "file")
        try place.link("link", to: "nowhere")
        let before = try files(place)
        for target in ["file", "file/below", "link", "", "notes/log", "notes/log/archive", "notes/roots/archive"] {
            for options in [[], ["--dry-run"]] {
                let outcome = try place.runWithoutWaiting(["compact", "notes", "--retain", "since:8", "--archive", target] + options)
                #expect(outcome.code == 73, "'\(target)': \(outcome.errors)")
            }
        }
        #expect(try files(place) == before)
    }

    @Test func `a compaction that fails leaves no empty archive`() throws {
        let place = try made()
        try place.makeDirectory("empty")
        var bytes = try Array(place.bytes(of: "notes/log/00000000000000000001.log"))
        bytes[bytes.count / 2] ^= 1
        try Data(bytes).write(to: place.directory.appending(path: "notes/log/00000000000000000001.log"))
        for target in ["deep/kept", "empty"] {
            #expect(try place.run("compact", "notes", "--retain", "since:8", "--archive", target).code == 74)
        }
        #expect(!FileManager.default.fileExists(atPath: place.path("deep")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path("empty")).isEmpty)
    }

    @Test func `an archive of a compaction that retired nothing can be read`() throws {
        let place = try made()
        let done = try place.run("compact", "notes", "--retain", "since:2", "--archive", "kept")
        #expect(done.code == 0 && done.output.contains("Put 0 segments"))
        #expect(try place.run("verify", "notes", "--archive", "kept").code == 0)
        #expect(try place.run("restore", "notes", "whole", "--archive", "kept").code == 0 && count(place, "whole", "3") == 2)
        try place.makeDirectory("empty")
        #expect(try place.run("verify", "notes", "--archive", "empty").code == 66)
    }

    @Test func `a directory that is not an archive of the store is refused`() throws {
        let place = try made()
        #expect(try place.run("compact", "notes", "--retain", "since:8", "--archive", "notes").code == 73)
        #expect(try place.run("compact", "notes", "--retain", "since:8", "--archive", "notes/log").code == 73)
        #expect(try place.run("init", "other", "--schema", "schema.json").code == 0 && place.run("checkpoint", "other").code == 0)
        #expect(try place.run("insert", "other", "Note", "id=1").code == 0)
        #expect(try place.run("compact", "other", "--retain", "since:2", "--archive", "kept").code == 0)
        let refused = try place.run("compact", "notes", "--retain", "since:8", "--archive", "kept")
        #expect(refused.code == 1 && refused.errors.contains("another store"))
        #expect(try count(place, "notes", "3") == 2)
        #expect(try place.run("restore", "notes", "whole", "--archive", "kept").code == 1)
        #expect(try place.run("restore", "notes", "whole", "--archive", "nowhere").code == 66)
        #expect(!FileManager.default.fileExists(atPath: place.directory.appending(path: "whole").path))
    }
}
