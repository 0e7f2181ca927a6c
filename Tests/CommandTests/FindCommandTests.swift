import Foundation
import Testing

/// The options of `cambium find` for queries.
@Suite struct FindCommandTests {
    /// Returns a store with four notes, with one to three items, or none.
    private func workplace() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            let rows = """
                {"id":1,"title":"alpha","items":[{"name":"x"},{"name":"y"}]}
                {"id":2,"title":"Beta","items":[{"name":"x"}]}
                {"id":3,"title":"gamma","items":[{"name":"z"},{"name":"z"},{"name":"z"}]}
                {"id":4}
                """
            #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
            return place
        }
    }

    private func ids(_ place: Workplace, _ arguments: String...) throws -> [String] {
        try place.run(executable: Workplace.binary, ["find", "notes", "Note"] + arguments + ["--json"]).json.map {
            $0["_id"] as? String ?? "?"
        }
    }

    private func lines(_ place: Workplace, _ entity: String, _ arguments: String...) throws -> [Substring] {
        try place.run(executable: Workplace.binary, ["find", "notes", entity] + arguments + ["--json"]).output.split(separator: "\n")
    }

    @Test func `a condition selects objects`() throws {
        let place = try workplace()
        #expect(try ids(place, "--where", "title contains[c] \"A\" and id < 3") == ["Note/1", "Note/2"])
        #expect(try ids(place, "--where", "any items.name == \"x\"") == ["Note/1", "Note/2"])
        #expect(try ids(place, "--where", "title == \"\"") == ["Note/4"])
    }

    @Test func `a condition and an identity may begin with a minus sign`() throws {
        let place = try workplace()
        #expect(try place.run("insert", "notes", "Note", "id=-5").code == 0)
        #expect(try ids(place, "--identity", "-5") == ["Note/5"])
        #expect(try ids(place, "--where", "-5 == id") == ["Note/5"])
        #expect(try lines(place, "Note", "--count", "--having", "-1 < count") == [#"{"count":5}"#])
        #expect(try place.run("diff", "notes", "2", "--where", "-5 == id", "--json").json.count == 1)
        #expect(try place.run("find", "notes", "Note", "--where", "--json").code == 65)
    }

    @Test func `parameters take texts and JSON`() throws {
        let place = try workplace()
        #expect(try ids(place, "--where", "id == $id", "--set", "id=2") == ["Note/2"])
        #expect(try ids(place, "--where", "title in $titles", "--set", "titles:=[\"alpha\",\"gamma\"]") == ["Note/1", "Note/3"])
        #expect(try place.run("find", "notes", "Note", "--where", "id == $id").code == 65)
        #expect(try place.run("find", "notes", "Note", "--where", "id == 1", "--set", "id=2").code == 65)
        let alone = try place.run("find", "notes", "Note", "--set", "id=2")
        #expect(alone.code == 64 && alone.output.isEmpty && alone.errors.contains("there is no condition"), "\(alone.errors)")
        #expect(try place.run("find", "notes", "Note", "--count", "--having", "count > $n", "--set", "n=1").code == 0)
        for options in [["--having", "count > 1"], ["--where", "id > 0"], ["--where", "id > 0", "--having", "count > 1"]] {
            let command = ["find", "notes", "Note", "--count", "--set", "zz=1"] + options
            let unused = try place.run(executable: Workplace.binary, command)
            #expect(unused.code == 65 && unused.errors.contains("No condition of the query has the parameter $zz"), "\(unused.errors)")
        }
    }

    @Test func `a parameter takes the same numbers as text and as JSON`() throws {
        let place = try workplace()
        for value in ["m=1e999", "m:=1e999"] {
            #expect(try ids(place, "--where", "id < $m", "--set", value).count == 4)
            #expect(try lines(place, "Note", "--sum", "id", "--having", "sum.id < $m", "--set", value) == [#"{"sum":{"id":10}}"#])
        }
        for value in ["m=0x10", "m=5.", "m=+5"] {
            let refused = try place.run("find", "notes", "Note", "--where", "items.@avg.note.id < $m", "--set", value)
            #expect(refused.code == 65 && refused.errors.contains("Expected a number"), "\(refused.errors)")
        }
    }

    @Test func `a day means its beginning in UTC`() throws {
        let place = try workplace()
        for (id, when) in [("Note/1", "2026-03-31T23:59:59Z"), ("Note/2", "2026-04-01"), ("Note/3", "2026-04-01T00:00:01Z")] {
            #expect(try place.run("set", "notes", id, "when=\(when)").code == 0)
        }
        #expect(try place.run("show", "notes", "Note/2").output.contains("2026-04-01T00:00:00Z"))
        #expect(try ids(place, "--where", "when == \"2026-04-01\"") == ["Note/2"])
        #expect(try ids(place, "--where", "when >= $t", "--set", "t=2026-04-01") == ["Note/2", "Note/3"])
        #expect(try ids(place, "--where", "when in $t", "--set", "t:=[\"2026-04-01\"]") == ["Note/2"])
        let latest = try lines(place, "Note", "--max", "when", "--having", "max.when > \"2026-04-01\"")
        #expect(latest == [#"{"max":{"when":"2026-04-01T00:00:01Z"}}"#])
        #expect(try place.run("find", "notes", "Note", "--where", "when > \"2026-02-29\"").code == 65)
    }

    @Test func `the key of a row is the name of a property, without the mark of a name that is a word`() throws {
        let place = try Workplace()
        try place.write(
            #"{"entities":{"A":{"attributes":{"no":{"type":"int64"},"in":{"type":"string","optional":true}}}}}"#, to: "words.json")
        #expect(try place.run("init", "notes", "--schema", "words.json").code == 0)
        #expect(try place.run("insert", "notes", "A", "no=5").code == 0)
        #expect(try lines(place, "A", "--select", "#no,#in") == [#"{"_id":"A/1","no":5,"in":null}"#])
        #expect(try lines(place, "A", "--group-by", "#in", "--sum", "#no") == [#"{"group":{"in":null},"sum":{"no":5}}"#])
        #expect(try place.run("query", "notes", input: "A group by #in sum #no\n").output.hasPrefix("in  sum.no\n"))
    }

    @Test func `the object and an attribute with the name self have different keys`() throws {
        let place = try Workplace()
        try place.write(#"{"entities":{"A":{"attributes":{"self":{"type":"int64"}}}}}"#, to: "self.json")
        #expect(try place.run("init", "notes", "--schema", "self.json").code == 0)
        #expect(try place.run("insert", "notes", "A", "self=7").code == 0)
        #expect(try lines(place, "A", "--select", "#self") == [#"{"_id":"A/1","self":7}"#])
        #expect(try lines(place, "A", "--select", "self,#self,self") == [##"{"_id":"A/1","self":"A/1","#self":7}"##])
        let groups = try lines(place, "A", "--group-by", "self,#self", "--count-distinct", "self", "--count-distinct", "#self")
        #expect(groups == [##"{"group":{"self":"A/1","#self":7},"countDistinct":{"self":1,"#self":1}}"##])
    }

    @Test func `keys sort, and pages follow an object`() throws {
        let place = try workplace()
        #expect(try ids(place, "--sort", "-items.@count,title") == ["Note/3", "Note/1", "Note/2", "Note/4"])
        #expect(try ids(place, "--sort", "-items.@count", "--sort", "title") == ["Note/3", "Note/1", "Note/2", "Note/4"])
        #expect(try ids(place, "--sort", "title nulls last", "--limit", "2") == ["Note/4", "Note/2"])
        #expect(try ids(place, "--sort", "title nulls last", "--after", "Note/1") == ["Note/3"])
        #expect(try ids(place, "--sort", "-id", "--offset", "1", "--limit", "2") == ["Note/3", "Note/2"])
        let mistaken = try place.run("find", "notes", "Note", "--sort", "title", "--after", "Item/6")
        #expect(mistaken.code == 65 && mistaken.errors.contains("Item/6 is not an object of 'Note'"))
    }

    @Test(arguments: [
        ("id == $x", "x:=[1]", "The value of $x is a list"), ("$x < id", "x:=[1,2]", "The value of $x is a list"),
        ("any items.name contains $x", "x:=[\"x\"]", "The value of $x is a list"),
        ("id between $x", "x:=[1,2,3]", "is not a list of two bounds"), ("id between $x", "x=1", "is not a list of two bounds"),
    ])
    func `a parameter cannot be a list where one value stands`(condition: String, value: String, message: String) throws {
        let outcome = try workplace().run("find", "notes", "Note", "--where", condition, "--set", value)
        #expect(outcome.code == 65)
        #expect(outcome.errors.contains(message))
    }

    @Test(arguments: [["--select", "id"], ["--count"]]) func `values and aggregates cannot be nested`(others: [String]) throws {
        let outcome = try workplace().run(executable: Workplace.binary, ["find", "notes", "Note", "--include", "items"] + others)
        #expect(outcome.code == 64)
        #expect(outcome.errors.contains("--include and --depth nest whole objects"))
    }

    @Test func `a key stands once in a row`() throws {
        let place = try workplace()
        #expect(try lines(place, "Note", "--select", "id,_id,id", "--limit", "1") == [#"{"_id":"Note/1","id":1}"#])
        #expect(try lines(place, "Note", "--sum", "id,id", "--where", "id < 3") == [#"{"sum":{"id":3}}"#])
        #expect(try lines(place, "Note", "--group-by", "id,id", "--limit", "1") == [#"{"group":{"id":1},"count":1}"#])
    }

    @Test func `pages follow a cursor whose object was changed or deleted`() throws {
        let place = try workplace()
        func page(_ after: [String]) throws -> [[String: Any]] {
            let arguments = ["find", "notes", "Note", "--sort", "-id", "--limit", "2", "--cursor", "--json"] + after
            return try place.run(executable: Workplace.binary, arguments).json
        }
        let first = try page([])
        #expect(first.prefix(2).compactMap { $0["id"] as? Int } == [4, 3] && first.count == 3)
        let cursor = try #require(first.last?["_cursor"] as? String)
        #expect(try place.run("delete", "notes", "Note/3").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=9").code == 0)
        #expect(try page(["--after", cursor]).prefix(2).compactMap { $0["id"] as? Int } == [2, 1])
        #expect(try page(["--after", "Note/1"]).first?["_cursor"] is NSNull)
        let missing = try place.run("find", "notes", "Note", "--after", "Note/3")
        #expect(missing.code == 66 && missing.errors.contains("--cursor"), "\(missing.errors)")
        #expect(try place.run("find", "notes", "Note", "--sort", "id", "--after", cursor).code == 65)
        #expect(try place.run("find", "notes", "Note", "--count", "--cursor").code == 64)
        for other in [["--select", "id"], ["--explain"]] {
            let refused = try place.run(executable: Workplace.binary, ["find", "notes", "Note", "--cursor"] + other)
            #expect(refused.code == 64 && refused.errors.contains("Remove \(other[0]), or remove --cursor."))
        }
    }

    @Test func `a cursor that no argument can contain is refused`() throws {
        let place = try Workplace.withStore()
        let long = String(repeating: "a", count: 66_000)
        #expect(try place.run("import", "notes", "Memo", "-", input: #"{"text":"\#(long)"} {"text":"b"}"#).code == 0)
        let refused = try place.run("find", "notes", "Memo", "--sort", "text", "--limit", "1", "--cursor")
        #expect(refused.code == 65 && refused.output.isEmpty && refused.errors.contains("--after Memo/1"), "\(refused.errors)")
        #expect(try place.run("find", "notes", "Memo", "--sort", "text", "--after", "Memo/1", "--cursor").code == 0)
    }

    @Test func `selected values and groups with control characters are JSON`() throws {
        let place = try Workplace.withStore()
        let text = "a\u{200F}b\u{2028}\u{7F}\u{85}"
        #expect(try place.run("insert", "notes", "Memo", "text=\(text)").code == 0)
        #expect(try place.run("find", "notes", "Memo", "--select", "text", "--json").json.first?["text"] as? String == text)
        let groups = try place.run("find", "notes", "Memo", "--group-by", "text", "--json").json
        #expect((groups.first?["group"] as? [String: Any])?["text"] as? String == text)
    }

    @Test func `objects with the deepest JSON are shown`() throws {
        let place = try Workplace()
        try place.write(#"{"entities":{"Doc":{"attributes":{"data":{"type":"json"}}}}}"#, to: "schema.json")
        #expect(try place.run("init", "docs", "--schema", "schema.json").code == 0)
        let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try place.run("insert", "docs", "Doc", "data:=\(deep)").code == 0)
        for arguments in [["find", "docs", "Doc"], ["show", "docs", "Doc/1"]] {
            let outcome = try place.run(executable: Workplace.binary, arguments)
            #expect(outcome.code == 0 && outcome.output.contains("Doc/1") && outcome.output.contains("[[[["), "\(outcome.errors)")
        }
        #expect(try place.run("query", "docs", input: "show Doc/1").output.contains(deep))
    }

    @Test func `selected values are rows, and equal rows are listed once on request`() throws {
        let place = try workplace()
        #expect(
            try lines(place, "Note", "--select", "title,items.name", "--where", "id < 3") == [
                #"{"_id":"Note/1","title":"alpha","items.name":["x","y"]}"#, #"{"_id":"Note/2","title":"Beta","items.name":["x"]}"#,
            ])
        #expect(try lines(place, "Item", "--select", "name", "--distinct") == [#"{"name":"x"}"#, #"{"name":"y"}"#, #"{"name":"z"}"#])
    }

    @Test func `aggregates have a row for each group`() throws {
        let place = try workplace()
        #expect(try lines(place, "Note", "--count", "--where", "id > 1") == [#"{"count":3}"#])
        #expect(
            try lines(place, "Note", "--sum", "id", "--avg", "id", "--count-distinct", "title") == [
                #"{"sum":{"id":10},"avg":{"id":2.5},"countDistinct":{"title":4}}"#
            ])
        #expect(
            try lines(place, "Item", "--group-by", "note", "--count", "--max", "name", "--having", "count > 1") == [
                #"{"group":{"note":"Note/1"},"count":2,"max":{"name":"y"}}"#, #"{"group":{"note":"Note/3"},"count":3,"max":{"name":"z"}}"#,
            ])
        #expect(
            try lines(place, "Item", "--group-by", "name", "--sort", "-count", "--limit", "1") == [#"{"group":{"name":"z"},"count":3}"#])
    }

    @Test func `a line names a function as sort keys and conditions do`() throws {
        let place = try workplace()
        let groups = ["find", "notes", "Note", "--sum", "id", "--group-by", "title", "--sort", "sum.id", "--having", "sum.id > 3"]
        #expect(try place.run(executable: Workplace.binary, groups).output == "title: \"\"  sum.id: 4\n")
    }

    @Test func `a plan states its steps and the objects that they read`() throws {
        let place = try workplace()
        let plan = try place.run("find", "notes", "Note", "--where", "_id == Note/2", "--explain", "--json").output
        #expect(plan.hasPrefix(#"{"plan":[{"step":"identity","estimated":1,"rows":1,"read":1}],"microseconds":"#))
        let text = try place.run("find", "notes", "Note", "--where", "title endswith \"a\"", "--explain").output
        #expect(text.hasPrefix("scan      Note: 3 objects, 4 expected, 4 read\n"))
        let groups = try place.run("find", "notes", "Note", "--group-by", "id", "--sort", "-count", "--limit", "1", "--explain").output
        #expect(groups.contains("\nsort      -count: 4 rows, 4 read\nlimit     1 row, 4 read\n"), "\(groups)")
        let having = ["find", "notes", "Note", "--group-by", "id", "--having", "id > 1", "--explain"]
        let chosen = try place.run(executable: Workplace.binary, having).output
        #expect(chosen.contains("\nlimit     having id > 1: 3 rows, 4 read\n"), "\(chosen)")
        let json = try place.run(executable: Workplace.binary, having + ["--json"]).output
        #expect(json.contains(#",{"step":"limit","name":"having id > 1","rows":3,"read":4}],"microseconds":"#), "\(json)")
    }

    @Test func `a mistake in a condition is reported with its position`() throws {
        let place = try workplace()
        let syntax = try place.run("find", "notes", "Note", "--where", "title = = 3")
        #expect(syntax.code == 65)
        #expect(syntax.errors.hasPrefix("cambium: --where:1:9: "))
        let name = try place.run("find", "notes", "Note", "--where", "id > 3 and\n ttile == \"a\"")
        #expect(name.code == 65)
        #expect(name.errors.hasPrefix("cambium: --where:2:2: 'Note' has no attribute or relationship 'ttile'."))
        let path = try place.run("find", "notes", "Note", "--where", "id > 3 and any itmes where (name == \"x\")")
        #expect(path.code == 65)
        #expect(path.errors.hasPrefix("cambium: --where:1:16: 'Note' has no attribute or relationship 'itmes'."))
    }

    @Test func `a mistake in a condition on groups is reported with its position`() throws {
        let place = try workplace()
        let groups = ["find", "notes", "Note", "--where", "id > 0", "--group-by", "title", "--count", "--having"]
        let name = try place.run(executable: Workplace.binary, groups + ["title == \"alpha\" and coun > 1"])
        #expect(name.code == 65)
        #expect(name.errors.hasPrefix("cambium: --having:1:22: 'coun' is neither a key of the groups nor a function"), "\(name.errors)")
        let value = try place.run(executable: Workplace.binary, groups + ["count > 0 and\ncount > \"x\""])
        #expect(value.code == 65 && value.errors.hasPrefix("cambium: --having:2:9: "), "\(value.errors)")
    }

    @Test func `a mistake in another option is reported with its position`() throws {
        let place = try workplace()
        let mistakes: [([String], String)] = [
            (["--sort", "id,-titel"], "--sort:1:5: 'Note' has no attribute"), (["--sort", "id[c]"], "--sort:1:1: 'id' is a number"),
            (["--sort", "items.name"], "--sort:1:1: 'items.name' leads to several values"),
            (["--select", "id, itmes.name"], "--select:1:5: 'Note' has no attribute"),
            (["--select", "id,,title"], "--select:1:4: Expected a path"), (["--sum", "id", "--sum", "id,title"], "--sum:1:4: 'title' is"),
            (["--max", "items"], "--max:1:1: 'items' leads to objects"), (["--group-by", "titel"], "--group-by:1:1: 'Note' has no"),
            (["--group-by", "title,items.name"], "--group-by:1:7: 'items.name' leads to several values"),
            (["--group-by", "title", "--sort", "title,id"], "--sort:1:7: 'id' is neither a key"),
            (["--group-by", "id", "--sort", "id[c]"], "--sort:1:1: 'id' is a number"),
        ]
        for (options, message) in mistakes {
            let refused = try place.run(executable: Workplace.binary, ["find", "notes", "Note"] + options)
            #expect(refused.code == 65)
            #expect(refused.errors.hasPrefix("cambium: \(message)"), "\(refused.errors)")
        }
    }

    @Test func `options that exclude each other are refused`() throws {
        let place = try workplace()
        #expect(try place.run("find", "notes", "Note", "--count", "--select", "title").code == 64)
        #expect(try place.run("find", "notes", "Note", "--distinct").code == 64)
        #expect(try place.run("find", "notes", "Note", "--having", "count > 1").code == 64)
    }
}
