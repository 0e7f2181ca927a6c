import Foundation
import Testing

@Suite struct CommandTests {
    @Test func `a store is created, filled, linked, shown, changed and emptied`() throws {
        let place = try Workplace.withStore()
        let inserted = try place.run("insert", "notes", "Note", "id=1", "title=Paris", "--json", "--actor", "jane")
        #expect(try inserted.json.first?["id"] as? String == "Note/1")
        #expect(try place.run("insert", "notes", "Item", "name:=\"x\"").code == 0)
        for text in ["a", "b", "c"] { #expect(try place.run("insert", "notes", "Memo", "text=\(text)").code == 0) }
        #expect(try place.run("link", "notes", "Note/1", "items", "Item/1").code == 0)
        #expect(try place.run("link", "notes", "Note/1", "memos", "Memo/1", "Memo/2", "Memo/3").code == 0)
        #expect(try place.run("move", "notes", "Note/1", "memos", "Memo/3", "--to", "0").code == 0)
        #expect(try place.run("set", "notes", "Note/1", "title=Lyon", "when=2026-01-31T13:00:00+01:00").code == 0)
        let shown = try place.run("show", "notes", "Note/1", "--json").output
        let attributes = #"{"_id":"Note/1","id":1,"title":"Lyon","when":"2026-01-31T12:00:00Z","#
        #expect(shown == attributes + #""items":["Item/1"],"memos":["Memo/3","Memo/1","Memo/2"]}"# + "\n")
        #expect(try place.run("unlink", "notes", "Note/1", "memos", "Memo/1").code == 0)
        #expect(try place.run("show", "notes", "Note/1", "--json", "--at", "2").output.contains("Paris"))
        #expect(try place.run("delete", "notes", "Note/1").code == 0)
        #expect(try place.run("show", "notes", "Item/1").code == 66)
        #expect(try place.run("find", "notes", "Memo", "--count", "--json").json.first?["count"] as? Int == 3)
        #expect(try place.run("verify", "notes", "--json").json.first?["ok"] as? Bool == true)
    }

    @Test func `an object is inserted with its links`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        #expect(try place.run("insert", "notes", "Item", "name=x", "note=Note/1").code == 0)
        #expect(try place.run("insert", "notes", "Memo").code == 0)
        #expect(try place.run("insert", "notes", "Memo").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=2", "items=Item/1", "memos=Memo/2, Memo/1").code == 0)
        #expect(try place.run("show", "notes", "Note/2", "--json").output.contains(#""items":["Item/1"],"memos":["Memo/2","Memo/1"]"#))
        let nested = try place.run("show", "notes", "Note/2", "--json", "--include", "items , memos").output
        #expect(nested.contains(#""items":[{"_id":"Item/1","#) && nested.contains(#""memos":[{"_id":"Memo/2","#))
        let plan = try place.run("clone", "notes", "Note/2", "--set", "id=3", "--exclude", "items, memos", "--plan", "--json")
        #expect(try plan.json.first?["objects"] as? Int == 1, "\(plan.errors)")
        let refused: [(String, Int32)] = [("note=Note/1,Note/2", 65), ("note=Note/9", 66), ("note=", 66)]
        for (assignment, code) in refused {
            #expect(try place.run("insert", "notes", "Item", assignment).code == code, "\(assignment)")
        }
        #expect(try place.run("find", "notes", "Item", "--count", "--json").json.first?["count"] as? Int == 1)
    }

    @Test func `an object is inserted with links in JSON`() throws {
        let place = try Workplace.withStore()
        for assignment in ["note:=null", "name=x", "name=y"] { #expect(try place.run("insert", "notes", "Item", assignment).code == 0) }
        #expect(try place.run("insert", "notes", "Note", "id=1", #"items:=["Item/2",null,"Item/1"]"#, "memos:=null").code == 0)
        #expect(try place.run("show", "notes", "Note/1", "--json").output.contains(#""items":["Item/1","Item/2"],"memos":[]"#))
        #expect(try place.run("insert", "notes", "Item", #"note:="Note/1""#).code == 0)
        #expect(try place.run("show", "notes", "Item/4", "--json").output.contains(#""note":"Note/1""#))
        let refused: [(String, Int32)] = [(#"note:=["Note/1"]"#, 65), ("note:=5", 65), ("note:={", 65), (#"note:="Note/9""#, 66)]
        for (assignment, code) in refused {
            let outcome = try place.run("insert", "notes", "Item", assignment)
            #expect(outcome.code == code && !outcome.errors.isEmpty, "\(assignment)")
        }
        #expect(try place.run("find", "notes", "Item", "--count", "--json").json.first?["count"] as? Int == 4)
    }

    @Test func `a store that has lost its settings is reported as such, and can be repaired`() throws {
        let place = try Workplace.withStore()
        try place.remove("notes/store.json")
        let outcome = try place.run("find", "notes", "Note")
        #expect(outcome.code == 66 && outcome.errors.contains("no 'store.json'"), "\(outcome.errors)")
        #expect(try place.run("repair", "notes", "--to", "saved").code == 1)
        #expect(try place.run("find", "saved", "Note").code == 0)
    }

    @Test func `a memory budget that is not a number is refused before anything is done`() throws {
        let place = try Workplace.withStore()
        let env = URL(filePath: "/usr/bin/env")
        let insert = [Workplace.binary.path, "insert", "notes", "Note", "id=1"]
        let refused = try place.run(executable: env, ["CAMBIUM_MEMORY=lots"] + insert)
        #expect(refused.code == 65 && refused.errors.contains("CAMBIUM_MEMORY is 'lots'") && refused.output.isEmpty)
        #expect(try place.run("show", "notes", "Note/1").code == 66)
        #expect(try place.run(executable: env, ["CAMBIUM_MEMORY=64M"] + insert).code == 0)
    }

    @Test func `an import reports its changes, and writes nothing the second time`() throws {
        let place = try Workplace.withStore()
        try place.write("[{\"id\":1,\"items\":[{\"name\":\"a\"}]},{\"id\":2}]", to: "rows.json")
        let first = try #require(try place.run("import", "notes", "Note", "rows.json", "--json").json.first)
        #expect(first["inserted"] as? Int == 2 && first["transaction"] as? Int == 2)
        try place.write("{\"id\":2,\"title\":\"b\"}", to: "more.json")
        #expect(try place.run("import", "notes", "Note", "-", "more.json", input: "{\"id\":3}\n").code == 0)
        let before = try place.bytes(of: "notes/log/00000000000000000001.log")
        let again = try #require(try place.run("import", "notes", "Note", "more.json", "--json").json.first)
        #expect(again["unchanged"] as? Int == 1 && again["transaction"] is NSNull)
        #expect(try place.bytes(of: "notes/log/00000000000000000001.log") == before)
        let skipped = try place.run("import", "notes", "Note", "-", "--on-error", "skip", "--json", input: "{\"id\":4}\n{\"id\":\"x\"}\n")
        #expect(skipped.code == 1)
        #expect(try (skipped.json.first?["errors"] as? [Any])?.count == 1)
    }

    @Test func `an export has a stable order, and nests the requested objects`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("import", "notes", "Note", "-", input: "{\"id\":1,\"items\":[{\"name\":\"a\"}]}").code == 0)
        let export = try place.run("export", "notes")
        #expect(try export.json.compactMap { $0["_id"] as? String } == ["Note/1", "Item/1"])
        let nested = try place.run("export", "notes", "Note", "--include", "items").output
        #expect(nested.contains(#""items":[{"_id":"Item/1","name":"a","note":"Note/1"}]"#))
        #expect(try place.run("find", "notes", "Note", "--identity", "1", "--json").json.count == 1)
        let missing = try place.run("find", "notes", "Note", "--identity", "2", "--json")
        #expect(missing.code == 0 && missing.output.isEmpty)
    }

    @Test(arguments: [
        (["frobnicate"], 64), (["show", "notes"], 64), (["show", "notes", "Note/1", "--frob"], 64), (["find", "notes", "Nope"], 64),
        (["insert", "notes", "Note", "nope=1"], 64), (["insert", "notes", "Note", "novalue"], 64),
        (["insert", "notes", "Note", "id=x"], 65),
        (["insert", "notes", "Note", "id=1", "when=yesterday"], 65), (["insert", "notes", "Note", "title=x"], 1),
        (["insert", "notes", "Note", "id=1", "title=0123456789"], 1), (["show", "notes", "Note/77"], 66), (["show", "notes", "Note"], 66),
        (["show", "nowhere", "Note/1"], 66), (["show", "notes", "Note/1", "--at", "99"], 66),
        (["import", "notes", "Note", "missing.json"], 66),
        (["init", "notes", "--schema", "schema.json"], 73), (["init", "/proc/x", "--schema", "schema.json"], 73),
        (["init", "n2", "--schema", "bad.json"], 65),
        (["init", "n2", "--schema", "missing.json"], 66), (["init", "n2", "--schema", "model.xml"], 65), (["verify", "schema.json"], 66),
        (["link", "notes", "Note/1", "nope", "Item/1"], 66), (["import", "notes", "Note", "bad.json"], 65),
        (["verify", "notes", "--against", "zz"], 66),
    ])
    func `a command that fails reports the error with the exit code of its kind`(arguments: [String], code: Int) throws {
        let place = try Workplace.withStore()
        try place.write("{\"entities\":{\"A\":{\"attributes\":{\"x\":{\"type\":\"number\"}}}}}", to: "bad.json")
        try place.write("<model><entity name=\"A\"", to: "model.xml")
        let before = try place.bytes(of: "notes/log/00000000000000000001.log")
        let outcome = try place.run(executable: Workplace.binary, arguments)
        #expect(Int(outcome.code) == code, "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("cambium: ") && outcome.output.isEmpty)
        #expect(try place.bytes(of: "notes/log/00000000000000000001.log") == before)
        #expect(!FileManager.default.fileExists(atPath: place.directory.appending(path: "n2/store.json").path))
    }

    @Test func `verify reports corruption, and other commands refuse the store`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        let path = "notes/log/00000000000000000001.log"
        var bytes = try place.bytes(of: path)
        bytes[bytes.count - 20] ^= 4
        try bytes.write(to: place.directory.appending(path: path))
        let verified = try place.run("verify", "notes", "--json")
        #expect(verified.code == 1)
        #expect(try verified.json.first?["ok"] as? Bool == false)
        let text = try place.run("verify", "notes").output
        #expect(text.hasPrefix("CORRUPT: 1 transaction could be verified, \(bytes.count) bytes of log\n"), "\(text)")
        #expect(try place.run("show", "notes", "Note/1").code == 74)
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 74)
        #expect(try place.bytes(of: path) == bytes)
    }

    @Test func `the error about a corrupt header of the log states its remedy once`() throws {
        let place = try Workplace.withStore()
        let path = "notes/log/00000000000000000001.log"
        var bytes = try place.bytes(of: path)
        bytes[20] ^= 4
        try bytes.write(to: place.directory.appending(path: path))
        let outcome = try place.run("show", "notes", "Note/1")
        #expect(outcome.code == 74 && outcome.errors.contains("header"), "\(outcome.errors)")
        #expect(outcome.errors.components(separatedBy: "'cambium repair'").count == 2, "\(outcome.errors)")
    }

    @Test func `the log quotes the author of a transaction if it is an empty text`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1", "--actor", "", "--message", "begin").code == 0)
        #expect(try place.run("log", "notes").output.hasSuffix("  \"\"  begin\n"))
    }

    @Test func `the log shows a dash in place of the author of a transaction that has only a message`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1", "--message", "begin").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        let lines = try place.run("log", "notes").output.split(separator: "\n")
        #expect(lines[1].hasSuffix("  -  begin") && !lines[2].contains("  -"), "\(lines)")
        #expect(try place.run("log", "notes", "--json").json[1]["actor"] is NSNull)
    }

    @Test func `the log shows the author, the message and the ops of each transaction`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1", "--actor", "jane", "--message", "begin").code == 0)
        #expect(try place.run("insert", "notes", "Memo", "text=x", "--actor", "joe").code == 0)
        let entries = try place.run("log", "notes", "--json", "--ops").json
        #expect(entries.count == 3 && entries[1]["actor"] as? String == "jane" && entries[1]["message"] as? String == "begin")
        let op = try #require((entries[1]["ops"] as? [[String: Any]])?.first)
        #expect(op["op"] as? String == "insert" && op["object"] as? String == "Note/1")
        let lines = try place.run("log", "notes").output.split(separator: "\n")
        #expect(lines[1].dropFirst(44) == "  jane  begin" && lines[2].dropFirst(44) == "  joe", "\(lines)")
        #expect(try place.run("log", "notes", "--json", "--actor", "joe").json.count == 1)
        #expect(try place.run("log", "notes", "--json", "--entity", "Note").json.count == 1)
        #expect(try place.run("log", "notes", "--json", "--object", "Memo/1").json.count == 1)
        #expect(try place.run("log", "notes", "--json", "--from", "2", "--to", "2").json.count == 1)
    }

    @Test func `a repeated request returns the first result and changes nothing`() throws {
        let place = try Workplace.withStore()
        let first = try #require(try place.run("insert", "notes", "Note", "id=1", "--request", "r1", "--json").json.first)
        let again = try #require(try place.run("insert", "notes", "Note", "id=1", "--request", "r1", "--json").json.first)
        #expect(first["repeated"] == nil && again["repeated"] as? Bool == true)
        #expect(again["transaction"] as? Int == first["transaction"] as? Int && again["id"] as? String == first["id"] as? String)
        try place.write("[{\"id\":5}]", to: "notes.json")
        #expect(try place.run("import", "notes", "Note", "notes.json", "--request", "r2").code == 0)
        let repeated = try place.run("import", "notes", "Note", "notes.json", "--request", "r2", "--json")
        #expect(try repeated.code == 0 && repeated.json.first?["repeated"] as? Bool == true)
        #expect(try place.run("find", "notes", "Note", "--count").output.hasPrefix("2"))
        #expect(try place.run("import", "notes", "Note", "notes.json", "--request", "r3", "--batch", "1").code == 64)
    }

    @Test func `a corrupt store is repaired into a new one, and is not changed`() throws {
        let place = try Workplace.withStore()
        for number in 1...5 { #expect(try place.run("insert", "notes", "Note", "id=\(number)").code == 0) }
        let name = "notes/log/00000000000000000001.log"
        var bytes = try place.bytes(of: name)
        bytes[bytes.count - 20] ^= 1
        try bytes.write(to: place.directory.appending(path: name))
        #expect(try place.run("show", "notes", "Note/1").code == 74)
        let outcome = try place.run("repair", "notes", "--to", "saved", "--json")
        let report = try #require(try outcome.json.first)
        #expect(outcome.code == 1 && report["transactions"] as? Int == 5 && report["objects"] as? Int == 4)
        // The findings are the corruption and the transaction that is missing because of it.
        #expect((report["findings"] as? [String])?.count == 2 && (report["missing"] as? [Any])?.count == 1)
        #expect(try place.bytes(of: name) == bytes)
        let verified = try #require(try place.run("verify", "notes", "--json").json.first)
        #expect(verified["firstCorrupt"] as? Int == 6 && verified["firstCorruptThrough"] as? Int == 6)
        #expect(try place.run("verify", "notes").output.contains("transaction 6 is the first corrupt or missing one"))
        #expect(try place.run("verify", "saved").code == 0)
        #expect(try place.run("repair", "notes", "--to", "saved").code == 73)
        #expect(try place.run("repair", "nowhere", "--to", "other").code == 66)
    }
}
