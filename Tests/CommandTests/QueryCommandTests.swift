import CambiumTesting
import Foundation
import Testing

@testable import CambiumCommand

@Suite struct QueryCommandTests {
    private let place: Workplace

    init() throws {
        place = try Workplace.copy {
            let place = try Workplace.withStore()
            let rows = #"""
                {"id":1,"title":"a","items":[{"name":"x"},{"name":"y"}]}
                {"id":2,"title":"b","items":[{"name":"\u001b[31m"}]}
                {"id":30,"title":"b"}
                """#
            #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
            return place
        }
    }

    /// Returns the output without durations.
    private func run(_ lines: String..., code: Int32 = 0) throws -> String {
        let outcome = try place.run("query", "notes", input: lines.joined(separator: "\n"))
        #expect(outcome.code == code, "\(outcome.errors)")
        return outcome.output.replacing(/, [0-9.,]+ (µs|ms|s)\n/, with: "\n")
    }

    @Test func `objects are printed as a table`() throws {
        #expect(
            try run("Note where id < 10 sort -id") == """
                _id     id  title  when
                Note/2   2  b
                Note/1   1  a
                2 rows

                """)
        #expect(
            try run("Item where note.title == \"a\" limit 1 offset 1") == """
                _id     name  note.id
                Item/2  y           1
                1 row

                """)
    }

    @Test func `an empty text in a table differs from null`() throws {
        #expect(try place.run("insert", "notes", "Item", "name=").code == 0)
        #expect(try place.run("insert", "notes", "Item", "name:=null").code == 0)
        #expect(
            try run("Item where name == \"\" or name == null group by name count sort name") == """
                name  count
                          1
                ""        1
                2 rows

                """)
    }

    @Test func `selected values, counts and groups are printed as tables`() throws {
        #expect(
            try run("Note sort -items.@count limit 1 select title, items.name, items.@count") == """
                _id     title  items.name  items.@count
                Note/1  a      x, y                   2
                1 row

                """)
        #expect(try run("Note select title distinct sort title") == "title\na\nb\n2 rows\n")
        #expect(try run("Note where title == \"b\" count") == "count\n    2\n1 row\n")
        #expect(
            try run("Note group by title count sum id sort -count") == """
                title  count  sum.id
                b          2      32
                a          1       1
                2 rows

                """)
        let groups = try run("Note group by title sort title")
        #expect(try run("Note group-by title sort title") == groups)
    }

    @Test func `a mistake in a long line is shown with the text around it`() throws {
        let outcome = try place.run("query", "notes", input: "Note where " + String(repeating: "id == 1 and ", count: 9_000) + "?\n")
        #expect(outcome.code == 65 && outcome.errors.utf8.count < 1_000, "\(outcome.errors.utf8.count)")
        #expect(outcome.errors.contains("and id == 1 and ?\n") && outcome.errors.contains("^\n"))
    }

    @Test func `control characters of data are escaped`() throws {
        let output = try run("Item where note.id == 2 select name")
        #expect(output.contains("\\u{1B}[31m") && !output.contains("\u{1B}"))
    }

    @Test func `parameters, moments, objects and schemas have their lines`() throws {
        #expect(try place.run("set", "notes", "Note/1", "title=new").code == 0)
        #expect(
            try run("set t=new", "Note where title == $t count", "at 2", "Note where title == $t count", "at now", "set").contains(
                "count\n    1\n1 row\nThe next lines read transaction 2. 'at now' returns to the newest one.\ncount\n    0\n1 row\n"))
        let shown = try run("show Note/1")
        #expect(shown.contains("title  new"))
        #expect(try run("show Note 1") == shown)
        #expect(try run("show Note/1 include items").contains("    name  x"))
        #expect(try run("schema Item").hasPrefix("Item\n") && !run("schema Item").contains("Memo\n"))
        #expect(try run("explain Note where id == 2").hasPrefix("identity  1 object, 1 expected, 1 read\n"))
        #expect(try run("help", "quit", "Nothing").contains("show Note/1"))
    }

    @Test func `the help lists all words of the prompt`() throws {
        let help = try run("help")
        let words = Set(help.split { !$0.isLetter && $0 != "-" }.map(String.init))
        let others = ["include", "order", "by", "exit"]
        #expect(words.isSuperset(of: PromptParser.commands + PromptWord.allCases.map(\.rawValue) + others), "\(help)")
        #expect(help.contains("?") && help.contains("#"), "\(help)")
    }

    @Test func `the value of a parameter may begin with a mark`() throws {
        #expect(try place.run("set", "notes", "Note/1", "title=\u{301}").code == 0)
        for assignment in ["set t=\u{301}", "set t=\"\u{301}\"", "set t:=\"\u{301}\""] {
            #expect(try run(assignment, "Note where title == $t count") == "count\n    1\n1 row\n", "\(assignment)")
        }
    }

    @Test(arguments: [("{}", "a JSON object"), ("[[1]]", "a list within a list"), ("[1", "not JSON")])
    func `a value that no parameter can have is refused by its name`(json: String, mistake: String) throws {
        for outcome in [
            try place.run("query", "notes", input: "set t:=\(json)"),
            try place.run("find", "notes", "Note", "--where", "id == $t", "--set", "t:=\(json)"),
        ] {
            #expect(outcome.code == 65 && outcome.errors.contains("The value of $t "), "\(outcome.errors)")
            #expect(outcome.errors.contains(mistake) && !outcome.errors.contains("--set"), "\(outcome.errors)")
        }
    }

    @Test func `a mistake is shown with a caret, later lines are run, and the first failure is the exit code`() throws {
        let outcome = try place.run("query", "notes", input: "Note where nmae == 1\nnote\nNote count\n")
        #expect(outcome.code == 65 && outcome.output.hasPrefix("count\n    3\n"))
        #expect(outcome.errors.hasPrefix("cambium: standard input:1: 'Note' has no attribute or relationship 'nmae'."))
        #expect(outcome.errors.contains("\n  Note where nmae == 1\n             ^\n"))
        #expect(outcome.errors.contains("standard input:2: 'note' is neither an entity nor a command. Write 'Note'.\n  note\n  ^\n"))
        #expect(try place.run("query", "notes", input: "note").code == 64)
        #expect(try place.run("query", "notes", input: "show Note/99").code == 66)
        #expect(try place.run("query", "nowhere", input: "").code == 66)
    }

    @Test func `a command that the prompt lacks is not mistaken for an entity`() throws {
        for line in ["walk Note/1 items", "find walk Note/1", "walk", "walk limit"] {
            let outcome = try place.run("query", "notes", input: line)
            #expect(outcome.code == 64 && outcome.errors.contains("'walk' is neither an entity nor a command."), "\(outcome.errors)")
        }
        for line in ["Note foo", "count Note", "find", "show"] {
            #expect(try place.run("query", "notes", input: line).code == 65, "\(line)")
        }
    }

    @Test func `a line with too many values for an identity reports their numbers`() throws {
        let note = try place.run("query", "notes", input: "show Note 1 2")
        #expect(note.errors.contains("The identity of 'Note' has 1 value, but the line has 2."), "\(note.errors)")
        let item = try place.run("query", "notes", input: "show Item x")
        #expect(item.errors.contains("'Item' has no identity, so no value names its objects. Write an id"), "\(item.errors)")
    }

    @Test func `a line that is not UTF-8 is reported with its number, and later lines are run`() throws {
        let script = #"printf 'note\n\377\nNote count\n' | "$0" query notes"#
        let outcome = try place.run(executable: URL(filePath: "/bin/sh"), ["-c", script, Workplace.binary.path])
        #expect(outcome.code == 64 && outcome.output.hasPrefix("count\n    3\n"))
        #expect(outcome.errors.contains("cambium: standard input:2: The line is not UTF-8."))
    }

    @Test func `a byte order mark before the first line is ignored`() throws {
        #expect(try run("\u{FEFF}Note count", "Note count") == "count\n    3\n1 row\ncount\n    3\n1 row\n")
        #expect(try run("Note count", "\u{FEFF}Note count", code: 64) == "count\n    3\n1 row\n")
        #expect(try run("\u{FEFF}").isEmpty)
    }

    @Test func `distinct after select, as in SQL, is an error that shows the right order`() throws {
        #expect(try run("Note distinct select title sort title") == "title\na\nb\n2 rows\n")
        for line in ["Note select distinct title", "Note select DISTINCT title, id"] {
            let outcome = try place.run("query", "notes", input: line)
            #expect(outcome.code == 65 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("Write 'distinct' before 'select', such as 'distinct select name'."), "\(outcome.errors)")
        }
        let outcome = try place.run("find", "notes", "Note", "--select", "distinct title")
        #expect(outcome.code == 65 && outcome.errors == "cambium: --select: 'distinct' is not a part of a path. Use --distinct.\n")
    }

    /// A line, and the number of characters before its mistake.
    private static let mistakes: [(String, Int)] = [
        ("Note select title, nmae", 19), ("Note select distinct title", 12), ("Note sort title desc", 10), ("Note limit x", 11),
        ("Note where id == \"x\"", 17),
        ("Note group by nmae", 14), ("Note group by title, items.name", 21), ("Note sum title", 9), ("Note max id, items", 13),
        ("Note group by title sort nmae", 25), ("Note count sort nmae", 16),
        ("Note distinct", 5), ("Note having count > 3", 12), ("Note count select id", 18), ("show Note", 5),
        ("Note group by title having coun > 1", 27), ("Note count sum id having count > \"x\"", 33),
        ("show Note x", 10), ("show Nope 1", 5), ("show Note/1 2", 12), ("show Note 1 2", 12), ("show Item x", 10),
        ("at nowhere", 3), ("schema nothing", 7), ("set x", 4), ("set n = 2", 4), ("set $n=2", 4), ("Note where id == $n", 17),
    ]

    @Test(arguments: LongTests.some(of: mistakes))
    func `the caret is at the mistake`(line: String, offset: Int) throws {
        let outcome = try place.run("query", "notes", input: line)
        #expect(outcome.code != 0 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("\n  \(line)\n  " + String(repeating: " ", count: offset) + "^\n"), "\(outcome.errors)")
    }

    @Test(arguments: [
        ("~/my\\ store", "/home/ana/my store"), ("~", "/home/ana"), ("'~/a'", "~/a"), ("\"a\\\"b\\n\"", "a\"b\\n"), ("a'\\'b", "a\\b"),
        ("'a", "a"), ("a\\", "a"), ("~ana/x", "~ana/x"), ("", ""),
    ])
    func `a word of the shell is read without its quotes`(word: String, text: String) {
        #expect(ShellWord.text(of: word, home: "/home/ana") == text)
    }

    @Test func `the shell completes entities and paths of a store`() throws {
        func complete(_ argument: String, _ words: String...) throws -> [String] {
            let all = ["cambium", "find"] + words
            let arguments = ["---completion", "find", "--", argument, "\(all.count - 1)", "\(words.last?.count ?? 0)"] + all
            let outcome = try place.run(executable: Workplace.binary, arguments)
            #expect(outcome.code == 0, "\(outcome.errors)")
            return outcome.output.split(separator: "\n").map(String.init)
        }
        #expect(try complete("positional@1", "notes", "") == ["Note", "Item", "Memo"])
        #expect(try complete("positional@1", "notes", "N") == ["Note"])
        #expect(try complete("positional@1", "nowhere", "N").isEmpty)
        for quoted in ["'notes'", "\"notes\"", "note\\s", "./no'te's"] { #expect(try complete("positional@1", quoted, "N") == ["Note"]) }
        #expect(try complete("positional@1", "--json", "--limit", "3", "--sort", "title", "notes", "N") == ["Note"])
        #expect(try complete("--select", "--limit", "3", "notes", "Note", "--select", "ti") == ["title"])
        #expect(try complete("--select", "notes", "Note", "--select", "title,items.na") == ["title,items.name"])
        #expect(try complete("--sort", "notes", "Note", "--sort", "-ti") == ["-title"])
    }
}
