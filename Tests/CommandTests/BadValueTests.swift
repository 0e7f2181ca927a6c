import CambiumTesting
import Foundation
import Testing

@testable import CambiumCommand

/// An error about a bad value names the property or option, the value, and the values that are accepted.
@Suite struct BadValueTests {
    private static let long = String(repeating: "x", count: 100)
    private static let cut = String(repeating: "x", count: 60) + "..."

    private func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
            return place
        }
    }

    /// Arguments, the exit code, and a part of the message.
    private static let badArguments: [([String], Int32, String)] = [
        (["insert", "notes", "Note", "id=abc"], 65, #"'id': expected a whole number of 64 bits, but found "abc""#),
        (["insert", "notes", "Note", "id:=\"7\""], 65, #"'id': expected a whole number of 64 bits, but found the string "7""#),
        (["set", "notes", "Note/1", "when=\(long)"], 65, #"'when': expected a date such as "2026-01-31T12:00:00Z", but found "\#(cut)""#),
        (["set", "notes", "Note/1", "when:=[1,{\"a\":2}]"], 65, #"but found the array [1,{"a":2}]"#),
        (["set", "notes", "Note/1", "title:=Rome"], 65, #"'title': "Rome" is not JSON: expected a value, at column 1"#),
        (["set", "notes", "Note/1", #"title:="\ud800""#], 65, "is not JSON: a string has a lone surrogate"),
        (["set", "notes", "Note/1", "when=1\n2"], 65, #"but found "1\n2""#),
        (["find", "notes", "Note", "--identity", "x"], 65, #"'id': expected a whole number of 64 bits, but found "x""#),
        (["show", "notes", long], 66, "'\(cut)' is not an id. An id has the form 'Note/42'"),
        (["show", "notes", "/1"], 66, "'/1' is not an id. An id has the form 'Note/42'"),
        (["show", "notes", "Note/-1"], 66, "'Note/-1' is not an id. An id has the form 'Note/42'"),
        (["show", "notes", "git"], 66, "'Note:7'. Find the id with: cambium find STORE ENTITY --identity git"),
        (["delete", "notes", "Note/a b"], 66, "'Note:7'. Find the id with: cambium find STORE Note --identity 'a b'"),
        (["show", "notes", "Note/\(long)"], 66, "'Note:7'. Find the id with: cambium find STORE Note --identity VALUE"),
        (["link", "notes", "Note/1", "items", "Item/x"], 66, "'Note:7'. Find the id with: cambium find STORE Item"),
        (["show", "notes", "Note/274877906944"], 66, "There is no object Note/274877906944."),
        (["delete", "notes", "Note/18446744073709551616"], 66, "There is no object Note/18446744073709551616."),
        (["find", "notes", "Note", "--after", "Note/0"], 66, "There is no object Note/0."),
        (["find", "notes", "Note", "--after", "016d39cd"], 66, "'016d39cd' is neither a cursor nor an id. Pass a cursor that --cursor"),
        (["show", "notes", "Note/1", "--at", "+1"], 64, "The value '+1' is invalid for '--at <moment>'"),
        (["log", "notes", "--from", "4", "--to", "2"], 64, "The range is empty, because --from is later than --to. Exchange the moments."),
        (["log", "notes", "--from", "2", "--at", "1"], 64, "The range is empty, because --from is later than --at."),
        (["log", "notes", "--from", "2026-11-22", "--to", "2026-11-21", "--follow"], 64, "The range is empty"),
        (["insert", "notes", "Note", "id=2", "id=3"], 64, "'id' is given twice"),
        (["set", "notes", "Note/1", "title=a", "title:=\"b\""], 64, "'title' is given twice"),
        (["clone", "notes", "Note/1", "--set", "id=2", "--set", "id=3"], 64, "'id' is given twice"),
        (["find", "notes", "Note", "--where", "id == $x", "--set", "x=1", "--set", "x=2"], 64, "'x' is given twice"),
        (["diff", "notes", "1", "--where", "id == $x", "--set", "x=1", "--set", "x=2"], 64, "'x' is given twice"),
        (
            ["find", "notes", "Note", "--where", "id == 1", "--where=id == 2"], 64,
            "--where is given twice. Join the conditions with 'and'."
        ),
        (["import", "notes", "Note", "-", "--scope", "id == 1", "--scope", "id == 2"], 64, "--scope is given twice"),
        (["insert", "notes", "Note", "id=2", "--request", ""], 65, "The request id is empty"),
        (["clone", "notes", "Note/1", "--set", "id=2", "--map", ""], 73, "--map has an empty file name"),
        (["find", "notes", "Note", "--limit=-1"], 64, "--limit is -1, but must be at least 0"),
        (["find", "notes", "Note", "--limit", "-1"], 64, "--limit is -1, but must be at least 0"),
        (["find", "notes", "Note", "--offset=-2"], 64, "--offset is -2, but must be at least 0"),
        (["walk", "notes", "Note/1", "items", "--depth", "-1"], 64, "--depth is -1, but must be at least 0"),
        (["show", "notes", "Note/1", "--depth", "-1"], 64, "--depth is -1, but must be between 0 and "),
        (["checkpoint", "notes", "--keep", "-3"], 64, "--keep is -3, but must be at least 1"),
        (["show", "notes", "Note/1", "--depth", "1000"], 64, "--depth is 1000, but must be between 0 and "),
        (["clone", "notes", "Note/1", "--depth=-1"], 64, "--depth is -1, but must be at least 0"),
        (["clone", "notes", "Note/1", "--max-objects", "0"], 64, "--max-objects is 0, but must be at least 1"),
        (["clone", "notes", "Note/1", "--key", "exclude=a", "--key", "exclude=b"], 64, "--key exclude is given twice"),
        (["clone", "notes", "Note/1", "--key", "other=x"], 64, "'other=x' is invalid for '--key <key=name>'"),
        (["checkpoint", "notes", "--keep", "0"], 64, "--keep is 0, but must be at least 1"),
        (["checkpoint", "notes", "--history-percent=-1"], 64, "--history-percent is -1, but must be at least 0"),
        (["import", "notes", "Note", "-", "--batch", "0"], 64, "--batch is 0, but must be at least 1"),
        (["verify", "notes", "--against", "12"], 66, "--against is '12', but must be a root, which has 64 hexadecimal digits"),
        (["verify", "notes", "--against", long], 66, "--against is '\(cut)', but must be a root"),
        (["show", "notes", "Note/1", "--at", long], 64, "The value '\(cut)' is invalid for '--at <moment>'"),
        (["show", "notes", "Note/1", "--at=\(long)"], 64, "The value '\(cut)' is invalid for '--at <moment>'"),
        (["show", "notes", "\(long)/1"], 64, "The schema has no entity '\(cut)'."),
        (["set", "notes", "Note/1", "items=Item/1"], 64, "'items' is a relationship. Use 'cambium link'."),
        (["link", "notes", "Note/1", "title", "Item/1"], 64, "'title' is an attribute. Use 'cambium set'."),
        (["unlink", "notes", "Note/1", "title", "Item/1"], 64, "'title' is an attribute. Use 'cambium set'."),
        (["set", "notes", "Note/1", "\(long)=1"], 64, "'Note' has no attribute '\(cut)'."),
        (["show", "notes", "Note/1", "--include", long], 64, "'Note' has no relationship '\(cut)'."),
        (["show", "notes", "Note/1", "--at", "label:\(long)"], 66, "The store has no label '\(cut)'."),
        (["walk", "notes", "Note/1", long], 64, "No entity has a relationship '\(cut)'."),
        (["find", "notes", "Note", "--query", long], 64, "'Note' has no query '\(cut)'."),
        (["find", "notes", "Note", "--where", "\(long) == 1"], 65, "'Note' has no attribute or relationship '\(cut)'."),
        (["find", "notes", "Note", "--where", "title == Anna"], 65, "If 'Anna' is a text, write it in quotation marks."),
        (["find", "notes", "Note", "--where", "id.\(long) == 1"], 65, "End the path before '\(cut)'."),
        (["find", "notes", "Note", "--where", "_entity == '\(long)'"], 65, "The schema has no entity '\(cut)'."),
        (["find", "notes", "Note", "--where", "items.@min._entity == 'Nope'"], 65, "The schema has no entity 'Nope'."),
        (["find", "notes", "Note", "--where", "items.@max._entity in {'Item', 'Nope'}"], 65, "The schema has no entity 'Nope'."),
        (["find", "notes", "Note", "--group-by", "_entity", "--having", "_entity == 'Nope'"], 65, "The schema has no entity 'Nope'."),
        (
            ["find", "notes", "Item", "--group-by", "name", "--min", "note._entity", "--having", "min.note._entity in {'Note', 'Nope'}"],
            65, "The schema has no entity 'Nope'."
        ),
        (["find", "notes", "Item", "--where", "note == 65536/1"], 65, "Begin with the name of an entity, or with its number from 1 to"),
        (["find", "notes", "Item", "--where", "note == 1/274877906944"], 65, "a serial of at most 274877906943"),
        (["find", "notes", "Note", "--where", "id == $\(long)"], 65, "The parameter $\(cut) has no value."),
        (["find", "notes", "Note", "--where", "id == 1", "--set", "\(long)=1"], 65, "Remove the value, or use $\(cut) in a condition."),
        (["find", "notes", "Note", "--group-by", "id", "--having", "\(long) == 1"], 65, "'\(cut)' is neither a key of the groups"),
        (["clone", "notes", "Note/1", "--exclude", "\(long).a"], 64, "the schema has no entity '\(cut)'."),
        (["clone", "notes", "Note/1", "--exclude", "Note.\(long)"], 64, "'Note' has no relationship '\(cut)'."),
        (["clone", "notes", "Note/1", "--exclude-at-root", long], 64, "'\(cut)'"),
        (["clone", "notes", "Note/1", "--copy", "a,\(long)", "--share", long], 64, "'\(cut)' has more than one rule."),
        (["help", "nope"], 64, "There is no command 'nope'. 'cambium help' lists the commands."),
        (["help", long], 64, "There is no command '\(cut)'."),
        (["improt", "notes", "Note", "-"], 64, "There is no command 'improt'. 'cambium help' lists the commands."),
        (["", "notes"], 64, "There is no command ''."), ([long], 64, "There is no command '\(cut)'."),
        (["compact", "notes", "--retain", "since:x"], 64, "The value 'since:x' is invalid for '--retain <retention>'"),
    ]

    @Test(arguments: LongTests.some(of: badArguments))
    func `a bad argument is refused with its value`(arguments: [String], code: Int32, message: String) throws {
        let outcome = try place().run(executable: Workplace.binary, arguments)
        #expect(outcome.code == code && outcome.errors.contains(message), "\(outcome.errors)")
        #expect(!outcome.errors.contains(String(repeating: "x", count: 61)), "\(outcome.errors)")
    }

    @Test func `the error for a deleted object names the command that shows its history`() throws {
        let place = try place()
        func errors(_ id: String, _ options: String...) throws -> String {
            try place.run(executable: Workplace.binary, ["show", "notes", id] + options).errors
        }
        #expect(try place.run("delete", "notes", "Note/1").code == 0)
        #expect(try errors("Note/1").contains("It may have been deleted: 'cambium history STORE Note/1' shows its changes."))
        #expect(try place.run("log", "notes", "--object", "Note/1", "--json").json.count == 2)
        for id in ["Note/0", "Note/2", "Item/1"] { #expect(try !errors(id).contains("deleted") && !errors(id).isEmpty, "\(id)") }
        #expect(try !errors("Note/1", "--at", "1").contains("deleted"))
    }

    @Test func `a to-one relationship is not linked to several objects`() throws {
        let place = try place()
        #expect(try place.run("insert", "notes", "Item", "name=x").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        let outcome = try place.run("link", "notes", "Item/1", "note", "Note/1", "Note/2")
        #expect(outcome.code == 64 && outcome.errors.contains("'note' leads to one object, but 2 are given"), "\(outcome.errors)")
        #expect(try place.run("show", "notes", "Item/1", "--json").output.contains(#""note":null"#))
    }

    @Test func `a value with a line end does not forge a line of an error`() throws {
        let outcome = try place().run("show", "notes", "Note/1", "--at", "a\ncambium: forged\u{1B}[2J")
        #expect(outcome.code == 64 && outcome.errors.contains(#"'a\ncambium: forged\u{1B}[2J' is invalid"#))
        #expect(!outcome.errors.split(separator: "\n").contains { $0.hasPrefix("cambium: forged") })
        #expect(outcome.errors.contains("\nUsage: cambium show "))
    }

    /// A row, the options of the import, and a part of the message.
    private static let badRows: [(String, [String], String)] = [
        (#"{"id":"x"}"#, [], #"'id': expected a whole number of 64 bits, but found the string "x""#),
        (#"{"id":"x"}"#, [], #"found the string "x". Nothing"#),
        (#"{"id":"1.5"}"#, [], #"found the string "1.5". Nothing"#),
        (#"{"id":"1e3"}"#, [], #"found the string "1e3". Nothing"#),
        (#"{"id":"+7"}"#, [], #"found the string "+7". A mapping such as {"attributes":{"id":{"numbers":{}}}}"#),
        (
            #"{"id":"07"}"#, [],
            #"found the string "07". A mapping such as {"attributes":{"id":{"numbers":{}}}} reads numbers in texts. Nothing"#
        ),
        (#"{"id":1,"title":[1]}"#, [], "'title': expected a string, but found the array [1]"),
        (#"{"id":1,"title":null}"#, [], "'title' is null, but must have a value"),
        (#"{"id":1,"title":7}"#, ["--mismatch", "null"], "'title' must have a value: expected a string, but found the number 7"),
        (
            #"{"id":1,"when":"2026-01-31"}"#, [],
            #"found "2026-01-31". A mapping such as {"attributes":{"when":{"dates":["iso8601"]}}} reads other forms. Nothing"#
        ),
        (#"{"id":1,"when":"1900-02-29"}"#, [], #"found "1900-02-29". Nothing"#),
        (#"{"id":1,"when":"2026-04-31T12:00:00Z"}"#, [], #"found "2026-04-31T12:00:00Z". Nothing"#),
        (#"{"id":1,"when":"2026-01-01T25:00:00Z"}"#, [], #"found "2026-01-01T25:00:00Z". Nothing"#),
        (#"{"id":1,"when":"2026-31-01 10:60"}"#, [], #"found "2026-31-01 10:60". Nothing"#),
        (#"{"id":1,"when":"2026-01-01 10:30"}"#, [], #"{"dates":["yyyy-MM-dd HH:mm"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":"1.2.26"}"#, [], #"{"dates":["d.M.yy"]}}} reads other forms. Nothing"#),
        (
            #"{"id":1,"when":"1/2/2020"}"#, [],
            #"{"dates":["M/d/yyyy"]}}} reads other forms, and "d/M/yyyy" those with the day and the month exchanged. Nothing"#
        ),
        (#"{"id":1,"when":"13/2/2020"}"#, [], #"{"dates":["d/M/yyyy"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":7}"#, [], #"{"dates":["secondsSince1970"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":1700000000000}"#, [], #"{"dates":["millisecondsSince1970"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":"20260131"}"#, [], #"{"when":{"dates":["yyyyMMdd"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":20260131}"#, [], #"{"when":{"join":["when"],"dates":["yyyyMMdd"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":"2026"}"#, [], #"{"when":{"dates":["yyyy"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":20269999}"#, [], #"{"when":{"dates":["secondsSince1970"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":1712011200000}"#, [], #"{"when":{"dates":["millisecondsSince1970"]}}} reads other forms. Nothing"#),
        (#"{"id":1,"when":""}"#, [], #"found "". Nothing"#),
        (#"{"id":1,"when":1e300}"#, [], "1e300. Nothing"),
        (#"{"id":1,"when":true}"#, [], "but found true. Nothing"),
        (#"{"id":1,"when":"2026-31-01"}"#, [], #"found "2026-31-01". A mapping such as {"attributes":{"when":{"dates":["yyyy-dd-MM"]}}}"#),
        (#"{"id":1,"when":null}"#, ["--null", "error"], "'when' is null, and the options of the import refuse null"),
        (#"{"id":1,"items":null}"#, ["--null", "error"], "'items' is null, and the options of the import refuse null"),
        (#"{"id":1,"title":"0123456789"}"#, [], #"'title' is "0123456789", which has a length of 10, but the maximum length is 9"#),
        (#"{"id":1,"title":"\#(long)"}"#, [], #"'title' is "\#(cut)", which has a length of 100"#),
        (#"{"id":1,"items":[3]}"#, [], "'Item' has no identity, so a reference to it must be an object, and not the number 3"),
        (#"{"id":1,"items":[[3]]}"#, [], "'items': expected an object or an identity of 'Item', but found the array [3]"),
        ("[5]", [], "the row is the number 5, but must be an object"),
    ]

    @Test(arguments: LongTests.some(of: badRows))
    func `a bad row is refused with its value`(row: String, options: [String], message: String) throws {
        let place = try place()
        try place.write(row, to: "rows.json")
        let outcome = try place.run(executable: Workplace.binary, ["import", "notes", "Note", "rows.json"] + options)
        #expect(outcome.code != 0 && outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func `the mapping for a date in a nested object names its entity`() throws {
        let place = try place()
        let row = #"{"note":{"id":2,"when":"2026-01-31"}}"#
        let outcome = try place.run("import", "notes", "Item", "-", input: row)
        let mapping = #"{"nested":{"Note":{"attributes":{"when":{"dates":["iso8601"]}}}}}"#
        #expect(outcome.code != 0 && outcome.errors.contains("A mapping such as \(mapping) reads other forms."), "\(outcome.errors)")
        try place.write(mapping, to: "mapping.json")
        #expect(try place.run("import", "notes", "Item", "-", "--mapping", "mapping.json", input: row).code == 0)
    }

    @Test func `the error for an empty field names the option that gives new objects the default`() throws {
        let place = try place()
        try place.write("id,title\n2,\n", to: "rows.csv")
        let refused = try place.run("import", "notes", "Note", "rows.csv")
        #expect(refused.code != 0 && refused.errors.contains("'title' is null, but must have a value. To give new objects the default"))
        #expect(refused.errors.contains("'--null keep' on the command line). Nothing was imported."), "\(refused.errors)")
        #expect(try place.run("import", "notes", "Note", "rows.csv", "--null", "keep").code == 0)
        let rows = try place.run("find", "notes", "Note", "--identity", "2", "--json").json
        #expect(rows.first?["title"] as? String == "")
        let identity = try place.run("import", "notes", "Note", "-", input: #"{"id":null}"#)
        #expect(identity.errors.contains("'id' is null, but must have a value. Nothing"), "\(identity.errors)")
    }

    /// Texts, and the marks in the mapping that the error advises; `nil` if no mapping reads the text, or if two read different numbers.
    private static let markedNumbers: [(String, String?)] = [
        ("12,50", #""decimal":",""#), ("1,234.50", #""grouping":",""#), ("1.234,50", #""decimal":",","grouping":".""#), ("+7", ""),
        ("1,234,567", #""grouping":",""#), ("1,234", nil), ("12.", nil), ("1e3,5", nil),
    ]

    @Test(arguments: markedNumbers)
    func `the mapping for a number with other marks reads the number`(text: String, marks: String?) throws {
        let place = try Workplace()
        let attributes = #"{"id": {"type": "string"}, "price": {"type": "decimal"}}"#
        try place.write(#"{"entities": {"Sale": {"identity": ["id"], "attributes": \#(attributes)}}}"#, to: "prices.json")
        #expect(try place.run("init", "sales", "--schema", "prices.json").code == 0)
        try place.write("id,price\nA,\"\(text)\"\n", to: "sales.csv")
        let outcome = try place.run("import", "sales", "Sale", "sales.csv")
        guard let marks else {
            #expect(outcome.code != 0 && outcome.errors.contains("found the string \"\(text)\". Nothing"), "\(outcome.errors)")
            return
        }
        let mapping = #"{"attributes":{"price":{"numbers":{\#(marks)}}}}"#
        #expect(outcome.errors.contains("A mapping such as \(mapping) reads numbers in texts. Nothing"), "\(outcome.errors)")
        try place.write(mapping, to: "mapping.json")
        #expect(try place.run("import", "sales", "Sale", "sales.csv", "--mapping", "mapping.json").code == 0)
    }

    @Test func `the error for a number with other marks than those of the mapping names these marks`() throws {
        let place = try place()
        let row = #"{"id":"1.5"}"#
        for (numbers, marks) in [(#""decimal":",""#, "decimal ','"), (#""decimal":",","grouping":".""#, "decimal ',', grouping '.'")] {
            try place.write(#"{"attributes":{"id":{"numbers":{\#(numbers)}}}}"#, to: "mapping.json")
            let outcome = try place.run("import", "notes", "Note", "-", "--mapping", "mapping.json", input: row)
            let message = #"'id': expected a whole number of 64 bits in the format of the mapping (\#(marks)), but found "1.5""#
            #expect(outcome.code != 0 && outcome.errors.contains(message), "\(outcome.errors)")
        }
    }

    @Test func `the mapping for a number in the text of a reference names the entity of the reference`() throws {
        let place = try place()
        let row = #"{"note":"7"}"#
        let outcome = try place.run("import", "notes", "Item", "-", input: row)
        let mapping = #"{"nested":{"Note":{"attributes":{"id":{"numbers":{}}}}}}"#
        #expect(outcome.code != 0 && outcome.errors.contains("A mapping such as \(mapping) reads numbers in texts."), "\(outcome.errors)")
        try place.write(mapping, to: "mapping.json")
        #expect(try place.run("import", "notes", "Item", "-", "--mapping", "mapping.json", input: row).code == 0)
    }

    @Test(arguments: [
        ("id,title\n1,a\n", true), ("\"id\",\"title\"\n1,a\n", true), ("7,8\n", true), ("[5]", false), ("{\"id\":1}\nid,title\n", false),
        ("{\"id\":x}", false), ("\n\r\n id,title\n1,a\n", true), ("\n[\n5]", false),
    ])
    func `an error about input that may be CSV states how to import CSV`(input: String, isCSV: Bool) throws {
        let outcome = try place().run("import", "notes", "Note", "-", input: input)
        #expect(outcome.code == 65 && outcome.errors.contains("To import CSV, use a file name") == isCSV, "\(outcome.errors)")
    }

    @Test func `the error for an id with the name of another entity of the hierarchy states the right id`() throws {
        let place = try Workplace()
        let schema = #"{"entities": {"Animal": {"abstract": true}, "Dog": {"parent": "Animal"}, "Cat": {"parent": "Animal"}}}"#
        try place.write(schema, to: "schema.json")
        #expect(try place.run("init", "zoo", "--schema", "schema.json").code == 0)
        #expect(try place.run("insert", "zoo", "Cat").code == 0)
        #expect(try place.run("show", "zoo", "Animal/1").code == 0)
        let outcome = try place.run("show", "zoo", "Dog/1")
        #expect(outcome.code == 66 && outcome.output.isEmpty)
        #expect(outcome.errors == "cambium: There is no object Dog/1. Write Cat/1 for the object of this number.\n", "\(outcome.errors)")
    }

    @Test func `a bad field of CSV is refused with its value`() throws {
        let place = try place()
        try place.write("id,when\n2,soon\n", to: "rows.csv")
        let outcome = try place.run("import", "notes", "Note", "rows.csv")
        #expect(outcome.code != 0 && outcome.errors.contains(#"'when': expected a date such as "2026-01-31T12:00:00Z", but found "soon""#))
    }
}
