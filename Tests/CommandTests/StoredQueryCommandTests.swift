import Foundation
import Testing

/// Queries of the schema on the command line and in the prompt.
@Suite struct StoredQueryCommandTests {
    private let place: Workplace

    private static let queries =
        #""queries": {"from": {"where": "id >= $min", "sort": "-id", "limit": 2}, "#
        + #""namesakes": {"of": "Item", "where": "name == $source.title"}}, "#

    init() throws {
        place = try Workplace.withStore()
        try place.write(
            Workplace.notes.replacing(#""Note": { "identity""#, with: #""Note": { \#(Self.queries)"identity""#), to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").output.contains("Note  queries/from none -> {\"where\""))
        let rows = #"""
            {"id":1,"title":"a","items":[{"name":"x"}]}
            {"id":2,"title":"x"}
            {"id":3,"title":"b"}
            {"id":4,"title":"x"}
            """#
        #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
    }

    private func lines(_ arguments: String...) throws -> [String] {
        let outcome = try place.run(executable: Workplace.binary, ["find", "notes", "Note"] + arguments)
        #expect(outcome.code == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
    }

    private func failure(_ arguments: String...) throws -> String {
        let outcome = try place.run(executable: Workplace.binary, ["find", "notes", "Note"] + arguments)
        #expect(outcome.output.isEmpty)
        return "\(outcome.code) \(outcome.errors)"
    }

    @Test func `find runs a query of the schema with its parameters`() throws {
        #expect(try lines("--query", "from", "--set", "min=2") == ["Note/4", "Note/3"])
        #expect(try lines("--query", "from", "--set", "min=2", "--limit", "9", "--sort", "id") == ["Note/2", "Note/3", "Note/4"])
        #expect(try lines("--query", "from", "--set", "min=1", "--where", "title == $t", "--set", "t=x") == ["Note/4", "Note/2"])
        #expect(try lines("--query", "from", "--set", "min=1", "--count") == ["2"])
        #expect(try lines("--query", "from", "--set", "min=0", "--identity", "3") == ["Note/3"])
    }

    @Test func `functions and groups cover the answer of a query of the schema`() throws {
        #expect(try lines("--query", "from", "--set", "min=1", "--sum", "id", "--json") == [#"{"sum":{"id":7}}"#])
        let groups = ["--query", "from", "--set", "min=1", "--group-by", "title", "--having", "count >= $n", "--set", "n=1", "--json"]
        let outcome = try place.run(executable: Workplace.binary, ["find", "notes", "Note"] + groups)
        #expect(outcome.output == #"{"group":{"title":"b"},"count":1}"# + "\n" + #"{"group":{"title":"x"},"count":1}"# + "\n")
        #expect(try run("set min=1", "Note query from sum id").output.contains("     7\n1 row"))
    }

    @Test func `find runs a query of one object`() throws {
        #expect(try lines("--query", "namesakes", "--set", "source=Note/2") == ["Item/1"])
        #expect(try lines("--query", "namesakes", "--set", "source=Note/3") == [])
        #expect(try lines("--query", "namesakes", "--set", "source=Note/2", "--count") == ["1"])
        #expect(try lines("--query", "namesakes", "--set", "source=Note/2", "--where", "note.id == 1", "--include", "note") == ["Item/1"])
    }

    @Test func `a mistake names the query or the option`() throws {
        #expect(try failure("--query", "gone").contains("'Note' has no query 'gone'. It has: from, namesakes."))
        #expect(try failure("--query", "from").hasPrefix("65 cambium: --query:1:7: The parameter $min has no value."))
        let value = try failure("--query", "from", "--set", "min=x")
        #expect(value.hasPrefix("65 cambium: --query:1:7: ") && value.contains(#"not with "x" (the value of $min)."#), "\(value)")
        #expect(try failure("--query", "from", "--set", "min=1", "--where", "titel == 1").hasPrefix("65 cambium: --where:1:1: "))
        #expect(try failure("--query", "namesakes").contains("Pass an object as the parameter 'source', such as Note/1."))
        #expect(try failure("--query", "namesakes", "--set", "source=Note/99").hasPrefix("66 "))
        #expect(try failure("--query", "from", "--set", "min=1", "--set", "max=2").contains("has the parameter $max, but"))
    }

    private func run(_ lines: String..., code: Int32 = 0) throws -> (output: String, errors: String) {
        let outcome = try place.run("query", "notes", input: lines.joined(separator: "\n"))
        #expect(outcome.code == code, "\(outcome.errors)")
        return (outcome.output.replacing(/, [0-9.,]+ (µs|ms|s)\n/, with: "\n"), outcome.errors)
    }

    @Test func `the prompt runs queries of the schema`() throws {
        #expect(
            try run("set min=2", "Note query from select title").output == """
                _id     title
                Note/4  x
                Note/3  b
                2 rows

                """)
        #expect(try run("set min=2", "set t=x", "Note query from where title == $t count").output == "count\n    2\n1 row\n")
        #expect(
            try run("set source=Note/2", "Note query namesakes select name").output == """
                _id     name
                Item/1  x
                1 row

                """)
    }

    @Test func `a mistake in a line of the prompt is at the name of the query`() throws {
        #expect(try run("Note query from", code: 65).errors.contains("  Note query from\n             ^"))
        #expect(try run("Note query gone", code: 64).errors.contains("  Note query gone\n             ^"))
        #expect(try run("Note query", code: 65).errors.contains("the name of a query"))
        #expect(try run("set min=1", "Note query from where titel == 1", code: 65).errors.contains("^"))
    }

    @Test func `the schema shows its queries`() throws {
        let text = try place.run("schema", "notes").output
        #expect(text.contains("  from       query, where id >= $min, sort -id, limit 2\n"))
        #expect(text.contains("  namesakes  query of Item, where name == $source.title\n"))
        #expect(try place.run("schema", "notes", "--json").output.contains(#""namesakes":{"of":"Item","where":"name == $source.title"}"#))
    }

    @Test func `a shell completes the names of queries`() throws {
        let outcome = try place.run(
            executable: Workplace.binary,
            ["---completion", "find", "--", "--query", "5", "1", "cambium", "find", "notes", "Note", "--query", "n"])
        #expect(outcome.output.contains("namesakes"))
    }

    @Test func `a schema cannot rename an attribute that a query names`() throws {
        let text = try String(decoding: place.bytes(of: "next.json"), as: UTF8.self)
        try place.write(text.replacing(#""title": {"#, with: #""heading": {"renamedFrom": "title", "#), to: "renamed.json")
        let outcome = try place.run("schema", "notes", "--set", "renamed.json")
        #expect(outcome.code == 65)
        #expect(
            outcome.errors.contains(
                "/entities/Note/queries/namesakes/where: 1:9: 'Note' has no attribute or relationship 'title'. Its name is 'heading' now."))
    }
}
