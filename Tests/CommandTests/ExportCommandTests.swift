import Foundation
import Testing

@Suite struct ExportCommandTests {
    private static let mapping = """
        { "entity": "Note", "attributes": { "id": { "from": "key.no", "functions": ["integer"] }, "title": "name",
            "when": { "dates": ["dd.MM.yyyy", "secondsSince1970"], "zone": "+01:00" } },
          "nested": { "Item": { "attributes": { "name": "label" } } } }
        """

    private func place(_ text: String = mapping) throws -> Workplace {
        try Workplace.copy("\(text)") {
            let place = try Workplace.withStore()
            try place.write(text, to: "mapping.json")
            let second = #"{"id":2,"title":"b","when":"1970-01-01T00:00:07Z"}"#
            let rows = "[\(second),{\"id\":1,\"when\":\"2026-01-30T23:00:00Z\",\"items\":[{\"name\":\"x\"}]}]"
            #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
            return place
        }
    }

    @Test func `a mapping writes the rows that it reads`() throws {
        let place = try place()
        let rows = """
            {"key":{"no":"1"},"name":"","when":"31.01.2026","items":[{"label":"x"}]}
            {"key":{"no":"2"},"name":"b","when":7,"items":[]}

            """
        let exported = try place.run("export", "notes", "Note", "--mapping", "mapping.json", "--include", "items")
        #expect(exported.output == rows && exported.code == 0, "\(exported.errors)")
        let flat = try place.run("export", "notes", "--mapping", "mapping.json", "--key-paths", "flat", "--ids-only", "--format", "array")
        #expect(flat.output == "[{\"key.no\":\"1\"},\n{\"key.no\":\"2\"}]\n", "\(flat.errors)")
        #expect(try place.run("init", "copy", "--schema", "schema.json").code == 0)
        #expect(try place.run("import", "copy", "Note", "-", "--mapping", "mapping.json", "--unknown", "error", input: rows).code == 0)
        #expect(try place.run("export", "copy", "--mapping", "mapping.json", "--include", "items").output == rows)
    }

    @Test func `only objects that satisfy a condition are exported`() throws {
        let place = try place()
        func export(_ options: String...) throws -> Workplace.Outcome {
            try place.run(executable: Workplace.binary, ["export", "notes"] + options)
        }
        let condition = ["Note", "--where", "id > $least", "--set", "least=1"]
        for form in [["--references", "id"], ["--references", "identity"], ["--format", "array"], ["--mapping", "mapping.json"]] {
            let outcome = try place.run(executable: Workplace.binary, ["export", "notes"] + condition + form)
            #expect(outcome.output.contains(#""b""#) && !outcome.output.contains("2026"), "\(form): \(outcome.output)\(outcome.errors)")
        }
        let csv = try export("Note", "--where", "any items.name == \"x\"", "--format", "csv", "--references", "identity")
        #expect(csv.output.contains("\r\n1,") && !csv.output.contains("\r\n2,"), "\(csv.output)\(csv.errors)")
        // Without an entity, the condition selects among the entities that it fits.
        #expect(try export("--where", "name == \"x\"").json.compactMap { $0["_id"] as? String } == ["Item/1"])
        #expect(try export("Note", "--where", "id == 1", "--include", "items").output.contains(#""name":"x""#))
        let wrong = try export("Note", "--where", "nope == 1")
        #expect(wrong.code == 65 && wrong.output.isEmpty && wrong.errors.hasPrefix("cambium: --where:1:1: "), "\(wrong.errors)")
        #expect(try export("Note", "--set", "least=1").code == 64)
    }

    @Test func `a lookup distinguishes values by their bytes`() throws {
        let place = try Workplace.withStore()
        let rows = "{\"id\":1,\"title\":\"\u{E9}\"}\n{\"id\":2,\"title\":\"e\u{301}\"}\n"
        #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
        let lookup = #"{"attributes":{"when":null,"title":{"functions":[{"lookup":{"A":"\u00E9","B":"e\u0301"}}]}}}"#
        try place.write(lookup, to: "mapping.json")
        let exported = try place.run("export", "notes", "Note", "--mapping", "mapping.json", "--nulls", "omit")
        #expect(try exported.json.map { $0["title"] as? String } == ["A", "B"], "\(exported.errors)")
    }

    @Test func `an empty list of paths includes nothing`() throws {
        let place = try place()
        let plain = try place.run("export", "notes")
        #expect(try place.run("export", "notes", "--include", "").output == plain.output && plain.code == 0)
        #expect(try place.run("find", "notes", "Note", "--count", "--include", "", "--json").output == "{\"count\":2}\n")
        #expect(try place.run("export", "notes", "--include", ",items").code == 64)
    }

    @Test(arguments: [
        "--ids-only --include items", "--ids-only --depth 1", "--ids-only --nulls omit", "--ids-only --key-paths flat",
        "--ids-only --references id --nulls omit", "--format csv --nulls omit", "--format csv --key-paths flat",
        "--ids-only --mapping mapping.json --include items",
    ])
    func `an option that would have no effect is refused`(options: String) throws {
        let arguments = ["export", "notes", "Note"] + options.split(separator: " ").map(String.init)
        let outcome = try place().run(executable: Workplace.binary, arguments)
        #expect(outcome.code == 64 && outcome.output.isEmpty && outcome.errors.contains("Omit --"), "\(outcome.errors)")
    }

    @Test(arguments: [
        "--ids-only --references identity --nulls omit", "--format csv --include items --nulls omit",
        "--format csv --depth 1 --key-paths flat", "--ids-only --format csv",
    ])
    func `an option that may have an effect is accepted`(options: String) throws {
        let arguments = ["export", "notes", "Note"] + options.split(separator: " ").map(String.init)
        let outcome = try place().run(executable: Workplace.binary, arguments)
        #expect(outcome.code == 0 && !outcome.output.isEmpty, "\(outcome.errors)")
    }

    @Test func `a value that would be read differently is bad input, reported with its place`() throws {
        let place = try place(#"{"attributes":{"title":{"functions":["upper"]}}}"#)
        let refused = try place.run("export", "notes", "Note", "--mapping", "mapping.json")
        #expect(refused.code == 65 && refused.errors.contains("at /attributes/title"), "\(refused.errors)")
        #expect(refused.errors.contains(#"Note/1 cannot be written: 'title': "b" would be read as "B""#), "\(refused.errors)")
        let unnamed = try place.run("export", "notes", "--mapping", "mapping.json")
        #expect(unnamed.code == 64 && unnamed.errors.hasSuffix("Name the entity on the command line or in the mapping.\n"))
        #expect(try place.run("export", "notes", "Note", "--mapping", "mapping.json", "--format", "csv").code == 64)
        let ids = try place.run("export", "notes", "Note", "--mapping", "mapping.json", "--references", "id")
        #expect(ids.code == 64 && ids.output.isEmpty && ids.errors.contains("--references id"), "\(ids.errors)")
        #expect(try place.run("export", "notes", "Note", "--mapping", "nowhere.json").code == 66)
        try place.write(#"{"attributes":{"nope":"x"}}"#, to: "mapping.json")
        #expect(try place.run("export", "notes", "Note", "--mapping", "mapping.json").code == 65)
    }

    @Test(arguments: ["lines", "csv"]) func `a hierarchy is exported and imported without a mapping`(format: String) throws {
        let place = try Workplace()
        try place.write(
            """
            { "entities": {
                "Animal": {"identity": ["name"], "abstract": true, "attributes": {"name": {"type": "string"}}},
                "Dog": {"parent": "Animal", "attributes": {"breed": {"type": "string", "optional": true}}},
                "Cat": {"parent": "Animal", "attributes": {"lives": {"type": "int16", "default": 9}}} } }
            """, to: "schema.json")
        for store in ["zoo", "copy"] { #expect(try place.run("init", store, "--schema", "schema.json").code == 0) }
        #expect(try place.run("insert", "zoo", "Dog", "name=Rex", "breed=collie").code == 0)
        #expect(try place.run("insert", "zoo", "Cat", "name=Tom", "lives=7").code == 0)
        let rows = try place.run("export", "zoo", "Animal", "--references", "identity", "--format", format).output
        let read = format == "csv" ? "csv" : "json"
        let imported = try place.run("import", "copy", "Animal", "-", "--format", read, "--unknown", "error", "--json", input: rows)
        #expect(try imported.json.first?["inserted"] as? Int == 2, "\(imported.errors)")
        #expect(try place.run("export", "copy", "Animal", "--references", "identity", "--format", format).output == rows)
    }
}
