import Foundation
import Testing

@Suite struct DiffCommandTests {
    /// Returns a store in which transaction 2 inserted two notes, one of them with an item and memos.
    private func workplace() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            let rows = #"{"id":1,"title":"a","items":[{"name":"x"}],"memos":[{"text":"m"},{"text":"n"}]}"# + "\n" + #"{"id":2}"#
            #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
            return place
        }
    }

    private func rows(_ place: Workplace, _ arguments: String...) throws -> [[String: Any]] {
        try place.run(executable: Workplace.binary, ["diff", "notes"] + arguments + ["--json"]).json
    }

    @Test func `the rows of changed attributes and members have both sides`() throws {
        let place = try workplace()
        #expect(try place.run("set", "notes", "Note/1", "title=b").code == 0)
        #expect(try place.run("link", "notes", "Note/2", "items", "Item/1").code == 0)
        #expect(
            try place.run("diff", "notes", "2", "4", "--json").output == """
                {"_id":"Note/1","change":"changed","attributes":{"title":{"before":"a","after":"b"}},\
                "relationships":{"items":{"added":[],"removed":["Item/1"]}}}
                {"_id":"Note/2","change":"changed","attributes":{},"relationships":{"items":{"added":["Item/1"],"removed":[]}}}
                {"_id":"Item/1","change":"changed","attributes":{},"relationships":{"note":{"added":["Note/2"],"removed":["Note/1"]}}}

                """)
        #expect(try rows(place, "2", "3").count == 1 && rows(place, "4", "4").isEmpty)
        #expect(try rows(place, "2", "4", "--entity", "Item").compactMap { $0["_id"] as? String } == ["Item/1"])
    }

    @Test func `inserted and deleted objects have their values, and moved members both orders`() throws {
        let place = try workplace()
        #expect(try place.run("move", "notes", "Note/1", "memos", "Memo/2", "--to", "0").code == 0)
        #expect(try place.run("delete", "notes", "Note/2").code == 0)
        let output = try place.run("diff", "notes", "2", "4", "--json").output
        #expect(output.contains(#""memos":{"moved":true,"before":["Memo/1","Memo/2"],"after":["Memo/2","Memo/1"]}"#))
        #expect(output.contains(#"{"_id":"Note/2","change":"deleted","attributes":{"id":{"before":2,"after":null}"#))
        let inserted = try rows(place, "1", "2")
        #expect(inserted.count == 5 && inserted.allSatisfy { $0["change"] as? String == "inserted" })
        #expect(try place.run("diff", "notes", "4", "2", "--json").output.contains(#""_id":"Note/2","change":"inserted""#))
    }

    @Test func `ordered members of inserted and deleted objects are in order`() throws {
        let place = try workplace()
        #expect(try place.run("move", "notes", "Note/1", "memos", "Memo/2", "--to", "0").code == 0)
        let inserted = try place.run("diff", "notes", "1", "3", "--json").output
        #expect(inserted.contains(#""memos":{"added":["Memo/2","Memo/1"],"removed":[]}"#), "\(inserted)")
        let deleted = try place.run("diff", "notes", "3", "1", "--json").output
        #expect(deleted.contains(#""memos":{"added":[],"removed":["Memo/2","Memo/1"]}"#), "\(deleted)")
        #expect(try place.run("diff", "notes", "1", "3").output.contains("    memos: +Memo/2 +Memo/1\n"))
    }

    @Test func `a relationship that a migration made unordered has no other order`() throws {
        let place = try workplace()
        #expect(try place.run("move", "notes", "Note/1", "memos", "Memo/2", "--to", "0").code == 0)
        try place.write(Workplace.notes.replacing(#""many": true, "ordered": true"#, with: #""many": true"#), to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        #expect(try place.run("diff", "notes", "3").output == "The schema differs.\n0 inserted, 0 deleted, 0 changed\n")
        #expect(try rows(place, "3", "4").isEmpty && rows(place, "2", "4").isEmpty)
    }

    @Test func `the output for people has a line for each object and property, and the counts`() throws {
        let place = try workplace()
        #expect(try place.run("set", "notes", "Note/1", "title=b").code == 0)
        #expect(try place.run("insert", "notes", "Item", "name=y").code == 0)
        #expect(try place.run("move", "notes", "Note/1", "memos", "Memo/2", "--to", "0").code == 0)
        #expect(
            try place.run("diff", "notes", "2").output == """
                ~ Note/1 (1)
                    title: a -> b
                    memos: now in the order Memo/2 Memo/1
                + Item/2
                    name: y
                1 inserted, 0 deleted, 1 changed

                """)
        #expect(try place.run("diff", "notes", "5", "5").output == "0 inserted, 0 deleted, 0 changed\n")
    }

    @Test func `an empty text and the text null differ from a missing value`() throws {
        let place = try Workplace()
        let attributes = #"{"a": {"type": "string", "optional": true}, "b": {"type": "string", "optional": true}}"#
        try place.write(#"{"entities": {"Box": {"attributes": \#(attributes)}}}"#, to: "schema.json")
        #expect(try place.run("init", "notes", "--schema", "schema.json").code == 0)
        #expect(try place.run("insert", "notes", "Box", "b=null").code == 0)
        #expect(try place.run("set", "notes", "Box/1", "a=", "b:=null").code == 0)
        #expect(try place.run("diff", "notes", "2").output.hasPrefix("~ Box/1\n    a: null -> \"\"\n    b: \"null\" -> null\n"))
        #expect(try place.run("diff", "notes", "1").output.hasPrefix("+ Box/1\n    a: \"\"\n"))
        #expect(try place.run("find", "notes", "Box").output == "Box/1  a: \"\"\n")
    }

    @Test func `moments are named as in other commands, and missing moments are refused`() throws {
        let place = try workplace()
        #expect(try place.run("label", "notes", "start", "1").code == 0)
        let after = try place.run("diff", "notes", "label:start", "2999-01-01T00:00:00Z").output
        #expect(after.hasSuffix("The label start is new, and names transaction 1.\n5 inserted, 0 deleted, 0 changed\n"))
        let before = try place.run("diff", "notes", "2999-01-01T00:00:00Z", "1").output
        #expect(before.contains("\nThe label start no longer exists.\n"))
        #expect(try place.run("label", "notes", "start", "2", "--move").code == 0)
        let moved = try place.run("diff", "notes", "3").output
        #expect(moved == "The label start names transaction 2, and no longer 1.\n0 inserted, 0 deleted, 0 changed\n")
        for moments in [["99", "1"], ["1", "99"], ["label:end", "1"], ["0", "1"], ["1999-01-01T00:00:00Z", "1"]] {
            #expect(try place.run(executable: Workplace.binary, ["diff", "notes"] + moments).code == 66)
        }
        #expect(try place.run("diff", "nowhere", "1", "2").code == 66)
        #expect(try place.run("diff", "notes", "1", "2", "--entity", "Nothing").code == 64)
        #expect(try place.run("diff", "notes", "tomorrow", "2").code == 64 && place.run("diff", "notes").code == 64)
    }

    @Test func `a diff spans schema changes, checkpoints and stubs`() throws {
        let place = try workplace()
        try place.write(
            Workplace.notes.replacing(#""title": {"#, with: #""extra": {"type": "int32", "default": 7}, "title": {"#), to: "next.json")
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        #expect(try place.run("checkpoint", "notes").code == 0)
        let shown = try place.run("diff", "notes", "2").output
        #expect(shown.contains("The schema differs.\n") && shown.contains("~ Note/2 (2)\n    extra: null -> 7\n"))
        #expect(try place.run("import", "notes", "Item", "-", input: #"{"name":"z","note":9}"#).code == 0)
        #expect(try place.run("import", "notes", "Note", "-", input: #"{"id":9,"extra":7,"title":""}"#).code == 0)
        let row = try #require(try rows(place, "4", "5").first)
        #expect(row["_id"] as? String == "Note/3" && row["_stub"] as? [String: Bool] == ["before": true, "after": false])
    }

    @Test func `a property that a migration replaced with an equal one does not differ`() throws {
        func schema(_ count: String) -> String {
            #"""
            {"entities": {"List": {"attributes": {"size": {"type": "\#(count)", "derived": {"count": "parts"}}},
                                   "relationships": {"parts": {"to": "List", "many": true}}}}}
            """#
        }
        let place = try Workplace()
        try place.write(schema("int64"), to: "before.json")
        try place.write(schema("int32"), to: "after.json")
        #expect(try place.run("init", "notes", "--schema", "before.json").code == 0)
        #expect(try place.run("insert", "notes", "List").code == 0)
        #expect(try place.run("insert", "notes", "List", "parts=List/1").code == 0)
        #expect(try place.run("schema", "notes", "--set", "after.json").code == 0)
        #expect(try place.run("diff", "notes", "3").output == "The schema differs.\n0 inserted, 0 deleted, 0 changed\n")
        #expect(try rows(place, "2", "4").map { $0["_id"] as? String } == ["List/2"])
    }

    @Test func `a property that a migration replaced leads from the old content to the new one`() throws {
        let place = try Workplace()
        func migrate(_ properties: String) throws {
            let content = #"{"entities": {"List": {"attributes": {"id": {"type": "int64"}}}, "Box": {\#(properties)}}}"#
            try place.write(content, to: "next.json")
            #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        }
        let text = #"{"type": "string", "optional": true"#
        let lists = #"{"to": "List", "many": true, "ordered": true"#
        try place.write(#"{"entities": {}}"#, to: "schema.json")
        #expect(try place.run("init", "notes", "--schema", "schema.json").code == 0)
        try migrate(#""attributes": {"a": \#(text)}, "b": \#(text)}}, "relationships": {"m": \#(lists)}, "n": \#(lists)}}"#)
        for id in 1...3 { #expect(try place.run("insert", "notes", "List", "id=\(id)").code == 0) }
        #expect(try place.run("insert", "notes", "Box", "a=x", "b=y", "m=List/3,List/1", "n=List/1,List/2").code == 0)
        #expect(try place.run("label", "notes", "before").code == 0)
        // The old b and m are removed, and a and n get their names.
        try migrate(#""attributes": {"b": \#(text), "renamedFrom": "a"}}, "relationships": {"m": \#(lists), "renamedFrom": "n"}}"#)
        #expect(
            try place.run("diff", "notes", "label:before").output.hasPrefix("~ Box/1\n    b: y -> x\n    m: -List/3 +List/2\nThe schema"))
        try migrate(#""attributes": {"b": \#(text)}}"#)
        try migrate(#""attributes": {"b": \#(text)}}, "relationships": {"m": \#(lists)}}"#)
        #expect(try place.run("link", "notes", "Box/1", "m", "List/1", "List/2").code == 0)
        #expect(try place.run("diff", "notes", "label:before").output.contains("    m: -List/3 +List/2\n"))
        #expect(try place.run("unlink", "notes", "Box/1", "m", "List/2").code == 0)
        #expect(try place.run("link", "notes", "Box/1", "m", "List/3").code == 0)
        #expect(
            try place.run("diff", "notes", "label:before", "--json").output.contains(
                #""m":{"moved":true,"before":["List/3","List/1"],"after":["List/1","List/3"]}"#))
    }

    @Test func `a condition selects the objects that satisfy it at one of the moments`() throws {
        let place = try workplace()
        #expect(try place.run("set", "notes", "Note/1", "title=b").code == 0)
        #expect(try place.run("set", "notes", "Note/2", "title=c").code == 0)
        func ids(_ condition: String, _ more: String...) throws -> [String] {
            let arguments = ["diff", "notes", "2", "4", "--json", "--where", condition] + more
            return try place.run(executable: Workplace.binary, arguments).json.compactMap { $0["_id"] as? String }
        }
        #expect(try ids("title == \"a\"") == ["Note/1"])
        #expect(try ids("title == $t", "--set", "t=c") == ["Note/2"])
        #expect(try ids("id > 0") == ["Note/1", "Note/2"])
        #expect(try ids("name == \"x\"").isEmpty)
        #expect(try place.run("diff", "notes", "1", "4", "--where", "text == \"m\"").output.hasSuffix("1 inserted, 0 deleted, 0 changed\n"))
        #expect(try place.run("diff", "notes", "2", "4", "--where", "nothing == 1").code == 65)
        #expect(try place.run("diff", "notes", "2", "4", "--entity", "Item", "--where", "title == \"a\"").code == 65)
    }
}
