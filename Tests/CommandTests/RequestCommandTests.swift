import Foundation
import Testing

/// Requests and moments on the command line.
@Suite struct RequestCommandTests {
    private func made() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            #expect(try place.run("insert", "notes", "Note", "id=1", "title=A").code == 0)
            return place
        }
    }

    @Test func `a repeated request is not applied, even if it changed nothing the first time`() throws {
        let place = try made()
        func set(_ title: String, _ options: String...) throws -> [String: Any]? {
            try place.run(executable: Workplace.binary, ["set", "notes", "Note/1", "title=\(title)", "--json"] + options).json.first
        }
        let first = try #require(try set("A", "--request", "q"))
        _ = try set("B")
        let again = try #require(try set("A", "--request", "q"))
        #expect(again["repeated"] as? Bool == true && again["id"] as? String == "Note/1")
        #expect(again["transaction"] as? Int == first["transaction"] as? Int && first["transaction"] as? Int == 3)
        #expect(try place.run("show", "notes", "Note/1", "--json").output.contains(#""title":"B""#))
        let entries = try place.run("log", "notes", "--json", "--ops").json
        #expect(entries.count == 4 && (entries[2]["ops"] as? [Any])?.isEmpty == true && entries[2]["request"] as? String == "q")
        #expect(try place.run("verify", "notes").code == 0)
    }

    @Test func `a deleted object is named by its own entity, also in a repetition`() throws {
        let place = try Workplace()
        try place.write(#"{"entities":{"Base":{},"Part":{"parent":"Base"}}}"#, to: "parts.json")
        #expect(try place.run("init", "parts", "--schema", "parts.json").code == 0)
        #expect(try place.run("insert", "parts", "Part").code == 0)
        func delete() throws -> [String: Any]? { try place.run("delete", "parts", "Base/1", "--request", "q", "--json").json.first }
        let (first, again) = (try delete(), try delete())
        #expect(first?["id"] as? String == "Part/1" && first?["transaction"] as? Int == 3)
        #expect(again?["id"] as? String == "Part/1" && again?["repeated"] as? Bool == true)
    }

    @Test func `a deletion names all objects that are deleted, also in a repetition`() throws {
        let place = try made()
        #expect(try place.run("insert", "notes", "Item").code == 0)
        func delete(_ options: String...) throws -> String {
            try place.run(executable: Workplace.binary, ["delete", "notes", "Note/1", "Item/1", "--request", "q"] + options).output
        }
        #expect(try delete("--json") == #"{"transaction":4,"id":"Note/1","ids":["Note/1","Item/1"]}"# + "\n")
        #expect(try delete("--json") == #"{"transaction":4,"id":"Note/1","ids":["Note/1","Item/1"],"repeated":true}"# + "\n")
        #expect(try delete().hasPrefix("Note/1, Item/1 in transaction 4: "))
    }

    @Test func `a deletion counts the objects that delete rules reach, also in a repetition`() throws {
        let place = try made()
        for _ in 1...3 { #expect(try place.run("insert", "notes", "Item", "note=Note/1").code == 0) }
        func delete(_ options: String...) throws -> String {
            try place.run(executable: Workplace.binary, ["delete", "notes", "Note/1", "Item/2", "--request", "q"] + options).output
        }
        #expect(try delete().hasPrefix("Note/1, Item/2 and 2 more objects in transaction 6, "))
        #expect(try delete().hasPrefix("Note/1, Item/2 and 2 more objects in transaction 6: "))
        let answer = #"{"transaction":6,"id":"Note/1","ids":["Note/1","Item/2"],"cascaded":2,"repeated":true}"# + "\n"
        #expect(try delete("--json") == answer)
    }

    @Test func `a deletion names an object once that is given twice, also in a repetition`() throws {
        let place = try made()
        func delete() throws -> String {
            try place.run("delete", "notes", "Note/1", "Note/1", "--request", "q", "--json").output
        }
        #expect(try delete() == #"{"transaction":3,"id":"Note/1"}"# + "\n")
        #expect(try delete() == #"{"transaction":3,"id":"Note/1","repeated":true}"# + "\n")
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1").code == 0)
        #expect(try delete() == #"{"transaction":3,"id":"Note/1","repeated":true,"retired":true}"# + "\n")
    }

    @Test func `a request id with other arguments is a conflict`() throws {
        let place = try made()
        #expect(try place.run("set", "notes", "Note/1", "title=B", "--request", "q").code == 0)
        let other = try place.run("set", "notes", "Note/1", "title=C", "--request", "q")
        #expect(other.code == 1 && other.errors.contains("Transaction 3") && other.errors.contains("changed nothing"), "\(other.errors)")
        #expect(try place.run("delete", "notes", "Note/1", "--request", "q").code == 1)
        // The actor, the message and the format of the output are not part of a request.
        #expect(try place.run("set", "notes", "Note/1", "title=B", "--request", "q", "--actor", "jane", "--json").code == 0)
        #expect(try place.run("find", "notes", "Note", "--count", "--json").output == "{\"count\":1}\n")
    }

    @Test func `an import is the same request if its files and options are the same`() throws {
        let place = try made()
        try place.write(#"{"id":1,"title":"A"}"#, to: "same.json")
        try place.write(#"{"id":1,"title":"B"}"#, to: "other.json")
        func importing(_ arguments: String...) throws -> Workplace.Outcome {
            try place.run(executable: Workplace.binary, ["import", "notes", "Note", "--json", "--request", "q"] + arguments, input: "")
        }
        let first = try #require(try importing("same.json").json.first)
        #expect(first["transaction"] as? Int == 3 && first["unchanged"] as? Int == 1)
        let log = try place.bytes(of: "notes/log/00000000000000000001.log")
        let byteCount = try #require(first["logBytes"] as? Int)
        let answer = #"{"transaction":3,"request":"q","logBytes":\#(byteCount),"repeated":true}"#
        #expect(try importing("same.json").output == answer + "\n")
        #expect(try importing("other.json").code == 1 && importing("same.json", "--missing", "clear").code == 1)
        #expect(try place.bytes(of: "notes/log/00000000000000000001.log") == log)
    }

    @Test func `a repeated import is answered after a migration has renamed its entity`() throws {
        let place = try made()
        try place.write(#"{"id":1,"title":"B"}"#, to: "rows.json")
        func importing() throws -> Workplace.Outcome {
            try place.run("import", "notes", "Note", "rows.json", "--scope", "id > 0", "--absent", "delete", "--request", "q", "--json")
        }
        #expect(try importing().code == 0)
        let renamed = Workplace.notes.replacing(#""Note""#, with: #""Page""#)
            .replacing(#""Page": {"#, with: #""Page": { "renamedFrom": "Note","#)
        try place.write(renamed, to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        let again = try importing()
        #expect(again.code == 0 && again.output.hasPrefix(#"{"transaction":3,"request":"q","#), "\(again.errors)")
    }

    @Test func `a repeated label is answered after a compaction has retired its moment`() throws {
        let place = try made()
        func label(_ moment: String) throws -> Workplace.Outcome {
            try place.run("label", "notes", "first", moment, "--request", "q", "--json")
        }
        #expect(try label("1").output == "{\"label\":\"first\",\"transaction\":1}\n")
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1").code == 0)
        #expect(try place.run("stats", "notes", "--at", "1").code == 66)
        let again = try label("1")
        #expect(again.code == 0 && again.output == "{\"label\":\"first\",\"transaction\":1,\"repeated\":true}\n", "\(again.errors)")
        #expect(try label("2").code == 1)
    }

    @Test func `a repeated import that only deletes objects names none of them`() throws {
        let place = try made()
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        try place.write(#"{"id":1}"#, to: "rows.json")
        func importing() throws -> [String: Any]? {
            try place.run("import", "notes", "Note", "rows.json", "--absent", "delete", "--request", "q", "--json").json.first
        }
        let (first, again) = (try importing(), try importing())
        #expect(first?["deleted"] as? Int == 1 && again?["transaction"] as? Int == 4)
        #expect(again?["id"] == nil && again?["request"] as? String == "q" && again?["repeated"] as? Bool == true)
    }

    @Test func `a dry run of an import checks its request, and does not record it`() throws {
        let place = try made()
        try place.write(#"{"id":2}"#, to: "rows.json")
        func importing(_ arguments: String...) throws -> Workplace.Outcome {
            try place.run(executable: Workplace.binary, ["import", "notes", "Note", "rows.json", "--json", "--request", "q"] + arguments)
        }
        let dry = try #require(try importing("--dry-run").json.first)
        #expect(dry["inserted"] as? Int == 1 && dry["transaction"] is NSNull)
        #expect(try importing().json.first?["transaction"] as? Int == 3)
        let repeated = try #require(try importing("--dry-run").json.first)
        #expect(repeated["transaction"] as? Int == 3 && repeated["repeated"] as? Bool == true)
        #expect(try importing("--dry-run", "--missing", "clear").code == 1)
        #expect(try importing("--dry-run", "--actor", String(repeating: "x", count: 1025)).code == 65)
    }

    @Test(arguments: [["clone", "notes", "Note/1", "--set", "id=2"], ["schema", "notes", "--set", "next.json"]])
    func `a preview checks its author and request, and does not record them`(command: [String]) throws {
        let place = try made()
        try place.write(#"{"entities":{"Note":{"attributes":{"id":{"type":"int64"}}}}}"#, to: "next.json")
        func run(_ arguments: String...) throws -> Workplace.Outcome {
            try place.run(executable: Workplace.binary, command + ["--json", "--actor", "jane", "--request", "q"] + arguments)
        }
        let preview = command[0] == "clone" ? "--plan" : "--dry-run"
        #expect(try run(preview).code == 0)
        #expect(try run().json.first?["transaction"] as? Int == 3)
        let repeated = try run(preview)
        #expect(try repeated.json.first?["transaction"] as? Int == 3 && repeated.json.first?["repeated"] as? Bool == true)
        let other = try place.run("clone", "notes", "Note/1", "--set", "id=7", "--plan", "--request", "q")
        #expect(other.code == 1 && other.errors.contains("Transaction 3 used the request id 'q' for other content"), "\(other.errors)")
        #expect(try run(preview, "--message", String(repeating: "x", count: 65_537)).code == 65)
        #expect(try place.run("log", "notes", "--json").json.count == 3)
    }

    @Test func `a repeated label request returns the first result`() throws {
        let place = try made()
        let first = try #require(try place.run("label", "notes", "here", "--request", "q", "--json").json.first)
        let again = try #require(try place.run("label", "notes", "here", "--request", "q", "--json").json.first)
        #expect(first["transaction"] as? Int == 2 && again["transaction"] as? Int == 2 && again["label"] as? String == "here")
        #expect(first["repeated"] == nil && again["repeated"] as? Bool == true)
        #expect(try place.run("label", "notes", "there", "2").output == "'there' names transaction 2.\n")
        #expect(try place.run("label", "notes", "here", "1", "--move").output == "'here' names transaction 1.\n")
        let text = try place.run("label", "notes", "here", "--request", "q").output
        #expect(text == "'here' named transaction 2: the request was applied earlier, and is not repeated.\n")
    }

    @Test func `a repeated request returns the id of its object after a compaction has retired the change`() throws {
        let place = try made()
        func insert(_ options: String...) throws -> String {
            try place.run(executable: Workplace.binary, ["insert", "notes", "Note", "id=2", "--request", "q"] + options).output
        }
        #expect(try insert("--json").contains(#""id":"Note/2""#))
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1").code == 0)
        #expect(try insert("--json") == #"{"transaction":3,"id":"Note/2","repeated":true,"retired":true}"# + "\n")
        let again = "Note/2 in transaction 3: the request was applied then, and is not repeated. Its changes were retired"
        #expect(try insert().hasPrefix(again))
    }

    @Test func `a repeated label request returns the first result, even if its transaction was retired`() throws {
        let place = try made()
        #expect(try place.run("label", "notes", "here", "--request", "q").code == 0)
        #expect(try place.run("set", "notes", "Note/1", "title=B").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "since:4").code == 0)
        #expect(try place.run("stats", "notes", "--at", "3").code == 66)
        let again = try place.run("label", "notes", "here", "--request", "q", "--json")
        let report = try again.json.first
        #expect(again.code == 0, "\(again.errors)")
        #expect(report?["transaction"] as? Int == 2 && report?["repeated"] as? Bool == true)
    }

    @Test func `a repeated request creates a store only once`() throws {
        let place = try made()
        func create(_ arguments: String...) throws -> Workplace.Outcome {
            try place.run(executable: Workplace.binary, ["init", "new", "--schema", "schema.json", "--json"] + arguments, input: "")
        }
        #expect(try create("--request", "q").output == "{\"store\":\"new\",\"entities\":3}\n")
        #expect(try create("--request", "q").output == "{\"store\":\"new\",\"entities\":3,\"repeated\":true}\n")
        #expect(try create().code == 73 && create("--request", "other").code == 73)
        try place.write(#"{"entities":{"Other":{}}}"#, to: "schema.json")
        #expect(try create("--request", "q").code == 73)
    }

    @Test(arguments: ["since:2999-01-01T00:00:00Z", "since:99", "since:label:none"])
    func `a moment that does not exist ends a compaction before it begins`(retain: String) throws {
        let place = try made()
        func files() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: place.directory.path + "/notes").sorted() }
        let before = try files()
        for options in [[], ["--dry-run"]] {
            let outcome = try place.run(executable: Workplace.binary, ["compact", "notes", "--retain", retain] + options, input: "")
            #expect(outcome.code == 66 && outcome.output.isEmpty && !outcome.errors.isEmpty)
        }
        #expect(try files() == before)
        #expect(try place.run("show", "notes", "Note/1", "--at", "2999-01-01T00:00:00Z").code == 0)
    }

    @Test func `a compaction reports the remaining envelopes and the earliest state`() throws {
        let place = try made()
        let printed = try place.run("compact", "notes", "--retain", "since:2").output
        #expect(printed.contains("Transactions 1 to 2 keep only their envelopes"), "\(printed)")
        #expect(printed.contains("The earliest state that can be shown is the one after transaction 2."), "\(printed)")
        let gone = try place.run("show", "notes", "Note/1", "--at", "1")
        #expect(gone.code == 66 && gone.errors.contains("the one after transaction 2"), "\(gone.errors)")
    }
}
