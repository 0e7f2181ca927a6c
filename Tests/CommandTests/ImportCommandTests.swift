import Cambium
import Foundation
import Testing

@Suite struct ImportCommandTests {
    private static let mapping = """
        { "entity": "Note", "attributes": { "id": { "from": "key.no", "functions": ["integer"] }, "title": "name",
            "when": { "dates": ["dd.MM.yyyy", "secondsSince1970"], "zone": "+01:00" } } }
        """

    @Test func `rows are read by the mapping`() throws {
        let place = try Workplace.withStore()
        try place.write(Self.mapping, to: "mapping.json")
        let rows = #"{"key":{"no":"1"},"name":"a","when":"31.01.2026"}"# + "\n" + #"{"key.no":2,"when":0}"#
        let report = try #require(
            try place.run("import", "notes", "Note", "-", "--mapping", "mapping.json", "--json", input: rows).json.first)
        #expect(report["inserted"] as? Int == 2)
        let shown = try place.run("show", "notes", "Note/1", "--json").output
        #expect(shown.hasPrefix(#"{"_id":"Note/1","id":1,"title":"a","when":"2026-01-30T23:00:00Z""#))
        #expect(
            try place.run("import", "notes", "Note", "-", "--mapping", "mapping.json", "--json", input: rows).json.first?["unchanged"]
                as? Int == 2)
    }

    @Test(arguments: [
        (#"{"attributes":{"nope":"x"}}"#, "mapping.json at /attributes/nope: The mapping cannot be used: 'Note' has no attribute 'nope'."),
        (#"{"attributes":{"title":{"form":"x"}}}"#, "at /attributes/title/form"), ("{", "mapping.json:1:"),
        (#"{"entity":"Item"}"#, "at /entity"),
    ])
    func `a wrong mapping is bad input, reported with its place`(text: String, message: String) throws {
        let place = try Workplace.withStore()
        try place.write(text, to: "mapping.json")
        let outcome = try place.run("import", "notes", "Note", "-", "--mapping", "mapping.json", input: #"{"id":1}"#)
        #expect(outcome.code == 65 && outcome.errors.contains(message), "\(outcome.errors)")
        #expect(try place.run("find", "notes", "Note", "--count", "--json").output == "{\"count\":0}\n")
        #expect(try place.run("import", "notes", "Note", "-", "--mapping", "nowhere.json").code == 66)
    }

    @Test(arguments: [
        (#"{"_entity":"Lot","code":"a"}"#, "'grams' must have a value, because there is no 'Lot' with this identity; import its row first"),
        (#"{"_entity":"Lot","code":"a","note":"x"}"#, "at /holdings/0: Row 1: 'grams' must have a value. Nothing"),
        (#""a""#, "cannot create a stub (an object with only its identity); import its row first, as an object of 'Lot'"),
    ])
    func `a reference to an object that needs more than its identity states the remedy`(member: String, message: String) throws {
        let place = try Workplace()
        try place.write(
            """
            { "entities": {
                "Taxon": { "identity": ["id"], "attributes": { "id": { "type": "int64" } },
                    "relationships": { "holdings": { "to": "Holding", "many": true, "inverse": "taxon" } } },
                "Holding": { "abstract": true, "identity": ["code"],
                    "attributes": { "code": { "type": "string" }, "note": { "type": "string", "default": "" } },
                    "relationships": { "taxon": { "to": "Taxon", "inverse": "holdings" } } },
                "Lot": { "parent": "Holding", "attributes": { "grams": { "type": "int64" } } } } }
            """, to: "schema.json")
        #expect(try place.run("init", "plants", "--schema", "schema.json").code == 0)
        let outcome = try place.run("import", "plants", "Taxon", "-", input: #"{"id":1,"holdings":["# + member + "]}")
        #expect(outcome.code == 65 && outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func `a dry run needs no lock, and leaves the files of a store as they are`() throws {
        let place = try Workplace.withStore()
        let log = "notes/log/00000000000000000001.log"
        // A crash may leave incomplete bytes at the end of the log. The next writer cuts them off.
        let bytes = try place.bytes(of: log) + Data("incomplete".utf8)
        try bytes.write(to: place.directory.appending(path: log))
        func names() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: place.directory.path + "/notes").sorted() }
        let before = try names()
        let rows = #"{"id":1}"#
        let dry = try place.run("import", "notes", "Note", "-", "--dry-run", "--json", input: rows)
        #expect(try dry.json.first?["inserted"] as? Int == 1, "\(dry.errors)")
        #expect(try place.bytes(of: log) == bytes && names() == before)
        let writer = try Store.open(at: place.directory.path + "/notes")
        #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 75)
        #expect(try place.run("import", "notes", "Note", "-", "--dry-run", "--json", input: rows).output == dry.output)
        try writer.close()
    }

    @Test func `absent objects are deleted within a limit`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("import", "notes", "Note", "-", input: #"[{"id":1},{"id":2,"items":[{"name":"a"}]},{"id":3}]"#).code == 0)
        func sync(_ limit: String..., rows: String = #"[{"id":1},{"id":3}]"#) throws -> Workplace.Outcome {
            try place.run(
                executable: Workplace.binary, ["import", "notes", "Note", "-", "--absent", "delete", "--json"] + limit, input: rows)
        }
        let refused = try sync("--absent-max", "10%")
        #expect(refused.code == 65 && refused.errors.contains("1 of 3 objects of 'Note'"))
        #expect(try sync("--dry-run").json.first?["deleted"] as? Int == 1)
        #expect(try place.run("find", "notes", "Note", "--count", "--json").output == "{\"count\":3}\n")
        let report = try #require(try sync("--absent-max", "34%").json.first)
        #expect(report["deleted"] as? Int == 1 && report["unchanged"] as? Int == 2)
        #expect(((report["entities"] as? [String: Any])?["Item"] as? [String: Any])?["deleted"] as? Int == 1)
        #expect(try sync().json.first?["transaction"] is NSNull)
        #expect(try sync("--batch", "1").code == 64)
        #expect(try sync("--absent-max", "many").code == 64)
        #expect(try place.run("verify", "notes").code == 0)
    }

    @Test func `a report states that a skipped row keeps absent objects`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("import", "notes", "Note", "-", input: #"[{"id":1},{"id":2}]"#).code == 0)
        func sync(_ rows: String, _ more: String...) throws -> Workplace.Outcome {
            let arguments = ["import", "notes", "Note", "-", "--on-error", "skip"] + more
            return try place.run(executable: Workplace.binary, arguments, input: rows)
        }
        let note = "--absent deletes nothing, because a skipped row may describe an absent object"
        let skipped = try sync(#"[{"id":1},{"id":"x"}]"#, "--absent", "delete")
        #expect(skipped.code == 1 && skipped.output.contains(note), "\(skipped.output)")
        #expect(try sync(#"[{"id":1},{"id":"x"}]"#, "--absent", "delete", "--dry-run").output.contains(note))
        #expect(try !sync(#"[{"id":1},{"id":"x"}]"#).output.contains(note))
        let complete = try sync(#"{"id":1}"#, "--absent", "delete")
        #expect(complete.code == 0 && complete.output.contains("1 deleted") && !complete.output.contains(note), "\(complete.output)")
    }

    @Test func `only absent objects in the scope are deleted, and the limit relates to them`() throws {
        let place = try Workplace.withStore()
        let rows = (1...6).map { #"{"id":\#($0),"title":"\#($0 < 4 ? "a" : "b")"}"# }.joined(separator: "\n")
        #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
        func sync(_ scope: String, _ more: String..., rows: String = #"{"id":1}"#) throws -> Workplace.Outcome {
            let arguments = ["import", "notes", "Note", "-", "--absent", "delete", "--scope", scope, "--json"] + more
            return try place.run(executable: Workplace.binary, arguments, input: rows)
        }
        let refused = try sync("title == \"a\"")
        #expect(refused.code == 65 && refused.errors.contains("2 of 3 objects of 'Note' in the scope"), "\(refused.errors)")
        #expect(try sync("title == \"a\"", "--absent-max", "70%").json.first?["deleted"] as? Int == 2)
        let rest = try place.run("find", "notes", "Note", "--json").json.compactMap { $0["id"] as? Int }
        #expect(rest == [1, 4, 5, 6])
        // The row moves its object out of the scope, and the object stays because the row mentions it.
        #expect(try sync("title == \"a\"", rows: #"{"id":1,"title":"c"}"#).json.first?["deleted"] as? Int == 0)
        let wrong = try sync("title == 3")
        #expect(wrong.code == 65 && wrong.errors.hasPrefix("cambium: --scope:1:10: "), "\(wrong.errors)")
        #expect(try place.run("import", "notes", "Note", "-", "--scope", "id == 1", input: rows).code == 64)
        #expect(try place.run("verify", "notes").code == 0)
    }

    @Test func `the report states the number of bad rows, because standard error may be in another file`() throws {
        let place = try Workplace.withStore()
        let bad = (0..<150).map { #"{"id":"x\#($0)"}"# + "\n" }.joined()
        let many = try place.run("import", "notes", "Note", "-", "--on-error", "skip", input: "{\"id\":1}\n" + bad)
        #expect(many.code == 1 && many.output.hasPrefix("151 rows: 1 inserted; "), "\(many.output)")
        #expect(many.output.contains("\n  skipped 150 bad rows; standard error states the mistakes\n"), "\(many.output)")
        let one = try place.run("import", "notes", "Note", "-", "--on-error", "skip", input: "{\"id\":2}\n{\"id\":\"x\"}\n")
        #expect(one.output.contains("  skipped 1 bad row; "), "\(one.output)")
        let none = try place.run("import", "notes", "Note", "-", "--on-error", "skip", input: "{\"id\":3}\n")
        #expect(none.code == 0 && !none.output.contains("skipped"))
    }

    @Test func `a row of a pipe whose unique value is taken is left out`() throws {
        let place = try Workplace()
        let attributes = #"{"id":{"type":"int64"},"code":{"type":"string"}}"#
        let schema = #"{"entities":{"A":{"identity":["id"],"unique":[["code"]],"attributes":\#(attributes)}}}"#
        try place.write(schema, to: "a.json")
        #expect(try place.run("init", "as", "--schema", "a.json").code == 0)
        let rows = (1...2_000).map { #"{"id":\#($0),"code":"\#($0 % 1_990)"}"# }.joined(separator: "\n")
        try place.write(rows, to: "rows.json")
        func importing(_ command: String) throws -> Workplace.Outcome {
            try place.run(executable: URL(filePath: "/bin/sh"), ["-c", command, Workplace.binary.path])
        }
        let skipped = try importing("cat rows.json | \"$0\" import as A - --on-error skip --json")
        let report = try #require(try skipped.json.first)
        #expect(skipped.code == 1 && report["inserted"] as? Int == 1_990, "\(skipped.errors)")
        #expect((report["errors"] as? [[String: Any]])?.compactMap { $0["row"] as? Int } == Array(1_991...2_000))
        let full = try importing("cat rows.json | TMPDIR=nowhere \"$0\" import as A - --on-error skip")
        #expect(full.code == 74 && full.errors.contains("in 'nowhere'"), "\(full.errors)")
        #expect(try place.run("verify", "as").code == 0)
    }

    @Test func `keys beyond the limit that map to nothing are counted for people, too`() throws {
        let place = try Workplace.withStore()
        let keys = (1...10_003).map { "\"k\($0)\":0" }.joined(separator: ",")
        let outcome = try place.run("import", "notes", "Note", "-", input: "{\"id\":1,\(keys)}")
        #expect(outcome.code == 0 && outcome.output.hasSuffix("\n  other keys map to nothing (3 times)\n"), "\(outcome.errors)")
    }

    @Test func `stubs are listed and counted`() throws {
        let place = try Workplace.withStore()
        let schema = """
            {"entities":{"A":{"identity":["id"],"attributes":{"id":{"type":"int64"}},"relationships":{"next":{"to":"A"}}}}}
            """
        try place.write(schema, to: "a.json")
        #expect(try place.run("init", "as", "--schema", "a.json").code == 0)
        let none = try place.run("import", "as", "A", "-", input: "[]")
        #expect(none.output == "0 rows; nothing changed, and nothing was written\n")
        let one = try place.run("import", "as", "A", "-", input: #"{"id":1,"next":2}"#)
        #expect(one.code == 0 && one.output.hasPrefix("1 row: 1 inserted, 1 stub; transaction 2, "))
        #expect(one.output.hasSuffix("\n  1 new stub for references without an object; --references error refuses them\n"))
        #expect(!(try place.run("import", "as", "A", "-", input: #"{"id":1,"next":2}"#).output.contains("new stub")))
        #expect(try place.run("import", "as", "A", "-", input: #"{"id":3,"next":4}"#).code == 0)
        #expect(try place.run("find", "as", "A", "--stubs", "--json").json.compactMap { $0["id"] as? Int } == [2, 4])
        #expect(try place.run("find", "as", "A", "--stubs", "--count", "--json").output == "{\"count\":2}\n")
        #expect(try place.run("find", "as", "A", "--stubs", "--offset", "1", "--limit", "1", "--json").json.count == 1)
        #expect(try place.run("find", "as", "A", "--identity", "1", "--stubs", "--json").json.isEmpty)
    }
}
